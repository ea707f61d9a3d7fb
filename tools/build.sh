#!/bin/sh
# Runs make for GOALs and counts on the terminal, so that nobody stares at a silent minute. Only one
# build at a time writes to a build directory: `make run` in a second terminal waits for the first.
#
#   tools/build.sh BUILD_DIR JOBS GOAL...       MAKE: the make to run
set -eu
build=$1 jobs=$2
shift 2
make=${MAKE:-make}

# Without flock (macOS) two builds at once are the user's own risk.
mkdir -p "$build"
if command -v flock >/dev/null 2>&1; then
    exec 9>"$build/lock" # closes with the last process of the build, however that ends
    flock -n 9 || { echo "waiting for another build in $build" >&2; flock 9; }
fi

n_files=$("$make" --no-print-directory -n "$@" 2>/dev/null | grep -c ' -c ' || true)
case ${MAKEFLAGS-} in
*jobserver*) ;; # `make -j4 run` has said how many
*) set -- "-j$jobs" "$@" ;;
esac

if [ "$n_files" = 0 ] || [ ! -t 2 ]; then
    [ "$n_files" = 0 ] || echo "building $n_files files" >&2
    exec "$make" --no-print-directory -s "$@"
fi
# The commands of make come through the pipe and are counted; what compilers say goes to stderr.
{ "$make" --no-print-directory "$@" || echo 'build failed'; } | {
    n=0 status=0
    printf 'building %d files' "$n_files" >&2
    while read -r line; do
        case $line in
        *' -c '*) n=$((n + 1)); printf '\rbuilding %d of %d files' "$n" "$n_files" >&2 ;;
        'build failed') status=1 ;;
        esac
    done
    printf '\n' >&2
    exit "$status"
}
