"""build/results.json: how each exercise ended when it was last judged, test by test. The board is a view of
it; so are adapters of graders."""
import json
from pathlib import Path

from ladder import build, judge

SCHEMA = 1
FIELDS = {"id": str, "state": str, "message": str, "fingerprint": str, "n_passed": int, "n_failed": int,
          "output": str, "tests": list}
WORDS = (str, type(None))
TEST_FIELDS = {"id": str, "exercise": str, "case": str, "cause": str, "message": str, "where": str, "called": WORDS,
               "got": WORDS, "want": WORDS, "index": (int, type(None)), "tolerance_used": (int, float, type(None)),
               "seed": str, "replay": str}


def path():
    return Path(build.build_dir(), "results.json")


def load():
    try:
        document = json.loads(path().read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) and document.get("schema") == SCHEMA else {}


def by_id():
    """{exercise id: what its last run said}. What is no record any more, because somebody edited it, is left
    out, and its exercise is judged again."""
    records = load().get("exercises")
    return {record["id"]: record for record in (records if isinstance(records, list) else [])
            if has_fields(record, FIELDS) and all(has_fields(test, TEST_FIELDS) for test in record["tests"])}


def has_fields(record, fields):
    return isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in fields.items())


def record_of_test(verdict, test, points):
    differs = test.differs
    replay = f"make test EX={verdict.exercise.id} ONLY='{test.name}' SEED={verdict.seed}"
    return {"id": test.name, "exercise": verdict.exercise.id, "case": test.case, "cause": test.cause,
            "message": test.message, "where": test.where, "called": differs.get("what"), "got": differs.get("got"),
            "want": differs.get("want"), "index": differs.get("index"), "tolerance_used": differs.get("used"),
            "seed": verdict.seed, "replay": replay, "ms": round(test.ms, 3),
            "points": points if test.cause == "pass" else 0}


def parts_of(verdict):
    """How each part of an exercise stands: done, wrong, started or not started."""
    out = {}
    for part in verdict.exercise.parts:
        causes = {test.cause for test in verdict.tests if test.case.split()[0] == part.name}
        if causes - {"pass", "not started"}:
            out[part.name] = "wrong"
        elif causes:
            out[part.name] = {("pass",): "done", ("not started",): "not started"}.get(tuple(causes), "started")
    return out


def record_of(verdict):
    ex = verdict.exercise
    share = ex.points / ex.tests if ex.tests else 0
    return {"id": ex.id, "number": ex.number, "state": verdict.state, "message": verdict.message,
            "fingerprint": verdict.fingerprint, "n_tests": ex.tests, "n_passed": verdict.n_passed,
            "n_failed": verdict.n_failed, "points": judge.points_of(ex, [verdict]),
            "points_possible": ex.points, "parts": parts_of(verdict), "output": verdict.output[-2000:],
            "tests": [record_of_test(verdict, test, round(share, 3)) for test in verdict.tests]}


def save(verdicts, course, engine=None, grade=None):
    """Merges what was judged now into what was judged before; order as in course.json. A grade holds for the
    verdicts that it came with."""
    records = by_id()
    records.update({verdict.exercise.id: record_of(verdict) for verdict in verdicts})
    document = {"schema": SCHEMA, "engine": engine or load().get("engine"), "grade": grade,
                "exercises": [records[ex.id] for ex in course.exercises if ex.id in records]}
    build.write_if_changed(path(), json.dumps(document, indent=1) + "\n")
    return document
