#!/usr/bin/env python3
"""What is remembered between commands, and what is made of it when somebody or something damaged it."""
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import course, entry, fill  # noqa: E402
from ladder import build, progress, results  # noqa: E402
from ladder.catalog import Misused, Refused  # noqa: E402
from ladder.judge import Verdict  # noqa: E402
from ladder.suite import Test  # noqa: E402

COURSE = course(entry("turn"), entry("push"), entry("pull"))
TURN, PUSH, PULL = COURSE.exercises
GARBAGE = b"\0\xff garbage\nturn\n\n x y z\nturn x\nturn \xc2\xb2\n"


def verdict(ex, state="done", fingerprint="f1", tests=()):
    return Verdict(ex, state, fingerprint=fingerprint, tests=list(tests))


class InAFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="progress ")
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        self.memory = progress.Progress(self.root)

    def variable(self, name, value):
        before = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name) if before is None else os.environ.update({name: before}))


class Memory(InAFolder):
    def test_nothing_is_known_at_first_and_asking_writes_nothing(self):
        memory = self.memory
        self.assertEqual((memory.passed(), memory.level(), memory.hints(), memory.hints_read("turn")), ({}, None, {}, 0))
        self.assertEqual(list(self.root.iterdir()), [])

    def test_a_pass_is_kept_with_its_fingerprint_until_it_is_lost(self):
        self.assertEqual(self.memory.remember([verdict(TURN), verdict(PUSH, "wrong")]), ["turn"])
        self.assertEqual(self.memory.passed(), {"turn": "f1"})
        self.assertEqual(self.memory.remember([verdict(PUSH, fingerprint="f2")]), ["push"])
        self.assertEqual(self.memory.passed(), {"turn": "f1", "push": "f2"})
        self.memory.remember([verdict(TURN, "crash")])
        self.assertEqual(self.memory.passed(), {"push": "f2"})

    def test_the_first_time_comes_once(self):
        for state, first in (("wrong", []), ("done", ["turn"]), ("done", []), ("wrong", []), ("done", [])):
            self.assertEqual(self.memory.remember([verdict(TURN, state)]), first)

    def test_level_and_hints(self):
        self.memory.set_level(3)
        self.memory.set_hints_read("turn", 1)
        self.memory.set_hints_read("push", 2)
        self.memory.set_hints_read("turn", 3)
        self.assertEqual((self.memory.level(), self.memory.hints()), (3, {"turn": 3, "push": 2}))

    def test_garbage_is_nothing_known(self):
        folder = self.root / ".course"
        folder.mkdir()
        for name in ("passed", "ever-passed", "hints", "level"):
            (folder / name).write_bytes(GARBAGE)
        self.assertEqual((self.memory.level(), self.memory.hints()), (None, {}))
        self.assertNotIn("f1", self.memory.passed().values())
        self.memory.set_level(2)  # and is written over
        self.memory.set_hints_read("turn", 1)
        self.memory.remember([verdict(TURN)])
        self.assertEqual((self.memory.level(), self.memory.hints(), self.memory.passed()["turn"]), (2, {"turn": 1}, "f1"))

    def test_where_nothing_can_be_written_a_sentence_says_so(self):
        fill(self.root, {".course": "a file where the folder should be"})
        with self.assertRaisesRegex(Refused, r"\.course/level: .*; this tree cannot be written: copy it to where"):
            self.memory.set_level(1)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_is_read_only(self):
        self.root.chmod(0o500)
        self.addCleanup(self.root.chmod, 0o700)
        with self.assertRaisesRegex(Refused, "Permission denied; this tree cannot be written"):
            self.memory.remember([verdict(TURN)])


class Write(InAFolder):
    def test_the_same_text_leaves_the_file_alone(self):
        path = self.root / "deep" / "x"
        self.assertTrue(build.write_if_changed(path, "one\n"))
        os.utime(path, ns=(5, 5))
        self.assertFalse(build.write_if_changed(path, "one\n"))
        self.assertEqual(path.stat().st_mtime_ns, 5)
        self.assertTrue(build.write_if_changed(path, "two\n"))
        self.assertEqual((path.read_text(), path.stat().st_mtime_ns == 5), ("two\n", False))

    def test_bytes_that_are_no_text_are_written_over(self):
        (self.root / "x").write_bytes(b"\xff\xfe")
        self.assertTrue(build.write_if_changed(self.root / "x", "one\n"))

    def test_no_half_file_stays(self):
        (self.root / "x" / "inside").mkdir(parents=True)  # cannot be replaced by a file
        with self.assertRaises(Refused):
            build.write_if_changed(self.root / "x", "one\n")
        self.assertEqual([path.name for path in self.root.iterdir()], ["x"])


