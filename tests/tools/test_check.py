#!/usr/bin/env python3
"""The checks upstream: all of them run, two beside each other, none before what it needs."""
import contextlib
import io
import re
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check as tool  # noqa: E402
import run_tests  # noqa: E402
from check import Check  # noqa: E402

WAIT = "touch {0}; for i in $(seq 600); do [ -e {1} ] && exit; sleep 0.05; done; exit 1"


class RunAll(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_all(self, *checks):
        """(passed, failed, skipped), the lines that were printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), ThreadPoolExecutor(tool.AT_A_TIME) as pool:
            counts = tool.run_all(checks, run_tests.Programs(), pool)
        return counts, re.sub(r" \(\d+ s\)", "", out.getvalue()).splitlines()

    def test_a_failure_is_shown_and_the_rest_still_runs(self):
        counts, lines = self.run_all(Check("a", "echo so; exit 3"), Check("b", "true", ("a",)))
        self.assertEqual((counts, lines), ((1, 1, 0), ["FAILED   a: echo so; exit 3", "    so", "ok       b"]))

    def test_what_cannot_run_here_says_why(self):
        counts, lines = self.run_all(Check("a", "echo so; echo no such thing; exit 77"))
        self.assertEqual((counts, lines), ((0, 0, 1), ["skipped  a: no such thing"]))

    def test_two_run_beside_each_other(self):
        a, b = f"{self.folder}/a", f"{self.folder}/b"
        counts, _ = self.run_all(Check("a", WAIT.format(a, b)), Check("b", WAIT.format(b, a)))
        self.assertEqual(counts, (2, 0, 0))

    def test_what_needs_another_waits_for_it_and_what_does_not_goes_first(self):
        made = f"{self.folder}/made"
        counts, lines = self.run_all(Check("make", f"sleep 0.3; touch {made}"), Check("use", f"test -e {made}", ("make",)),
                                     Check("else", "true"))
        self.assertEqual((counts, lines), ((3, 0, 0), ["ok       else", "ok       make", "ok       use"]))

    def test_what_was_not_chosen_is_not_waited_for(self):
        self.assertEqual(self.run_all(Check("use", "true", ("make",)))[0], (1, 0, 0))

    def test_every_name_is_there_once_and_is_needed_by_names_that_exist(self):
        names = [check.name for check in tool.checks()]
        self.assertEqual(len(names), len(set(names)))
        for check in tool.checks():
            for name in check.after:
                self.assertIn(name, names[:names.index(check.name)])  # so that none waits for ever


if __name__ == "__main__":
    unittest.main()
