#!/usr/bin/env python3
"""Writes the starters that learners get from the marked solutions. Standard library only.

    tools/cut_exercises.py           writes each starter that differs; a learner's own work is never lost
    tools/cut_exercises.py --check   writes nothing; fails when a committed starter is not what is cut
    tools/cut_exercises.py --audit   lists what only the solution needs, and how much there is to write
"""
import argparse
import subprocess
import sys

from ladder import build, catalog, cut
from ladder.catalog import ROOT, Refused


def text_of(path):
    return (ROOT / path).read_text()


def starters(course):
    """(exercise, starter) of each exercise; raises Refused with all faults found."""
    cuts, faults = [], []
    for ex in course.exercises:
        try:
            starter = cut.starter_of(text_of(ex.solution), ex)
            faults += cut.faults_of_starter(starter, ex, text_of)
            cuts.append((ex, starter))
        except (cut.CutError, OSError) as error:
            faults.append(str(error))
    if faults:
        raise Refused("\n".join(faults))
    return cuts


def cut_before(path):
    """Where the starter is kept as it was last written here: a file that is still the same holds no work."""
    return ROOT / build.build_dir() / "cut" / path


def is_nobodys_work(path):
    """True when the file stands as it is in a commit, or as it was cut."""
    kept = cut_before(path)
    return is_committed_as_it_stands(path) or (kept.is_file() and kept.read_bytes() == (ROOT / path).read_bytes())


def is_committed_as_it_stands(path):
    """True when git knows the file and nobody has worked in it."""
    known = subprocess.run(["git", "ls-files", "--error-unmatch", path], cwd=ROOT, capture_output=True)
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", path], cwd=ROOT, capture_output=True)
    return known.returncode == 0 and changed.returncode == 0


def write(cuts):
    for ex, starter in cuts:
        path = ROOT / ex.file
        if path.exists() and path.read_text(errors="replace") == starter:
            continue
        if path.exists() and not is_nobodys_work(ex.file):
            raise Refused(f"{ex.file} holds work that is in no commit: make reset EX={ex.id} keeps a copy")
        path.write_text(starter)
        build.write_if_changed(cut_before(ex.file), starter)
        print(f"cut {ex.file}")


def check(cuts):
    stale = [ex.file for ex, starter in cuts
             if not (ROOT / ex.file).exists() or (ROOT / ex.file).read_text(errors="replace") != starter]
    if stale:
        raise Refused(f"not what is cut from the solution: {', '.join(stale)}: make refresh")
    print(f"{len(cuts)} starters are what is cut from their solutions")


def audit(cuts):
    for ex, _ in cuts:
        text = text_of(ex.solution)
        lines = cut.lines_to_write(text, cut.regions_of(text, ex.solution, ex.id))
        gone = [f"{kind} {what}" for kind, what in cut.only_in_solution(text, ex)]
        print(f"{ex.id:12} {lines:4} lines to write; only in the solution: {', '.join(gone) or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--audit", action="store_true")
    args = parser.parse_args()
    try:
        cuts = starters(catalog.load())
        (audit if args.audit else check if args.check else write)(cuts)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return refused.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