class Mine(InAFolder):
    """Which modules programs are linked with."""

    def setUp(self):
        super().setUp()
        fill(self.root, {ex.file: "" for ex in (TURN, PUSH)})
        self.memory.remember([verdict(TURN), verdict(PUSH, fingerprint="an older one")])

    def mine(self, **variables):
        for name in ("MINE", "REF"):
            self.variable(name, variables.get(name, ""))
        return progress.choose_mine(COURSE, None, self.memory, lambda _graph, _exercise: "f1")

    def test_what_has_passed_as_it_stands(self):
        self.assertEqual(self.mine(), {"turn"})

    def test_what_was_asked_for(self):
        self.assertEqual(self.mine(MINE="push"), {"turn", "push"})
        self.assertEqual(self.mine(MINE="push,turn"), {"turn", "push"})
        self.assertEqual(self.mine(MINE=" L1.2  L1.1 "), {"turn", "push"})
        self.assertEqual(self.mine(REF="turn"), set())
        self.assertEqual(self.mine(REF="all"), set())
        self.assertEqual(self.mine(MINE="push", REF="turn, pull"), {"push"})

    def test_a_name_that_nobody_has(self):
        for variable in ("MINE", "REF"):
            with self.assertRaisesRegex(Misused, "no exercise 'trun'; did you mean turn"):
                self.mine(**{variable: "push trun"})

    def test_a_file_that_is_not_there(self):
        for asked in ("pull", "all"):
            with self.assertRaisesRegex(Refused, "MINE=pull: level1-user/pull.c is not there; make reset EX=pull"):
                self.mine(MINE=asked)
        fill(self.root, {PULL.file: ""})
        self.assertEqual(self.mine(MINE="all"), {"turn", "push", "pull"})


class Results(InAFolder):
    def setUp(self):
        super().setUp()
        self.variable("BUILD", str(self.root / "build"))

    def ids(self):
        return [(record["id"], record["state"]) for record in results.load()["exercises"]]

    def test_what_was_judged_now_joins_what_was_judged_before(self):
        results.save([verdict(PUSH)], COURSE, {"passed": 812})
        results.save([verdict(TURN, "wrong")], COURSE)
        self.assertEqual(self.ids(), [("turn", "wrong"), ("push", "done")])
        results.save([verdict(TURN)], COURSE)
        self.assertEqual(self.ids(), [("turn", "done"), ("push", "done")])
        self.assertEqual(results.load()["engine"], {"passed": 812})

    def test_an_exercise_that_is_no_more_is_forgotten(self):
        results.save([verdict(TURN), verdict(PULL)], COURSE)
        results.save([], course(entry("turn")))
        self.assertEqual(self.ids(), [("turn", "done")])

    def test_another_schema_or_half_a_file_is_no_result(self):
        newer = json.dumps({"schema": results.SCHEMA + 1, "exercises": [{"id": "turn"}]})
        for text in ("", "{", "[]", "null", '"x"', "{}", newer):
            fill(self.root, {"build/results.json": text})
            self.assertEqual((results.load(), results.by_id()), ({}, {}), text)
            results.save([verdict(TURN)], COURSE)
            self.assertEqual(self.ids(), [("turn", "done")])
        (self.root / "build/results.json").write_bytes(b"\xff")
        self.assertEqual(results.load(), {})

    def test_a_record_that_somebody_edited_is_no_record(self):
        results.save([verdict(TURN, tests=[Test("a[0]", "edges", "pass")]), verdict(PUSH)], COURSE)
        good = results.load()
        self.assertEqual(set(results.by_id()), {"turn", "push"})
        for name in results.FIELDS:
            for value in ({}, 1.5, None):
                turn = {**good["exercises"][0], name: value}
                fill(self.root, {"build/results.json": json.dumps({**good, "exercises": [turn, good["exercises"][1]]})})
                self.assertEqual(set(results.by_id()), {"push"}, (name, value))
        for name in results.TEST_FIELDS:
            test = {key: value for key, value in good["exercises"][0]["tests"][0].items() if key != name}
            turn = {**good["exercises"][0], "tests": [{**test, **({name: {}} if name in ("called", "got", "want", "index",
                    "tolerance_used") else {})}]}
            fill(self.root, {"build/results.json": json.dumps({**good, "exercises": [turn]})})
            self.assertEqual(results.by_id(), {}, name)
        for exercises in (None, {"a": 1}, ["a"], [None], 3):
            fill(self.root, {"build/results.json": json.dumps({**good, "exercises": exercises})})
            self.assertEqual(results.by_id(), {}, exercises)
        fill(self.root, {"build/results.json": "[" * 100000})
        self.assertEqual(results.by_id(), {})

    def test_a_record_says_all_about_a_test(self):
        tests = [Test("a[0]", "edges", "pass", ms=1.5), Test("b[2]", "edges", "wrong", "x[1] = 3, want 4", "tests/x.c:9",
                 {"what": "turn(2) x", "index": 1, "got": "3", "want": "4", "used": 120.5}), Test("c[0]", "edges", "not started")]
        record = results.record_of(verdict(TURN, "wrong", tests=tests))
        self.assertEqual((record["n_passed"], record["n_failed"], record["n_tests"], record["points"]), (1, 1, 4, 0))
        self.assertEqual(record["tests"][1], {
            "id": "b[2]", "exercise": "turn", "case": "edges", "cause": "wrong", "message": "x[1] = 3, want 4",
            "where": "tests/x.c:9", "called": "turn(2) x", "got": "3", "want": "4", "index": 1, "tolerance_used": 120.5,
            "seed": "1", "replay": "make test EX=turn ONLY='b[2]' SEED=1", "ms": 0.0, "points": 0})
        self.assertEqual([test["points"] for test in record["tests"]], [1.0, 0, 0])

    def test_points_are_for_what_is_done(self):
        self.assertEqual(results.record_of(verdict(TURN))["points"], 4)
        self.assertEqual(results.record_of(verdict(TURN, "compile"))["n_failed"], 1)


if __name__ == "__main__":
    unittest.main()
