"""make grade: points for what passes on the default seed and on seeds that nobody has seen.

    make grade                      the files of this tree
    make grade FROM=../bob          somebody else's, in a copy of this tree: tests, tools and headers are ours
    make grade SEEDS="7 11 13"      these seeds beside the default one
"""
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from ladder import board, build, judge, results
from ladder.catalog import ROOT, Misused, Refused
from ladder.scratch import Scratch
from ladder.workplace import DEFAULT_SEED, Course

N_FRESH_SEEDS = 3
SHARED = ("Makefile", "course.json", "common", "level1-user", "level2-operator", "level3-optimizer", "level4-engine",
          "solutions", "tests", "tools")


def seeds_of(words):
    """The default seed, and those that were asked for, or fresh ones."""
    wrong = [word for word in words.split() if not word.isdecimal()]
    if wrong:
        raise Misused(f"SEEDS='{words}': whole numbers, with spaces between them")
    fresh = words.split() or [str(int.from_bytes(os.urandom(4), "big")) for _ in range(N_FRESH_SEEDS)]
    return list(dict.fromkeys([DEFAULT_SEED, *fresh]))


def changed_shared_files(exercises):
    """Files beside the learner's own that are not as committed; none when git cannot say."""
    out = subprocess.run(["git", "status", "--porcelain", "-z", "--", *SHARED], cwd=ROOT, capture_output=True, text=True)
    own = {ex.file for ex in exercises}
    return [entry[3:] for entry in out.stdout.split("\0") if entry and entry[3:] not in own]


def worst_of(verdicts):
    return next((verdict for verdict in verdicts if verdict.state != "done"), verdicts[0])


def reason(verdict):
    """Why there are no points."""
    test = verdict.first_failure
    words = verdict.message or (f"{test.name}: {test.differs.get('what') or test.message}" if test else "")
    return board.indented(f"seed {verdict.seed}: {words}", 8, most=2)


def grade_here(course, seeds):
    runs = [course.judge(course.exercises, seed) for seed in seeds]
    kept, total = [], 0
    for ex, *verdicts in zip(course.exercises, *runs):
        worst, points = worst_of(verdicts), judge.points_of(ex, verdicts)
        state = board.paint(f"{worst.state:<12}", worst.state, course.colour)
        print(f"  {ex.number:<5} {ex.id:<12} {state} {points:3} of {ex.points:3}")
        if worst.state in judge.FAILED_STATES:
            print(reason(worst))
        kept.append(worst)
        total += points
    possible = sum(ex.points for ex in course.exercises)
    course.keep(kept, grade={"seeds": seeds, "points": total, "points_possible": possible})
    for name in changed_shared_files(course.exercises):
        print(f"not as committed: {name}; a verdict is worth what its tests are")
    print(f"{total} of {possible} points; seeds {', '.join(seeds)}; {results.path()}")


def grade_from(course, folder, seeds):
    """In a copy of this tree, in which only the exercises' files are the other's."""
    theirs = Path(folder)
    if not theirs.is_dir():
        raise Refused(f"FROM={folder}: no such folder; it holds files as this tree does, {course.exercises[0].file}")
    handed_in = [ex for ex in course.exercises if (theirs / ex.file).is_file()]
    if not handed_in:
        raise Refused(f"FROM={folder}: none of the exercises' files is in it, as {course.exercises[0].file} would be")
    with tempfile.TemporaryDirectory(prefix="grade-") as place:
        tree = Scratch(ROOT, Path(place) / "tree")
        for ex in handed_in:
            shutil.copyfile(theirs / ex.file, tree.root / ex.file)
        compiler = shlex.quote(os.environ.get("CC") or "gcc")
        _, said = tree.run(f"make --no-print-directory grade CC={compiler} SEEDS='{' '.join(seeds[1:])}'")
        print(said, end="")
        target = Path(build.build_dir(), "grades", f"{theirs.resolve().name}.json")
        source = tree.root / "build" / "results.json"
        if source.exists():
            build.write_if_changed(target, source.read_text())
            print(f"{board.plural(len(handed_in), 'file')} handed in; test by test: {target}")


def command_grade(args):
    course, seeds = Course(), seeds_of(args.seeds)
    if args.origin:
        grade_from(course, args.origin, seeds)
    else:
        grade_here(course, seeds)
    return 0
