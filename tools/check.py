#!/usr/bin/env python3
"""What holds upstream, beyond `make test`: a line per check as it ends, the sum at the end. Everything runs, also
after a failure. Two run beside each other, since many wait most of the time. Standard library only.

    tools/check.py [NAME]      only the checks whose name contains NAME
"""
import os
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import run_tests
from ladder import guard

AT_A_TIME = 2
LIMIT_S = 1800
N_LINES = 40  # of what a failed check has said
MODEL = os.environ.get("MODEL", "models/SmolLM2-135M-Instruct.Q4_1.gguf")  # used where it is; `make model` gets it
JOBS = os.environ.get("JOBS", "2")

# The suites of everything that has threads, under the thread sanitizer.
THREADED = """engine ring team forward forward_arch engine_serial serial_events serial_threads text_worker http
              http_clients http_states http_swap metrics quota""".split()
SUITES = " ".join(f"build/tsan/test/suites/{name}" for name in THREADED)
UNDER_TSAN = f"""
make -s -j{JOBS} BUILD=build/tsan SAN=-fsanitize=thread {SUITES} build/tsan/test/tiny.gguf &&
TINY_MODEL=build/tsan/test/tiny.gguf tools/run_tests.py --suites {SUITES} || exit
for seed in {{2..20}}; do # an exercise: its solution holds on other draws, too
    COURSE_SEED=$seed build/tsan/test/suites/forward || exit
done"""
SAME_TEXT = """
tools/same_text.sh build/test/tiny.gguf build/bin build/clang/bin &&
{ [ ! -e "$MODEL" ] || tools/same_text.sh "$MODEL" build/bin build/clang/bin; }"""
FORMAT = """
{ git ls-files '*.c' '*.h' 2>/dev/null || find . -name '*.[ch]' -not -path './build/*'; } |
xargs clang-format-14 --dry-run -Werror"""

GCC, CLANG = "gcc: builds without a warning", "clang: builds without a warning"


@dataclass(frozen=True)
class Check:
    name: str
    command: str  # for bash
    after: tuple = ()  # names of checks


def checks():
    """Those that take longest begin first. The other compiler builds everything without a warning, passes the
    suites, says the same text."""
    yield Check(GCC, f"tools/course.py link && tools/build.sh build {JOBS} programs suites")
    yield Check("format", FORMAT)
    yield Check("includes: downward, in order", "tools/check_includes.py")
    yield Check("deploy: agrees with serve", "tools/check_deploy.py")
    yield Check("deploy: the unit under a systemd of its own",
                "python3 tests/faults/systemd_unit.py --model build/test/tiny.gguf --bin build/bin", (GCC,))
    yield Check("docs: links, quotes, tables, exercises", "tools/check_docs.py")
    yield Check("exercises: starters are what is cut", "tools/cut_exercises.py --check")
    yield Check(CLANG, f"make -s -j{JOBS} CC=clang BUILD=build/clang programs suites")
    yield Check("tools: test_walk", "python3 tests/tools/test_walk.py", (GCC,))
    yield Check("exercises: starters, stubs, solutions, mutants", "tools/course.py prove", (GCC,))
    yield Check("threads under TSan", UNDER_TSAN)
    yield Check("clang: suites", "TINY_MODEL=build/clang/test/tiny.gguf tools/run_tests.py --suites "
                                 "$(find build/clang/test/suites -type f -perm -u+x)", (CLANG,))
    yield Check("docs: transcripts", "tools/transcripts.py", (GCC,))
    yield Check("gcc and clang give the same text", SAME_TEXT, (GCC, CLANG))
    yield Check("clang: starters and solutions", "CC=clang BUILD=build/clang tools/course.py starters --seeds 1", (CLANG,))
    yield Check("ask, bill and fit under valgrind", "tools/memcheck.py", (GCC,))
    for path in sorted(Path("tests/tools").glob("test_*.py")):
        if path.stem != "test_walk":
            yield Check(f"tools: {path.stem}", f"python3 {path}", (GCC,))


def run(check, programs):
    """The lines that are printed of it, and how it ended: "passed", "failed", "skipped"."""
    begin = time.monotonic()
    status, output = programs.run(["bash", "-c", check.command], LIMIT_S)
    if status == 0:
        return [f"ok       {check.name} ({time.monotonic() - begin:.0f} s)"], "passed"
    if status == run_tests.SKIP_STATUS:
        return [f"skipped  {check.name}: {output.rstrip().splitlines()[-1]}"], "skipped"
    trouble = [f"no end after {LIMIT_S} s"] if status is None else []
    lines = output.rstrip().splitlines()[-N_LINES:] + trouble
    return [f"FAILED   {check.name}: {check.command.strip()}", *(f"    {line}" for line in lines)], "failed"


def next_of(waiting, names):
    """The first whose turn it can be; names: of all that have not ended yet."""
    return next((check for check in waiting if not names.intersection(check.after)), None)


def show_running(names):
    if sys.stdout.isatty():
        print("\r\033[K" + ("...      " + ", ".join(names) if names else ""), end="", flush=True)


def run_all(chosen, programs, pool):
    """How many passed, failed, were skipped."""
    waiting, running, counts = list(chosen), {}, {"passed": 0, "failed": 0, "skipped": 0}
    while waiting or running:
        unfinished = {check.name for check in [*waiting, *running.values()]}
        while len(running) < AT_A_TIME and (check := next_of(waiting, unfinished)):
            waiting.remove(check)
            running[pool.submit(run, check, programs)] = check
        show_running([check.name for check in running.values()])
        for job in wait(running, return_when=FIRST_COMPLETED).done:
            lines, end = job.result()
            show_running([])
            print("\n".join(lines), flush=True)
            counts[end] += 1
            del running[job]
    return tuple(counts.values())


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    os.environ.update(WERROR="-Werror", MODEL=MODEL)
    chosen = [check for check in checks() if only in check.name]
    programs, pool = run_tests.Programs(), ThreadPoolExecutor(AT_A_TIME)
    try:
        n_passed, n_failed, n_skipped = run_all(chosen, programs, pool)
    except BaseException:
        programs.end()
        raise
    finally:
        pool.shutdown()
    print(f"{n_passed} passed, {n_failed} failed" + (f", {n_skipped} skipped" if n_skipped else ""))
    return 0 if n_passed and not n_failed else 1


if __name__ == "__main__":
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, run_tests.end)
    guard.begin()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
