#!/bin/bash
# What holds upstream, beyond `make test`: one line per check, the sum at the end. Everything runs,
# also after a failure.
#
#   tools/check.sh [NAME]      only the checks whose name contains NAME
set -u
export WERROR=-Werror
model=${MODEL:-models/SmolLM2-135M-Instruct.Q4_1.gguf} # used where it is; `make model` gets it
only=${1:-} jobs=${JOBS:-2} n_passed=0 n_failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

check() { # name, command...
    local name=$1 begin=$SECONDS
    shift
    [[ $name == *"$only"* ]] || return 0
    [ ! -t 1 ] || printf '...      %s' "$name" # some take minutes
    "$@" >"$log" 2>&1
    local status=$?
    [ ! -t 1 ] || printf '\r\033[K'
    if [ $status = 0 ]; then
        n_passed=$((n_passed + 1))
        echo "ok       $name ($((SECONDS - begin)) s)"
    else
        n_failed=$((n_failed + 1))
        echo "FAILED   $name: $*"
        tail -n 40 "$log" | sed 's/^/    /'
    fi
}

c_files() { git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build/*'; }
check_format() { c_files | xargs clang-format-14 --dry-run -Werror; }

# The suites of everything that has threads, under the thread sanitizer.
threaded="engine ring team forward forward_arch engine_serial serial_events serial_threads text_worker http http_clients http_states http_swap metrics quota"
build_and_run_threaded() {
    local build=build/tsan suites=() s seed
    for s in $threaded; do suites+=("$build/test/suites/$s"); done
    make -s -j"$jobs" BUILD=$build SAN=-fsanitize=thread "${suites[@]}" $build/test/tiny.gguf &&
        TINY_MODEL=$build/test/tiny.gguf tools/run_tests.py --suites "${suites[@]}" || return
    for seed in {2..20}; do # an exercise: its solution holds on other draws, too
        COURSE_SEED=$seed "$build/test/suites/forward" || return
    done
}

# The other compiler builds everything without a warning, passes the suites, says the same text.
clang_build() { make -s -j"$jobs" CC=clang BUILD=build/clang programs suites; }
clang_suites() { TINY_MODEL=build/clang/test/tiny.gguf tools/run_tests.py --suites build/clang/test/suites/*; }
same_text() {
    tools/build.sh build "$jobs" programs build/test/tiny.gguf &&
        tools/same_text.sh build/test/tiny.gguf build/bin build/clang/bin &&
        { [ ! -e "$model" ] || tools/same_text.sh "$model" build/bin build/clang/bin; }
}

under_valgrind() { tools/build.sh build "$jobs" programs && tools/memcheck.py; }

check "format" check_format
check "includes: downward, in order" tools/check_includes.py
check "deploy: agrees with serve" tools/check_deploy.py
check "docs: links, quotes, tables, exercises" tools/check_docs.py
check "docs: transcripts" tools/transcripts.py
check "exercises: starters are what is cut" tools/cut_exercises.py --check
check "exercises: starters, stubs, solutions, mutants" tools/course.py prove
check "clang: builds without a warning" clang_build
check "clang: suites" clang_suites
check "clang: starters and solutions" env CC=clang BUILD=build/clang tools/course.py starters --seeds 1
check "gcc and clang give the same text" same_text
check "threads under TSan" build_and_run_threaded
check "ask, bill and fit under valgrind" under_valgrind
for tool in tests/tools/test_*.py; do
    [ -e "$tool" ] && check "tools: $(basename "$tool" .py)" python3 "$tool"
done
echo "$n_passed passed, $n_failed failed"
[ "$n_failed" = 0 ]
