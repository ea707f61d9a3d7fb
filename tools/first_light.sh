#!/bin/sh
# Starts the server on a free port, lets the client talk to it, and stops the server again.
#
#   tools/first_light.sh BIN_DIR MODEL           asks one question ($ASK, or a default), and says in
#                                                numbers what happened and what comes next
#   tools/first_light.sh BIN_DIR MODEL --chat    stays in conversation
set -eu
bin=$1 model=$2 mode=${3:-once}
question=${ASK:-What is the capital of France? Answer in one sentence.}
# A small model wanders at the API's default temperature of 1. Greedy, so that the first answer that
# anybody sees is the model's best and the same everywhere; a conversation gets a little chance.
greedy="--temperature 0 --max-tokens 300" lively='--temperature 0.3'
log=$(mktemp) said=$(mktemp) # what the server and the client say on standard error
server='' client=''

stop() {
    for process in $client $server; do
        # Again and again: a process that is just being started may lose a signal.
        while kill -TERM "$process" 2>/dev/null; do sleep 0.05; done
    done
    rm -f "$log" "$said"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 131' QUIT
trap 'exit 143' TERM

# A client's Ctrl-C must not reach the server; it ends with us.
(trap '' INT; exec "$bin/serve" --model "$model" --port 0 --log-level warn 2>"$log") &
server=$!

printf 'starting serve with %s\n' "$model" >&2
url=''
while [ -z "$url" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
        cat "$log" >&2
        echo 'serve did not start; see above' >&2
        exit 1
    fi
    url=$(sed -n 's/^ready: //p' "$log")
    [ -n "$url" ] || sleep 0.05
done

# What just happened, in the client's own figures where it has them.
tell() {
    name=$(basename "$model" .gguf | sed 's/\.[FQ][0-9][A-Z0-9_]*$//')
    line='^TTFT \([0-9]* ms\), \([0-9.]* tokens/s\), \([0-9]*\) prompt .* tokens$'
    figures=$(sed -n "s|$line|\\3 prompt tokens in \\1, then \\2|p" "$said")
    [ -n "$figures" ] || cat "$said" >&2
    printf '\nThat was %s in your own server%s.\n' "$name" "${figures:+: $figures}"
}

# What comes next. A build without a course around it has nothing to write.
point_on() {
    line='^modules: \([0-9]*\) yours, \([0-9]*\) reference$'
    modules=$("$bin/serve" --version | sed -n "s/$line/\\1 \\2/p")
    yours=${modules% *} reference=${modules#* }
    if [ -n "$modules" ]; then
        printf 'You have written %d of %d modules of this engine.\n' "$yours" $((yours + reference))
        echo 'next: make next'
    else
        echo 'next: make chat (stay in conversation), make test (the tests), make help (more)'
    fi
}

# In the background, since a shell heeds no signal before a program in the foreground ends. Ctrl-C is
# the client's own: it ends the answer.
talk() {
    trap : INT
    "$bin/ask" --base-url "$url/v1" "$@" <&3 &
    client=$!
    while :; do # 130: we heard a Ctrl-C; the client may go on
        status=0
        wait "$client" || status=$?
        if [ "$status" != 130 ] || ! kill -0 "$client" 2>/dev/null; then break; fi
    done
    client=''
}

exec 3<&0
if [ "$mode" = --chat ]; then
    trap : INT # Ctrl-C ends an answer, and not the conversation
    # shellcheck disable=SC2086 # two words
    talk $lively
else
    printf '\n> %s\n\n' "$question"
    # shellcheck disable=SC2086
    talk $greedy -- "$question" 2>"$said"
fi
if [ "$status" != 0 ]; then
    cat "$said" >&2
    grep -v -e '^ready: ' -e '^modules: ' "$log" >&2 || true # what the server has to say about it
    exit "$status"
fi
if [ "$mode" != --chat ]; then
    tell
    point_on
fi
