#!/bin/sh
# Installs what is missing, and only that: system packages, then a Python environment for the
# reference checks. Silent and quick when everything is there; works offline then.
#
#   tools/setup.sh run      what building and running needs
#   tools/setup.sh suite    that, and the Check library
#   tools/setup.sh test     that, and .venv for the reference checks
#   tools/setup.sh check    that, clang, clang-format, gdb and valgrind (for contributors and CI)
#   tools/setup.sh door     what running needs, and HAProxy (for lesson2)
#
# Libraries in a prefix of your own need no root: make PREFIX=$HOME/.local run
set -eu
group=${1:-run}

# pkg-config name : Debian package : Fedora : Arch : Alpine : Homebrew
libraries_run='
libcurl:libcurl4-openssl-dev:libcurl-devel:curl:curl-dev:curl
libevent:libevent-dev:libevent-devel:libevent:libevent-dev:libevent
jansson:libjansson-dev:jansson-devel:jansson:jansson-dev:jansson
libutf8proc:libutf8proc-dev:utf8proc-devel:libutf8proc:utf8proc-dev:utf8proc
libxxhash:libxxhash-dev:xxhash-devel:xxhash:xxhash-dev:xxhash
libedit:libedit-dev:libedit-devel:libedit:libedit-dev:libedit'
libraries_test='
check:check:check-devel:check:check-dev:check'
# command : the same five
commands_run='
gcc:gcc libc6-dev:gcc:gcc:gcc musl-dev:gcc
pkg-config:pkg-config:pkgconf:pkgconf:pkgconf:pkgconf
python3:python3:python3:python:python3:python'
commands_test='
curl:curl:curl:curl:curl:curl'
commands_check='
clang:clang:clang compiler-rt:clang compiler-rt:clang compiler-rt:llvm
clang-format-14:clang-format-14:clang-tools-extra:clang:clang-extra-tools:clang-format
gdb:gdb:gdb:gdb:gdb:gdb
valgrind:valgrind:valgrind:valgrind:valgrind:valgrind'

libraries=$libraries_run commands=$commands_run
case $group in
run | door) ;;
suite) libraries="$libraries$libraries_test" ;;
test) libraries="$libraries$libraries_test" commands="$commands$commands_test" ;;
check)
    libraries="$libraries$libraries_test"
    commands="$commands$commands_test$commands_check" ;;
*) echo "setup: unknown group '$group'; use run, suite, test, check or door" >&2; exit 2 ;;
esac

# Which column of the tables above speaks this system's language.
if command -v apt-get >/dev/null 2>&1; then system=apt column=2
elif command -v dnf >/dev/null 2>&1; then system='dnf install' column=3
elif command -v pacman >/dev/null 2>&1; then system='pacman -S' column=4
elif command -v apk >/dev/null 2>&1; then system='apk add' column=5
elif command -v brew >/dev/null 2>&1; then system='brew install' column=6
else system='' column=2
fi

missing=''
need() { missing="$missing $(echo "$1" | cut -d: -f$column)"; }

old_ifs=$IFS
IFS='
'
for line in $commands; do
    command -v "${line%%:*}" >/dev/null 2>&1 || need "$line"
done
for line in $libraries; do
    pkg-config --exists "${line%%:*}" 2>/dev/null || need "$line"
done
IFS=$old_ifs
# pip needs certificates; a system that has some keeps them as they are.
if [ "$system" = apt ] && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then
    missing="$missing ca-certificates"
fi
# Debian splits venv and its pip off from python3.
if [ "$system" = apt ] && ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
    missing="$missing python3-venv"
fi
# One header, only for `bill --png`: it comes along, and nothing is installed for its sake alone.
if [ "$system" = apt ] && [ -n "$missing" ] && [ ! -e /usr/include/stb/stb_image_write.h ]; then
    missing="$missing libstb-dev"
fi
# The front door. lesson2 needs it; the tests of rollout take it along, or are skipped aloud.
if ! command -v haproxy >/dev/null 2>&1 && [ ! -x /usr/sbin/haproxy ]; then
    case $group in
    door) missing="$missing haproxy" ;;
    test | check) [ "$system" != apt ] || [ -z "$missing" ] || missing="$missing haproxy" ;;
    esac
fi

install_with_apt() {
    as_root=''
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "setup: not root and no sudo. Ask for, or install yourself:" >&2
            echo "  apt-get install$missing" >&2
            echo "or build the libraries into a prefix: make PREFIX=DIR ..." >&2
            exit 1
        fi
        as_root=sudo
    fi
    echo "setup: installing$missing" >&2
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list of packages
    if ! { $as_root apt-get update; $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        echo "setup: apt-get failed. Is there a network? Then run the same command again." >&2
        exit 1
    fi
    rm -f "$log"
    # Debian starts what it installs. We run HAProxy ourselves, with our own file, and only while it is needed.
    case $missing in *haproxy*)
        [ ! -d /run/systemd/system ] || $as_root systemctl disable --now haproxy >/dev/null 2>&1 || true ;;
    esac
}

install_missing() {
    [ -n "$missing" ] || return 0
    if [ "$system" = apt ]; then
        install_with_apt
    else
        echo "setup: missing:$missing" >&2
        echo "Install them, then run the same command again:" >&2
        echo "  ${system:-your package manager}$missing" >&2
        exit 1
    fi
    missing=''
}
install_missing

# Debian and Ubuntu split clang's sanitizers off, in a package that is named after its version.
if [ "$group" = check ] && [ "$system" = apt ] &&
    ! [ -e "$(clang -print-resource-dir)/lib/linux" ]; then
    missing=" libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    install_missing
fi

# The Python packages that give independent answers. Without network they are left out, and the
# checks that need them are skipped aloud.
make_venv() {
    wanted=tests/reference/requirements.txt
    [ -f "$wanted" ] || return 0
    cmp -s "$wanted" .venv/.installed && return 0
    echo "setup: making .venv for the reference checks" >&2
    log=$(mktemp)
    if { python3 -m venv .venv && .venv/bin/pip install --disable-pip-version-check -q \
        -r "$wanted"; } >"$log" 2>&1; then
        cp "$wanted" .venv/.installed
    else
        tail -n 3 "$log" >&2
        echo "setup: no .venv (see above); reference checks will be skipped" >&2
    fi
    rm -f "$log"
}
case $group in test | check) make_venv ;; esac
