"""Wrong solutions on purpose: a small edit of the reference each, with the misconception behind it.

tests/mutants/ID.json lists them; tests/mutants/records/ID.json, written by `course.py mutants --record`,
says which tests each one fails at the default seed, and how. A learner's failures that equal a record
tell what the learner may have misunderstood. No match, no claim.
"""
import json
import math
import re

from ladder import cut
from ladder.catalog import ROOT, Refused

MIN_MUTANTS, MAX_MUTANTS, MAX_WORDS = 3, 8, 100
KEYS = {"name", "old", "new", "misconception"}


def path_of(exercise, root=ROOT):
    return root / "tests" / "mutants" / f"{exercise.id}.json"


def record_path(exercise, root=ROOT):
    return root / "tests" / "mutants" / "records" / f"{exercise.id}.json"


def load(exercise, root=ROOT):
    """The mutants of an exercise, each checked against the solution."""
    path = path_of(exercise, root)
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Refused(f"{path.relative_to(root)}: {error}") from error
    mutants, text = document.get("mutants", []), (root / exercise.solution).read_text()
    name = path.relative_to(root)
    if document.get("exercise") != exercise.id:
        raise Refused(f"{name}: belongs to '{document.get('exercise')}', not to {exercise.id}")
    if not MIN_MUTANTS <= len(mutants) <= MAX_MUTANTS:
        raise Refused(f"{name}: {len(mutants)} mutants, must be {MIN_MUTANTS} to {MAX_MUTANTS}")
    for mutant in mutants:
        if set(mutant) != KEYS:
            raise Refused(f"{name}: a mutant has {', '.join(sorted(KEYS))}, and not {', '.join(sorted(mutant))}")
    if len({mutant["name"] for mutant in mutants}) != len(mutants):
        raise Refused(f"{name}: two mutants have one name")
    for mutant in mutants:
        check_mutant(mutant, text, exercise, name)
    return mutants


def check_mutant(mutant, text, exercise, name):
    where = f"{name}: {mutant['name']}"
    n_found = text.count(mutant["old"])
    if n_found != 1:
        raise Refused(f"{where}: its old text stands {n_found} times in {exercise.solution}, not once")
    if mutant["old"] == mutant["new"]:
        raise Refused(f"{where}: changes nothing")
    if len(mutant["misconception"]) > MAX_WORDS or "\n" in mutant["misconception"]:
        raise Refused(f"{where}: the misconception is one line of at most {MAX_WORDS} characters")
    first = text[:text.index(mutant["old"])].count("\n")
    last = first + mutant["old"].count("\n")
    if not any(r.first <= first and last <= r.last for r in cut.regions_of(text, exercise.solution, exercise.id)):
        raise Refused(f"{where}: edits what the learner does not write")


def apply(mutant, text):
    return text.replace(mutant["old"], mutant["new"])


def signature(tests):
    """{failing test: what it saw} of a run."""
    return {test.name: {"cause": test.cause, "index": test.differs.get("index"), "got": test.differs.get("got")}
            for test in tests if test.has_failed}


def save_record(exercise, signatures, seed, root=ROOT):
    path = record_path(exercise, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of_record(exercise, signatures, seed))


def text_of_record(exercise, signatures, seed):
    """A line per failing test, so that a change of a record can be read."""
    out = [f'{{"exercise": "{exercise.id}", "seed": "{seed}", "mutants": {{']
    for i, (name, tests) in enumerate(signatures.items()):
        out.append(f'  "{name}": {{')
        rows = [f"    {json.dumps(test)}: {json.dumps(saw)}" for test, saw in tests.items()]
        out.append(",\n".join(rows))
        out.append("  }" + ("," if i + 1 < len(signatures) else ""))
    out.append("}}")
    return "\n".join(out) + "\n"


def load_record(exercise, root=ROOT):
    try:
        return json.loads(record_path(exercise, root).read_text())
    except (OSError, ValueError):
        return {"seed": "", "mutants": {}}


def stale_in_record(exercise, signatures, root=ROOT):
    """Names of the mutants that fail in another way than the record says, or stand only there."""
    known = load_record(exercise, root)["mutants"]
    return sorted(set(known) - set(signatures)) + [
        name for name, mine in signatures.items()
        if set(known.get(name, {})) != set(mine) or not all(is_same(mine[t], known[name][t]) for t in mine)]


def is_same(mine, theirs):
    """Equal within a tolerance: machines differ in the last digits of a float, not in whole numbers."""
    if mine["cause"] != theirs["cause"] or mine["index"] != theirs["index"]:
        return False
    if mine["got"] == theirs["got"]:
        return True
    try:
        if all(re.fullmatch(r"-?\d+", saw["got"]) for saw in (mine, theirs)):
            return False
        a, b = float(mine["got"]), float(theirs["got"])
    except (TypeError, ValueError):
        return False
    return math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))


def match(exercise, tests, seed, root=ROOT):
    """The misconception whose record equals these failures; None: no claim."""
    record, mine = load_record(exercise, root), signature(tests)
    if not mine or str(record["seed"]) != str(seed):
        return None
    waiting = {test.name for test in tests if test.cause == "not started"}  # they can say nothing yet
    return the_one(exercise, root, [
        name for name, theirs in record["mutants"].items()
        if set(theirs) - waiting == set(mine) and all(is_same(mine[test], theirs[test]) for test in mine)])


def match_first(exercise, tests, seed, root=ROOT):
    """The misconception whose record alone shows the value of the first failure: with two mistakes in a
    file, all failures together equal no record."""
    record, mine = load_record(exercise, root), signature(tests)
    first = next(iter(mine), None)
    if first is None or mine[first]["got"] is None or str(record["seed"]) != str(seed):
        return None
    return the_one(exercise, root, [name for name, theirs in record["mutants"].items()
                                    if first in theirs and is_same(mine[first], theirs[first])])


def the_one(exercise, root, names):
    """The misconception behind a mutant, if it is the only one that fits."""
    if len(names) != 1:
        return None
    try:
        return next(m["misconception"] for m in load(exercise, root) if m["name"] == names[0])
    except (Refused, StopIteration):
        return None


def claim(exercise, tests, seed, root=ROOT):
    """A sentence for the board, or None."""
    whole = match(exercise, tests, seed, root)
    if whole:
        return f"It looks like this: {whole}"
    first = match_first(exercise, tests, seed, root)
    return f"The first failure looks like this: {first}" if first else None
