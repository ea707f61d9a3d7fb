#!/bin/sh
# Greedy text must not depend on the compiler, the number of threads or the cache: asks servers
# built differently the same question and compares the answers letter for letter.
#
#   tools/same_text.sh MODEL BIN_DIR BIN_DIR
set -eu
model=$1 first=$2 second=$3
work=$(mktemp -d)
server=''
stop() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    server=''
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

answer() { # BIN_DIR THREADS OUT: the same question twice, the second with a warm cache
    : >"$work/log" # or the last server's line `ready:` is taken for this one's
    "$1/serve" --model "$model" --port 0 --threads "$2" 2>"$work/log" &
    server=$!
    until grep -q '^ready: ' "$work/log"; do
        kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
        sleep 0.05
    done
    url=$(sed -n 's/^ready: //p' "$work/log")
    for _ in 1 2; do
        "$first/ask" --base-url "$url/v1" --temperature 0 --max-tokens 64 --json \
            'Tell me a story about a river and a mill.' | python3 -c \
            'import json, sys; print(json.load(sys.stdin)["answer"])'
    done >"$3"
    stop
}

answer "$first" 1 "$work/one"
answer "$first" 2 "$work/two"
answer "$second" 2 "$work/other"
for other in two other; do
    cmp "$work/one" "$work/$other" || { diff "$work/one" "$work/$other" >&2; exit 1; }
done
[ "$(head -c 1 "$work/one" | wc -c)" = 1 ] || { echo "the answer is empty" >&2; exit 1; }
half=$(($(wc -l <"$work/one") / 2))
[ "$(head -n $half "$work/one")" = "$(tail -n $half "$work/one")" ] || {
    echo 'a warm cache changed the text' >&2; exit 1; }
echo 'same text: 1 and 2 threads, both compilers, cold and warm cache'
