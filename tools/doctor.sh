#!/bin/sh
# What is there, what is missing, what will be skipped. Changes nothing but build/machine-factor.
#
#   tools/doctor.sh MODEL
set -u
model=${1:-models/SmolLM2-135M-Instruct.Q4_1.gguf}
n_missing=0

line() { printf '%-18s %s\n' "$1" "$2"; }
missing() { line "$1" "MISSING: $2"; n_missing=$((n_missing + 1)); }
skipped() { line "$1" "not here: $2"; }

tool() { # name, command, what it is for ("" = needed to build)
    if command -v "$2" >/dev/null 2>&1; then
        # The line with a digit in it: some begin with their copyright.
        line "$1" "$("$2" --version 2>/dev/null | grep -m 1 '[0-9]\.[0-9]')"
    elif [ -z "$3" ]; then
        missing "$1" 'make setup installs it'
    else
        skipped "$1" "$3"
    fi
}

echo 'to build'
tool gcc gcc ''
tool make make ''
tool pkg-config pkg-config ''
tool python3 python3 ''
for lib in libcurl libevent jansson libutf8proc libxxhash libedit; do
    if version=$(pkg-config --modversion "$lib" 2>/dev/null); then line "$lib" "$version"
    else missing "$lib" 'make setup installs it'; fi
done
if [ -e /usr/include/stb/stb_image_write.h ]; then line stb_image_write 'for bill --png'
else skipped stb_image_write 'bill --png says so; Debian: libstb-dev, Arch and Alpine: stb, Fedora: stb_image_write-devel'; fi

printf '\nto test\n'
if version=$(pkg-config --modversion check 2>/dev/null); then line check "$version"
else skipped check 'make test installs it'; fi
if [ -f .venv/.installed ]; then line .venv "$(wc -l <.venv/.installed) packages for the reference checks"
else skipped .venv 'reference checks are skipped; make test makes it'; fi
PATH="$PATH:/usr/sbin" # where Debian keeps it
tool haproxy haproxy 'the checks of rollout are skipped; make lesson2 installs it'

printf '\nto contribute\n'
tool clang clang 'make check needs it'
tool clang-format clang-format-14 'make check needs version 14'
tool gdb gdb 'make debug needs it'

printf '\nthe model\n'
if [ -f "$model" ]; then
    if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum <"$model" | cut -d' ' -f1)
    else sum=$(shasum -a 256 <"$model" | cut -d' ' -f1); fi
    if grep -q "$sum" data/model-files.json; then line model "$model, checksum right"
    else line model "$model, not one of data/model-files.json (sha256 $sum)"; fi
else
    skipped model "$model; make model gets it (98 MB)"
fi

printf '\nthe machine\n'
line system "$(uname -srm)"
if [ -r /proc/cpuinfo ]; then
    line cpu "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), $(nproc) usable"
    features=''
    for f in avx2 fma f16c avx512f avx512_vnni avx512_bf16 avx_vnni amx_int8 asimd asimddp i8mm; do
        grep -qw "$f" /proc/cpuinfo && features="$features $f"
    done
    line 'cpu features' "${features# }"
fi
cgroup() { # label, files that may hold the limit; "max", -1 and 2^63 are how they say none
    label=$1; shift
    for f in "$@"; do
        [ -r "$f" ] || continue
        limit=$(cat "$f")
        case $limit in max* | -1 | 922337203685477*) limit='no limit' ;; esac
        line "$label" "$limit"
        return
    done
    line "$label" 'no limit'
}
cgroup 'cgroup cpu' /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us
cgroup 'cgroup memory' /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes
[ -r /proc/meminfo ] && line memory "$(awk '/^MemTotal/ {t = $2} /^MemAvailable/ {a = $2}
    END {printf "%.1f GiB, %.1f GiB available", t / 1048576, a / 1048576}' /proc/meminfo)"
line disk "$(df -h . | awk 'NR == 2 {print $4 " free here"}')"
tool nvcc nvcc 'CUDA kernels will run under emulation'
if command -v nvidia-smi >/dev/null 2>&1; then
    line gpu "$(nvidia-smi --query-gpu=name,memory.total --format=csv,noheader 2>&1 | head -n 1)"
else
    skipped gpu 'GPU tests are skipped'
fi
if command -v gcc >/dev/null 2>&1 && mkdir -p build 2>/dev/null &&
    gcc -O3 -std=c11 -D_POSIX_C_SOURCE=200809L -I. -pthread tools/machine.c -o build/machine 2>/dev/null; then
    ./build/machine "$(getconf _NPROCESSORS_ONLN)" build/machine-factor
else
    skipped 'read bandwidth' 'needs gcc and a writable build/'
fi

echo
if [ "$n_missing" = 0 ]; then echo 'Nothing is missing. next: make run'
else echo "$n_missing missing. next: make setup"; fi
