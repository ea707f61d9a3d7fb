#!/usr/bin/env python3
"""What is made anew, and what is left alone since nothing that it depends on has changed."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import course_of_one  # noqa: E402  it finds the tools
import refresh as tool  # noqa: E402
from ladder.catalog import Refused  # noqa: E402


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        root, tool.ROOT = tool.ROOT, self.root
        self.addCleanup(setattr, tool, "ROOT", root)

    def write(self, files):
        course_of_one.fill(self.root, files)


class Stale(InAFolder):
    def test_a_digest_changes_with_contents_names_and_words(self):
        self.write({"a": "1", "b": "2"})
        whole = tool.digest_of(["a", "b"])
        self.assertEqual(whole, tool.digest_of(["b", "a", "a"]))
        self.assertNotEqual(whole, tool.digest_of(["a", "b"], 5))
        self.assertNotEqual(whole, tool.digest_of(["a", "b", "gone"]))
        self.write({"b": "3"})
        self.assertNotEqual(whole, tool.digest_of(["a", "b"]))

    def test_stamps_are_kept_and_a_broken_file_of_them_holds_for_nothing(self):
        path = self.root / "build/refresh.json"
        self.assertFalse(tool.Stamps(path).holds("page a", "1"))
        tool.Stamps(path).put("page a", "1")
        self.assertTrue(tool.Stamps(path).holds("page a", "1"))
        self.assertFalse(tool.Stamps(path).holds("page a", "2"))
        path.write_text("{")
        self.assertFalse(tool.Stamps(path).holds("page a", "1"))

    def test_words_that_no_program_reads_make_no_output_stale(self):
        for name in ("docs/api.md", "README.md", ".ci/run", "tests/level1/test_turn.c", "tests/reference/ask.py"):
            self.assertTrue(tool.TEXT.match(name), name)
        for name in ("common/half.c", "data/prices.json", "tests/support/suite.c", "tests/mutants/rope.json", "Makefile",
                     "tools/lesson/README.md", "level1-user/docs/a.c"):
            self.assertFalse(tool.TEXT.match(name), name)

    def test_what_depends_on_one_exercise_only_is_known_by_its_command(self):
        for command in ("make test EX=rope", "make next", "make next EX=rope", "make status"):
            self.assertTrue(tool.OF_EXERCISE.match(command), command)
        for command in ("make test", "make run", "make all && build/bin/bill", "make test EX=rope; build/bin/ask"):
            self.assertFalse(tool.OF_EXERCISE.match(command), command)


class Counts(InAFolder):
    def suite(self, script):
        self.write({"test/suites/turn": f"#!/bin/sh\n{script}\n"})
        (self.root / "test/suites/turn").chmod(0o755)
        os.environ["BUILD"] = str(self.root)
        self.addCleanup(os.environ.pop, "BUILD", None)

    def test_the_number_of_tests_is_what_the_suite_says(self):
        self.suite("echo so; echo '7 passed, 0 failed'")
        exercises = [course_of_one.exercise("other", tests=4), course_of_one.exercise("turn", tests=4)]
        text = json.dumps(course_of_one.document(*(course_of_one.entry(ex.id) for ex in exercises)), indent=2)
        self.write({"course.json": text})
        tool.refresh_counts(exercises[1:])
        got = json.loads((self.root / "course.json").read_text())["exercises"]
        self.assertEqual([(ex["id"], ex["tests"]) for ex in got], [("other", 4), ("turn", 7)])
        self.assertEqual((self.root / "course.json").read_text(), text[::-1].replace('"tests": 4'[::-1], '"tests": 7'[::-1], 1)[::-1])

    def test_a_suite_that_fails_on_the_reference_counts_nothing(self):
        for script in ("echo '6 passed, 1 failed'; exit 1", "echo '7 passed, 0 failed'; exit 1", "exit 0"):
            self.suite(script)
            with self.assertRaisesRegex(Refused, "make suite S=turn"):
                tool.count_of("tests/level1/test_turn.c")


class Told(InAFolder):
    def test_the_files_that_changed_are_named_and_a_fault_is_an_error(self):
        self.write({"a": "1", "b": "1", "build/x": "1"})

        def work(_stamps):
            self.write({"b": "2", "c": "1", "build/x": "2"})
            yield "turn: the mutant upside-down survives"

        whole, tool.refresh = tool.refresh, work
        self.addCleanup(setattr, tool, "refresh", whole)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(tool.main(), 1)
        self.assertEqual(out.getvalue(), "FAILED   turn: the mutant upside-down survives\n"
                                         "refresh: 2 files have changed\n  b\n  c\n")


if __name__ == "__main__":
    unittest.main()
