"""What is remembered between commands, under .course (never under version control): which modules have
passed as they stand, the level the learner works at, how many hints were read; and build/results.json, of
which the board is a view."""
import json
import os
from pathlib import Path

from ladder import build
from ladder.catalog import ROOT, Refused

SCHEMA = 1


class Progress:
    def __init__(self, root=ROOT):
        self.root = root
        self.folder = root / ".course"

    def read(self, name):
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""

    def write(self, name, text):
        build.write_if_changed(self.folder / name, text)

    # ---- which modules have passed: lines "id sha256" ----

    def passed(self):
        lines = [line.split() for line in self.read("passed").splitlines()]
        return {words[0]: words[1] for words in lines if len(words) == 2}

    def remember(self, verdicts):
        """Takes verdicts on whole suites over; True for each exercise that passed for the first time."""
        passed, ever = self.passed(), set(self.read("ever-passed").split())
        first = [v.exercise.id for v in verdicts if v.state == "done" and v.exercise.id not in ever]
        for verdict in verdicts:
            passed.pop(verdict.exercise.id, None)
            if verdict.state == "done":
                passed[verdict.exercise.id] = verdict.fingerprint
        if first or passed != self.passed():
            self.write("passed", "".join(f"{key} {passed[key]}\n" for key in sorted(passed)))
        if first:
            self.write("ever-passed", "".join(f"{name}\n" for name in sorted(ever | set(first))))
        return first

    # ---- the level that `make levelN` made current ----

    def level(self):
        text = self.read("level").strip()
        return int(text) if text.isdigit() else None

    def set_level(self, level):
        self.write("level", f"{level}\n")

    def hints(self):
        lines = [line.split() for line in self.read("hints").splitlines()]
        return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}

    def hints_read(self, exercise_id):
        return self.hints().get(exercise_id, 0)

    def set_hints_read(self, exercise_id, n):
        counts = {**self.hints(), exercise_id: n}
        self.write("hints", "".join(f"{key} {counts[key]}\n" for key in sorted(counts)))


def results_path():
    return Path(build.build_dir(), "results.json")


def load_results():
    try:
        document = json.loads(results_path().read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) and document.get("schema") == SCHEMA else {}


def known_records():
    """{exercise id: what its last run said}."""
    return {record["id"]: record for record in load_results().get("exercises", [])}


def test_record(verdict, test, points):
    differs = test.differs
    replay = f"make test EX={verdict.exercise.id} ONLY='{test.name}' SEED={verdict.seed}"
    return {"id": test.name, "exercise": verdict.exercise.id, "case": test.case, "cause": test.cause,
            "message": test.message, "where": test.where, "called": differs.get("what"), "got": differs.get("got"),
            "want": differs.get("want"), "index": differs.get("index"), "tolerance_used": differs.get("used"),
            "seed": verdict.seed, "replay": replay, "ms": round(test.ms, 3), "points": points if test.cause == "pass" else 0}


def exercise_record(verdict):
    ex = verdict.exercise
    share = ex.points / ex.tests if ex.tests else 0
    return {"id": ex.id, "number": ex.number, "state": verdict.state, "message": verdict.message,
            "fingerprint": verdict.fingerprint, "n_tests": ex.tests, "n_passed": verdict.n_passed,
            "n_failed": verdict.n_failed, "points": ex.points if verdict.state == "done" else 0,
            "points_possible": ex.points, "output": verdict.output[-2000:],
            "tests": [test_record(verdict, test, round(share, 3)) for test in verdict.tests]}


def save_results(verdicts, course, engine=None):
    """Merges what was judged now into what was judged before; order as in course.json."""
    records = known_records()
    records.update({verdict.exercise.id: exercise_record(verdict) for verdict in verdicts})
    document = {"schema": SCHEMA, "engine": engine or load_results().get("engine"),
                "exercises": [records[ex.id] for ex in course.exercises if ex.id in records]}
    build.write_if_changed(results_path(), json.dumps(document, indent=1) + "\n")
    return document


def choose_mine(course, graph, progress, fingerprint):
    """Ids of the modules that programs take from the learner: passed as they stand, or asked for by
    MINE= and REF= (both "all" or ids)."""
    def asked(variable):
        words = os.environ.get(variable, "").replace(",", " ").split()
        return {ex.id for ex in course.exercises} if words == ["all"] else {course.find(word).id for word in words}

    passed = progress.passed()
    mine = {ex.id for ex in course.exercises if passed.get(ex.id) == fingerprint(graph, ex)}
    wanted = asked("MINE")
    for ex in course.exercises:
        if ex.id in wanted and not (progress.root / ex.file).is_file():
            raise Refused(f"MINE={ex.id}: {ex.file} is not there; make reset EX={ex.id} brings it back")
    return (mine | wanted) - asked("REF")
