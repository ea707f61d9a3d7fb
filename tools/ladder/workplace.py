"""What nearly every command needs: the catalog, the include graph, what is remembered, and the board."""
import os
import sys
from pathlib import Path

from ladder import board, build, catalog, cut, judge, progress as memory, results, words
from ladder import sources as source_graph
from ladder.catalog import ROOT, Misused
from ladder.suite import DEFAULT_SEED


class Course:
    """What nearly every command needs."""

    def __init__(self):
        self.catalog = catalog.load()
        self.exercises = self.catalog.exercises
        self.graph = source_graph.Sources(ROOT, {ex.file for ex in self.exercises})
        self.copies_told = False
        self.progress = memory.Progress()
        self.colour = board.has_colour()

    def find(self, name, command):
        if not name:
            raise Misused(f"{command}: which one? As in make {command} EX={self.exercises[0].id}. "
                          f"There are: {', '.join(ex.id for ex in self.exercises)}")
        return self.catalog.find(name)

    def lines_of(self, ex):
        """How many lines there are to write."""
        return cut.lines_to_write(*self.marked(ex))

    def functions_of(self, ex):
        """Names of the functions with something to write in them."""
        return words.exercise_functions(*self.marked(ex))

    def marked(self, ex):
        text = (ROOT / ex.solution).read_text()
        return text, cut.regions_of(text, ex.solution, ex.id)

    def records(self):
        """What is known of each exercise as its file stands now: {id: record}."""
        known, out = results.by_id(), {}
        for ex in self.exercises:
            record = known.get(ex.id)
            if not (ROOT / ex.file).is_file():
                out[ex.id] = results.record_of(judge.gone(ex))
            elif judge.is_untouched(ex):
                continue
            elif record and record["fingerprint"] == source_graph.fingerprint(self.graph, ex):
                out[ex.id] = record
            else:
                out[ex.id] = {"state": "changed", "tests": [], "n_passed": 0, "n_failed": 0,
                              "message": "not judged yet: make test"}
        return out

    def write_make_files(self):
        """suites.mk and modules.mk; the learner's modules that programs are linked with."""
        folder = Path(build.build_dir())
        self.tell_copies()
        mine = memory.choose_mine(self.catalog, self.graph, self.progress, source_graph.fingerprint)
        build.write_if_changed(folder / "suites.mk", build.suites_mk(self.catalog, self.graph))
        build.write_if_changed(folder / "modules.mk", build.modules_mk(self.catalog, mine))
        build.write_sums(self.exercises, folder, ROOT)
        return mine

    def tell_copies(self):
        for name in self.graph.copies if not self.copies_told else ():
            print(f"{name}: looks like a copy of an exercise and is not built; outside of {Path(name).parent} "
                  "it is out of the way", file=sys.stderr)
        self.copies_told = True

    def judge(self, exercises, seed=DEFAULT_SEED, only=None):
        self.write_make_files()
        return judge.judge(exercises, self.graph, seed, only)

    def keep(self, verdicts, engine_tally=None, grade=None):
        """Writes results and passes down; says which exercises passed for the first time. What another
        sanitizer saw (make race, SAN=) is no pass."""
        with build.lock(build.build_dir()):  # another run keeps its verdicts, too
            document = results.save(verdicts, self.catalog, engine_tally, grade)
            first = [] if "SAN" in os.environ else self.progress.remember(verdicts)
            self.write_make_files()
        return {record["id"]: record for record in document["exercises"]}, first


def show(lines):
    print("\n".join(lines))


def show_board(course):
    records = course.records()
    print(board.tally_line(course.catalog, records, course.progress.level()))
    show(board.board(course.catalog, records, course.lines_of, course.progress.level(), course.colour))
    for name, record in records.items():
        if record["state"] in ("skipped", "blocked"):
            print(f"{name}: {record['state']}: {record['message']}")
