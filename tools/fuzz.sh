#!/bin/bash
# Runs every fuzz target for some seconds under libFuzzer, with seeds. A finding stops it and is kept
# under build/fuzz/.
#
#   tools/fuzz.sh [SECONDS]
set -eu
seconds=${1:-60}
make -s -j2 CC=clang BUILD=build/fuzz SAN=-fsanitize=address,undefined,fuzzer-no-link build/fuzz/test/libladder.a
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    # shellcheck disable=SC2046 # two lists of flags
    clang -std=c11 -D_POSIX_C_SOURCE=200809L -I. -g -O1 -fsanitize=address,undefined,fuzzer "$source" tests/support/hf_input.c \
        build/fuzz/test/libladder.a \
        $(pkg-config --cflags --libs libcurl libevent libevent_pthreads jansson libutf8proc libxxhash libedit) \
        -lm -pthread -o "build/fuzz/$name"
    echo "$name: $seconds s"
    "build/fuzz/$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/fuzz/seeds/${name#fuzz_}" 2>"build/fuzz/$name.log" ||
        { tail -n 40 "build/fuzz/$name.log"; exit 1; }
    grep -E 'number_of_executed_units|peak_rss' "build/fuzz/$name.log" || true
done
