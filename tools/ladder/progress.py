"""What is remembered between commands, under .course (never under version control): which modules have
passed as they stand, the level the learner works at, how many hints were read."""
import os

from ladder import build
from ladder.catalog import ROOT, Refused

class Progress:
    def __init__(self, root=ROOT):
        self.root = root
        self.folder = root / ".course"

    def read(self, name):
        """A file's text; what cannot be read was never written."""
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
        """Takes verdicts on whole suites over; ids of the exercises that passed for the first time."""
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
        return int(text) if text.isdecimal() else None

    def set_level(self, level):
        self.write("level", f"{level}\n")

    # ---- how many hints of each exercise were read: lines "id count" ----

    def hints(self):
        lines = [line.split() for line in self.read("hints").splitlines()]
        return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdecimal()}

    def hints_read(self, exercise_id):
        return self.hints().get(exercise_id, 0)

    def set_hints_read(self, exercise_id, n):
        counts = {**self.hints(), exercise_id: n}
        self.write("hints", "".join(f"{key} {counts[key]}\n" for key in sorted(counts)))


def choose_mine(course, graph, progress, fingerprint):
    """Ids of the modules that programs take from the learner: passed as they stand, or asked for by
    MINE= and REF= (both "all" or ids)."""
    def asked(variable):
        words = os.environ.get(variable, "").replace(",", " ").split()
        return {ex.id for ex in course.exercises} if words == ["all"] else {course.find(word).id for word in words}

    passed = progress.passed()
    mine = {ex.id for ex in course.exercises if ex.id in passed and passed[ex.id] == fingerprint(graph, ex)}
    wanted = asked("MINE")
    for ex in course.exercises:
        if ex.id in wanted and not (progress.root / ex.file).is_file():
            raise Refused(f"MINE={ex.id}: {ex.file} is not there; make reset EX={ex.id} brings it back")
    return (mine | wanted) - asked("REF")
