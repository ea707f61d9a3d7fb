#!/usr/bin/env python3
"""Runs test programs one after the other and adds up what they say. Standard library only.

    tools/run_tests.py [--only NAME] --suites FILE... --checks FILE... [-- ARGUMENT...]

A suite is a compiled program, a check is a Python script run with .venv (arguments behind `--` are
passed to it). Each prints, as its last line, `N passed, N failed`. A test program that says nothing
of the kind, crashes or hangs counts as one failure. The last line of this program is the sum.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from ladder import guard, processes

SUM_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SKIP_STATUS = 77  # a program that could not run here, and said why in its last line


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0


def run(command, limit_s):
    """Exit status (None: out of time) and output of a program and all that it started."""
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        output, _ = program.communicate(timeout=limit_s)
        return program.returncode, output
    except subprocess.TimeoutExpired:
        processes.end_session(program)
        output, _ = program.communicate()
        return None, output
    except BaseException:
        processes.end_session(program)
        raise


def judge(name, status, output, tally, limit_s):
    lines = output.rstrip().splitlines()
    last = lines[-1] if lines else ""
    match = SUM_LINE.match(last)
    if status == SKIP_STATUS:
        tally.skipped += 1
        return f"skipped  {name}: {last}", ""
    passed, failed, skipped = (int(n or 0) for n in match.groups()) if match else (0, 0, 0)
    trouble = ""
    if status is None:
        trouble = f"no end after {limit_s} s"
    elif match is None:
        trouble = f"ended with status {status} and no closing line"
    elif (status != 0) != (failed > 0):
        trouble = f"status {status}, yet it says '{last}'"
    elif passed + failed == 0:
        trouble = "no test ran"
    if trouble:
        failed += 1
    tally.passed += passed
    tally.failed += failed
    tally.skipped += skipped
    word = "FAILED " if failed else "ok     "
    more = f", {skipped} skipped" if skipped else ""
    reasons = "\n".join(line for line in lines if line.startswith("skipped "))
    return (f"{word}  {name}: {passed} passed, {failed} failed{more}" + (f" ({trouble})" if trouble else ""),
            output if failed else reasons)


def machine_factor():
    """How much slower than the reference machine this one is; `make doctor` measures it."""
    try:
        return max(1.0, float(Path("build/machine-factor").read_text()))
    except (OSError, ValueError):
        return 1.0


def jobs_of(suites, checks, passed_on):
    """(name, command) of each test program."""
    python = Path(".venv/bin/python")
    jobs = [(Path(s).name, [s]) for s in suites]
    return jobs + [(f"{Path(c).parent.name}/{Path(c).stem}", [str(python), c, *passed_on]) for c in checks]


def run_jobs(jobs, quiet=False):
    """Runs one after the other; prints a line for each, or only for what failed."""
    factor = machine_factor()
    limit_s = int(300 * factor)
    os.environ.setdefault("CK_TIMEOUT_MULTIPLIER", str(int(factor + 0.999)))
    tally = Tally()
    for name, command in jobs:
        if command[0].startswith(".venv") and not Path(".venv/.installed").exists():
            tally.skipped += 1
            print(f"skipped  {name}: no .venv with the reference packages; `make test` makes it, given a network")
            continue
        begin, n_failed = time.monotonic(), tally.failed
        status, output = run(command, limit_s)
        line, details = judge(name, status, output, tally, limit_s)
        if quiet and tally.failed == n_failed:
            continue
        print(f"{line}  ({time.monotonic() - begin:.1f} s)", flush=True)
        if details:
            print("".join(f"    {text}\n" for text in details.rstrip().splitlines()[-60:]), end="")
    if tally.skipped:
        print(f"skipped: {tally.skipped}" + ("" if quiet else " (each is named above)"))
    return tally


def main():
    own, passed_on = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, passed_on = own[:cut], own[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", nargs="*", default=[])
    parser.add_argument("--checks", nargs="*", default=[])
    parser.add_argument("--only", default="", help="run only programs whose name contains this")
    args = parser.parse_args(own)

    jobs = [job for job in jobs_of(args.suites, args.checks, passed_on) if args.only in job[0]]
    if not jobs:
        print(f"no test program matches '{args.only}'")
        print("0 passed, 1 failed")
        return 1
    tally = run_jobs(jobs)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


def end(number, _frame):
    sys.exit(128 + number)


if __name__ == "__main__":
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, end)  # an exception: the running program is stopped too
    guard.begin()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
