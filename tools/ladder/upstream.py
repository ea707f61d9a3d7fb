"""Commands for make (link), for an instructor (grade) and for upstream (the proofs)."""
import os
import sys

from ladder import board, judge, proof, results, sources as source_graph
from ladder.catalog import ROOT
from ladder.workplace import DEFAULT_SEED, Course, show


def command_link(_args):
    """Before programs are built: judges what has changed since it was last judged, then lists what is
    linked. Says nothing when nobody has begun."""
    course = Course()
    known, passed = results.by_id(), course.progress.passed()
    touched = [ex for ex in course.exercises if not (ROOT / ex.file).is_file() or not judge.is_untouched(ex)]
    stale = []
    for ex in touched:
        now = source_graph.fingerprint(course.graph, ex)
        if passed.get(ex.id) != now and (ex.id not in known or known[ex.id]["fingerprint"] != now):
            stale.append(ex)
    if stale:
        course.keep(course.judge(stale))
    mine = course.write_make_files()
    for ex in touched:
        if ex.id not in mine:
            print(f"{ex.id}: yours has not passed as it stands; the reference is linked; make test EX={ex.id}",
                  file=sys.stderr)
    return 0


def command_grade(args):
    """Points for exercises, and parts of them, that pass on the default seed and on fresh ones: a table of
    typed-in answers does not."""
    course = Course()
    seeds = [DEFAULT_SEED] + [str(int.from_bytes(os.urandom(4), "big")) for _ in range(args.seeds or 3)]
    runs = {seed: course.judge(course.exercises, seed) for seed in seeds}
    total = 0
    for i, ex in enumerate(course.exercises):
        states = [runs[seed][i].state for seed in seeds]
        worst = next((state for state in states if state != "done"), "done")
        points = judge.points_of(ex, [runs[seed][i] for seed in seeds])
        total += points
        at = f", seed {seeds[states.index(worst)]}" if worst in judge.FAILED_STATES else ""
        state = board.paint(f"{worst:<12}", worst, course.colour)
        print(f"  {ex.number:<5} {ex.id:<12} {state} {points:3} of {ex.points:3}{at}")
    course.keep(runs[DEFAULT_SEED])
    print(f"{total} of {sum(ex.points for ex in course.exercises)} points; seeds {', '.join(seeds)}; {results.path()}")
    return 0


def command_prove(args, kinds=("starter", "stubs", "solution", "mutants")):
    course = Course()
    exercises = [course.catalog.find(args.name)] if args.name else course.exercises
    course.write_make_files()
    n_faults = 0
    for ex, faults in proof.prove_all(exercises, course.graph, ROOT, kinds, args.seeds or proof.SEEDS, args.record):
        print(f"{'FAILED' if faults else 'ok    '}  {ex.id}", flush=True)
        if faults:
            show([f"    {fault}" for fault in faults])
        n_faults += len(faults)
    return 1 if n_faults else 0


def command_mutants(args):
    return command_prove(args, ("mutants",))


def command_starters(args):
    return command_prove(args, ("starter", "stubs", "solution"))
