#!/usr/bin/env python3
"""Runs test programs, a few at a time, and adds up what they say. Standard library only.

    tools/run_tests.py [--only NAME] [--jobs N] --suites FILE... --checks FILE... [-- ARGUMENT...]

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ladder import guard, processes

SUM_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SKIP_STATUS = 77  # a program that could not run here, and said why in its last line
MOST_AT_A_TIME = 4  # sanitizers want memory


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


class Programs:
    """Runs programs, several threads at a time."""

    def __init__(self):
        self.running, self.is_over = set(), False

    def run(self, command, limit_s):
        """Exit status (None: out of time) and output of a program and all that it started."""
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)
        self.running.add(program)
        try:
            if self.is_over:
                processes.end_session(program)
            output, _ = program.communicate(timeout=limit_s)
            return program.returncode, output
        except subprocess.TimeoutExpired:
            processes.end_session(program)
            output, _ = program.communicate()
            return None, output
        finally:
            self.running.discard(program)

    def end(self):
        self.is_over = True
        for program in list(self.running):
            processes.end_session(program)


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


def at_a_time():
    """How many programs run beside each other: many of them wait most of the time."""
    jobs = os.environ.get("JOBS", "")
    return min(int(jobs) if jobs.isdecimal() and int(jobs) > 0 else os.cpu_count() or 1, MOST_AT_A_TIME)


def run_job(name, command, limit_s, programs):
    """What is printed about a program, what it said of interest, and its own tally."""
    tally = Tally()
    if command[0].startswith(".venv") and not Path(".venv/.installed").exists():
        tally.skipped += 1
        return f"skipped  {name}: no .venv with the reference packages; `make test` makes it, given a network", "", tally
    begin = time.monotonic()
    status, output = programs.run(command, limit_s)
    line, details = judge(name, status, output, tally, limit_s)
    return f"{line}  ({time.monotonic() - begin:.1f} s)", details, tally


def run_each(jobs, quiet=False, n_threads=None):
    """Runs all; prints a line for each, or only for what failed, and gives the tally of each, in their order."""
    factor = machine_factor()
    limit_s = int(300 * factor)
    os.environ.setdefault("CK_TIMEOUT_MULTIPLIER", str(int(factor + 0.999)))
    programs, pool = Programs(), ThreadPoolExecutor(n_threads or at_a_time())
    try:
        told = [pool.submit(run_job, name, command, limit_s, programs) for name, command in jobs]
        for line, details, tally in (job.result() for job in told):
            if tally.failed or not quiet:
                print(line, flush=True)
                if details:
                    print("".join(f"    {text}\n" for text in details.rstrip().splitlines()[-60:]), end="")
            yield tally
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        programs.end()
        raise
    finally:
        pool.shutdown()


def run_jobs(jobs, quiet=False, n_threads=None):
    """The tally of all."""
    total = Tally()
    for tally in run_each(jobs, quiet, n_threads):
        total.add(tally)
    if total.skipped:
        print(f"skipped: {total.skipped}" + ("" if quiet else " (each is named above)"))
    return total


def main():
    own, passed_on = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, passed_on = own[:cut], own[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", nargs="*", default=[])
    parser.add_argument("--checks", nargs="*", default=[])
    parser.add_argument("--only", default="", help="run only programs whose name contains this")
    parser.add_argument("--jobs", type=int, help="how many at a time; otherwise JOBS, or as many as there are cores")
    args = parser.parse_args(own)

    jobs = [job for job in jobs_of(args.suites, args.checks, passed_on) if args.only in job[0]]
    if not jobs:
        print(f"no test program matches '{args.only}'")
        print("0 passed, 1 failed")
        return 1
    tally = run_jobs(jobs, n_threads=args.jobs)
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
