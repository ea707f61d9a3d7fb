#!/usr/bin/env python3
"""What a verdict is worth, and what is never held against a learner."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import course_of_one as one  # noqa: E402
from ladder import judge  # noqa: E402
from ladder.suite import Test  # noqa: E402


def verdict(ex, state, **causes):
    """Cause of each test, by its TCase; several stand in a list."""
    tests = [Test(f"{case}[{i}]", case.replace("_", " "), cause)
             for case, listed in causes.items() for i, cause in enumerate(listed)]
    return judge.Verdict(ex, state, tests=tests)


class Points(unittest.TestCase):
    def setUp(self):
        self.whole = one.exercise(tests=2)
        self.parts = one.exercise(parts=("front", "back"), tests=4)

    def points(self, ex, *verdicts):
        return judge.points_of(ex, verdicts)

    def test_what_is_done_gives_all(self):
        self.assertEqual(self.points(self.whole, verdict(self.whole, "done", edges=["pass", "pass"])), 4)

    def test_half_of_what_has_no_parts_gives_nothing(self):
        self.assertEqual(self.points(self.whole, verdict(self.whole, "started", edges=["pass", "not started"])), 0)

    def test_a_part_counts_when_all_its_tests_pass(self):
        ex = self.parts
        half = verdict(ex, "started", front=["pass"], front_edges=["pass"], back=["not started", "not started"])
        wrong = verdict(ex, "wrong", front=["pass", "wrong"], back=["pass", "pass"])
        self.assertEqual(self.points(ex, half), 2)
        self.assertEqual(self.points(ex, wrong), 2)

    def test_on_every_seed(self):
        ex = self.parts
        front = verdict(ex, "wrong", front=["pass", "pass"], back=["pass", "wrong"])
        back = verdict(ex, "wrong", front=["wrong", "pass"], back=["pass", "pass"])
        self.assertEqual(self.points(ex, front, back), 0)
        self.assertEqual(self.points(ex, front, front), 2)

    def test_tests_that_did_not_run_give_nothing(self):
        ex = self.parts
        self.assertEqual(self.points(ex, verdict(ex, "timeout", front=["pass", "pass"], back=["timeout"])), 0)
        self.assertEqual(self.points(ex, judge.Verdict(ex, "compile")), 0)


class State(unittest.TestCase):
    def test_who_ends_the_suite_itself_has_not_passed(self):
        ex = one.exercise(tests=3)
        run = judge.suite.Run([Test("a[0]", "edges", "pass")], "1", signal=9)
        state, message = judge.state_of(run, ex, whole=True)
        self.assertEqual(state, "crash")
        self.assertIn("ended by signal 9", message)


class Machine(unittest.TestCase):
    def test_a_suite_that_cannot_be_run_is_not_the_learners_fault(self):
        ex = one.exercise()
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "suite")
            program.write_text("no program")  # and no right to run it
            got = judge.judge_run(ex, program, "1", None, None, "")
        self.assertEqual((got.state, got.n_failed), ("blocked", 0))
        self.assertIn("Permission denied", got.message)


if __name__ == "__main__":
    unittest.main()
