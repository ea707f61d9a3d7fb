#!/bin/sh
# Greedy text must depend on the request alone: not on the compiler, the number of threads, how the
# prompt is cut into steps, a warm cache, or streaming. Asks servers that differ in these the same
# question and compares the answers letter for letter.
#
#   tools/same_text.sh MODEL BIN_DIR [OTHER_BIN_DIR]
set -eu
model=$1 first=$2 second=${3:-$2}
work=$(mktemp -d)
server=''
stop() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    server=''
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

start() { # BIN_DIR OPTION...: a server; its address in $url
    : >"$work/log" # or the last server's line `ready:` is taken for this one's
    bin=$1
    shift
    "$bin/serve" --model "$model" --port 0 "$@" 2>"$work/log" &
    server=$!
    until grep -q '^ready: ' "$work/log"; do
        kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
        sleep 0.05
    done
    url=$(sed -n 's/^ready: //p' "$work/log")
}

ask() { # OPTION...: the answer, and nothing else
    "$first/ask" --base-url "$url/v1" --temperature 0 --max-tokens 48 "$@" \
        'Tell me a story about a river and a mill that stood at its bank for two hundred years.' \
        2>/dev/null
}

n_answers=0
compare() { # WHAT OPTION...
    what=$1
    shift
    ask "$@" >"$work/answer"
    [ -s "$work/answer" ] || { echo "$what: the answer is empty" >&2; exit 1; }
    [ -e "$work/want" ] || cp "$work/answer" "$work/want"
    if ! cmp -s "$work/want" "$work/answer"; then
        echo "$what: another text" >&2
        diff "$work/want" "$work/answer" >&2 || true
        exit 1
    fi
    n_answers=$((n_answers + 1))
}

try() { # NAME BIN_DIR OPTION...: cold, warm, and whole instead of streamed
    name=$1
    shift
    start "$@"
    compare "$name, cold"
    compare "$name, warm cache"
    compare "$name, not streamed" --no-stream
    stop
}

try '1 thread' "$first" --threads 1
try '2 threads' "$first" --threads 2
try '3 threads, 1 token a step' "$first" --threads 3 --step-rows 1
try '2 threads, 7 tokens a step' "$first" --threads 2 --step-rows 7
[ "$second" = "$first" ] || try "$second" "$second" --threads 2
echo "the same text $n_answers times"
