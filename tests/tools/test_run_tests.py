#!/usr/bin/env python3
"""The test runner must not be fooled: silence, crashes, endless loops and lies count as failures."""
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[2] / "tools" / "run_tests.py"


def run(*scripts, options=()):
    """Runs small shell programs as suites; gives status and output lines."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, script in enumerate(scripts):
            path = Path(folder) / f"suite{i}"
            path.write_text("#!/bin/sh\n" + textwrap.dedent(script))
            path.chmod(0o755)
            paths.append(str(path))
        done = subprocess.run([sys.executable, RUNNER, *options, "--suites", *paths], cwd=folder,
                              capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


class RunTests(unittest.TestCase):
    def test_adds_up_what_suites_say(self):
        status, lines = run("echo '3 passed, 0 failed'", "echo noise; echo '4 passed, 0 failed'")
        self.assertEqual((status, lines[-1]), (0, "7 passed, 0 failed"))

    def test_shows_the_output_of_a_failing_suite(self):
        status, lines = run("echo 'y[3] is wrong'; echo '3 passed, 1 failed'; exit 1")
        self.assertEqual((status, lines[-1]), (1, "3 passed, 1 failed"))
        self.assertIn("    y[3] is wrong", lines)

    def test_a_crash_is_a_failure_and_the_rest_still_runs(self):
        status, lines = run("kill -SEGV $$", "echo '2 passed, 0 failed'")
        self.assertEqual((status, lines[-1]), (1, "2 passed, 1 failed"))

    def test_silence_with_status_0_is_a_failure(self):
        self.assertEqual(run("exit 0")[1][-1], "0 passed, 1 failed")

    def test_a_closing_line_that_is_not_last_does_not_count(self):
        self.assertEqual(run("echo '5 passed, 0 failed'; echo more")[1][-1], "0 passed, 1 failed")

    def test_a_status_that_contradicts_the_sum_is_a_failure(self):
        self.assertEqual(run("echo '5 passed, 0 failed'; exit 1")[1][-1], "5 passed, 1 failed")
        self.assertEqual(run("echo '5 passed, 1 failed'; exit 0")[1][-1], "5 passed, 2 failed")

    def test_a_suite_without_tests_is_a_failure(self):
        self.assertEqual(run("echo '0 passed, 0 failed'")[1][-1], "0 passed, 1 failed")

    def test_some_run_beside_each_other_and_are_told_in_their_order(self):
        wait = "touch {}; for i in $(seq 600); do [ -e {} ] && echo '{} passed, 0 failed' && exit; sleep 0.05; done"
        status, lines = run(wait.format("a", "b", 3), wait.format("b", "a", 4), options=["--jobs", "2"])
        self.assertEqual((status, [line.split()[1] for line in lines[:2]], lines[-1]),
                         (0, ["suite0:", "suite1:"], "7 passed, 0 failed"))

    def test_a_skip_is_named_and_changes_no_status(self):
        status, lines = run("echo 'no GPU here'; exit 77", "echo '1 passed, 0 failed'")
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed"))
        self.assertTrue(any(line.startswith("skipped  suite0: no GPU here") for line in lines))

    def test_a_runner_that_is_ended_ends_what_it_runs(self):
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            with tempfile.TemporaryDirectory() as folder:
                suite, started = Path(folder) / "suite", Path(folder) / "started"
                suite.write_text(f"#!/bin/sh\necho $$ >{started}.part; mv {started}.part {started}\nexec sleep 60\n")
                suite.chmod(0o755)
                runner = subprocess.Popen([sys.executable, RUNNER, "--suites", str(suite)], cwd=folder)
                while not started.exists():
                    time.sleep(0.02)
                runner.send_signal(number)
                self.assertEqual(runner.wait(timeout=30), 128 + number)
                state = Path("/proc") / started.read_text().strip() / "stat"
                self.assertTrue(not state.exists() or ") Z " in state.read_text(), number)

    def test_nothing_to_run_is_a_failure(self):
        self.assertEqual(run()[0], 1)


if __name__ == "__main__":
    unittest.main()
