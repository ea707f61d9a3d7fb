#!/usr/bin/env python3
"""Nothing is left of a run, however its runner ended, and what it starts hears signals in the background, too."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
from ladder import guard, processes  # noqa: E402

guard.hear_signals()  # so that these tests hold however they are started

# Starts a guard, makes a folder, starts a program, says where and which, and waits.
RUNNER = """import os, subprocess, sys, time
sys.path.insert(0, {tools!r})
from ladder import guard
guard.begin()
with guard.temporary_folder() as folder:
    open(os.path.join(folder, "report"), "w").close()
    child = subprocess.Popen({child!r}, start_new_session=True)
    print(folder, child.pid, flush=True)
    {then}
"""
PATIENCE_S = 30


def ignore():
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)


class Guard(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def start(self, child, then="time.sleep(60)", **how):
        program = subprocess.Popen([sys.executable, "-c", RUNNER.format(tools=str(TOOLS), child=child, then=then)],
                                   stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "TMPDIR": str(self.folder)}, **how)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        folder, pid = program.stdout.readline().rsplit(" ", 1)
        return program, Path(folder), int(pid)

    def wait_until(self, holds, what):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def is_gone(self, pid):
        return pid not in processes.all_ids() or processes.is_zombie(pid)

    @unittest.skipUnless(Path("/proc/self/environ").exists(), "only /proc tells what a process was started with")
    def test_a_killed_runner_leaves_neither_programs_nor_folders(self):
        program, folder, pid = self.start(["sleep", "60"])
        self.assertTrue(list(folder.iterdir()))
        program.kill()
        program.wait()
        self.wait_until(lambda: self.is_gone(pid), "the program runs on")
        self.wait_until(lambda: not list(self.folder.iterdir()), "the folder stays")

    @unittest.skipUnless(Path("/proc/self/environ").exists(), "only /proc tells what a process was started with")
    def test_a_runner_inside_of_a_run_ends_with_it(self):
        inner = RUNNER.format(tools=str(TOOLS), child=["sleep", "60"], then="time.sleep(60)")
        told = self.folder / "told"
        outer = ["sh", "-c", 'exec "$0" -c "$1" >"$2"', sys.executable, inner, str(told)]
        program, _, _ = self.start(outer)
        self.wait_until(lambda: told.exists() and told.read_text().endswith("\n"), "the inner runner says nothing")
        pid = int(told.read_text().split()[-1])
        program.kill()
        self.wait_until(lambda: self.is_gone(pid), "what the inner runner has started runs on")

    def test_other_runs_are_left_alone(self):
        other, folder, pid = self.start(["sleep", "60"])
        program, _, _ = self.start(["sleep", "0"], then="pass")
        self.assertEqual(program.wait(PATIENCE_S), 0)
        program.stdout.read()
        self.assertIsNone(other.poll())
        self.assertFalse(self.is_gone(pid))
        self.assertTrue(folder.exists())

    def test_who_reads_what_a_runner_says_does_not_wait_for_its_guard(self):
        program, _, _ = self.start(["sleep", "60"], then="child.kill(); child.wait()")
        self.assertEqual(program.communicate(timeout=PATIENCE_S)[0], "")
        self.assertEqual(program.returncode, 0)

    def test_in_the_background_only_the_runner_itself_ignores_a_signal(self):
        for number in (signal.SIGINT, signal.SIGQUIT):
            with self.subTest(signal=number.name):
                then = "print(child.wait(), flush=True); time.sleep(60)"
                program, _, pid = self.start(["sleep", "60"], then=then, preexec_fn=ignore)
                program.send_signal(number)
                os.kill(pid, number)
                self.assertEqual(int(program.stdout.readline()), -number)  # what it started has ended
                self.assertIsNone(program.poll())

    def test_in_the_foreground_a_runner_hears_ctrl_c(self):
        program, _, _ = self.start(["sleep", "60"], stderr=subprocess.DEVNULL)
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(PATIENCE_S), -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
