"""The engine's own tests, all of them on the reference modules: what is not the learner's to mend.

At a level, a suite whose program has not changed since it passed is not run again; its count is kept.
"""
import re
from pathlib import Path

import run_tests


def suites_of(root, levels):
    """Names of the suites of common and of the levels, in the order of the Makefile."""
    folders = ["common"] + [f"level{n}" for n in levels]
    return [path.stem[len("test_"):] for folder in folders
            for path in sorted((root / "tests" / folder).glob("test_*.c"))]


def stamp_of(program):
    return Path(str(program) + ".passed")


def kept_count(program, inputs):
    """How many tests passed when this very program last ran; None: it has to run."""
    stamp = stamp_of(program)
    try:
        newest = max(Path(path).stat().st_mtime_ns for path in [program, *inputs])
        return int(stamp.read_text()) if stamp.stat().st_mtime_ns > newest else None
    except (OSError, ValueError):
        return None


def run_incremental(programs, inputs):
    """A tally over all programs; only those that changed run."""
    total, fresh = run_tests.Tally(), []
    for program in programs:
        kept = kept_count(program, inputs)
        if kept is None:
            fresh.append(program)
        else:
            total.passed += kept
    for program, tally in zip(fresh, run_tests.run_each(run_tests.jobs_of(fresh, [], []))):
        total.add(tally)
        if tally.failed == 0 and tally.skipped == 0:
            stamp_of(program).write_text(f"{tally.passed}\n")
    return total, len(fresh)


def build_trouble(output):
    """The lines of make that say what went wrong."""
    lines = [line for line in output.splitlines() if re.search(r"error|Error|undefined|No such", line)]
    return "\n".join(lines[:10] or output.splitlines()[-10:])
