"""Commands for make (link) and for upstream (the proofs)."""
import sys

from ladder import judge, proof, results, sources as source_graph
from ladder.catalog import ROOT, Misused
from ladder.workplace import Course, show


def command_link(_args):
    """Before programs are built: judges what has changed since it was last judged, then lists what is
    linked. Says nothing when nobody has begun."""
    course = Course()
    known, passed = results.by_id(), course.progress.passed()
    touched = [ex for ex in course.exercises if not (ROOT / ex.file).is_file() or not judge.is_untouched(ex)]
    stale = []
    for ex in touched:
        now = source_graph.fingerprint(course.graph, ex)
        has_failed = ex.id in known and known[ex.id]["fingerprint"] == now and known[ex.id]["state"] != "done"
        if passed.get(ex.id) != now and not has_failed:
            stale.append(ex)
    if stale:
        course.keep(course.judge(stale))
    mine = course.write_make_files()
    for ex in touched:
        if ex.id not in mine:
            print(f"{ex.id}: yours has not passed as it stands; the reference is linked; make test EX={ex.id}",
                  file=sys.stderr)
    return 0


def command_prove(args, kinds=("starter", "stubs", "solution", "mutants")):
    course = Course()
    exercises = [course.catalog.find(args.name)] if args.name else course.exercises
    course.write_make_files()
    if not (args.seeds or "1").isdecimal():
        raise Misused(f"--seeds {args.seeds}: how many")
    n_seeds, n_faults = int(args.seeds or proof.SEEDS), 0
    for ex, faults in proof.prove_all(exercises, course.graph, ROOT, kinds, n_seeds, args.record):
        print(f"{'FAILED' if faults else 'ok    '}  {ex.id}", flush=True)
        if faults:
            show([f"    {fault}" for fault in faults])
        n_faults += len(faults)
    return 1 if n_faults else 0


def command_mutants(args):
    return command_prove(args, ("mutants",))


def command_starters(args):
    return command_prove(args, ("starter", "stubs", "solution"))
