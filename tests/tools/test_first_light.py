#!/usr/bin/env python3
"""The first command that anybody types: whatever ends it, no server is left running. The programs are
scripts here; what counts is who is started and who is stopped."""
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "first_light.sh"
PATIENCE_S = 30

SERVE = """#!/bin/sh
echo $$ >>"{folder}/started"
{before}
echo 'ready: http://127.0.0.1:1' >&2
exec sleep 60
"""
ASK = """#!/bin/sh
echo $$ >>"{folder}/started"
echo "$@" >"{folder}/asked"
{ask}
"""


def heed_signals():
    """A shell starts jobs in the background deaf to these two, and a deaf shell cannot trap them."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class FirstLight(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def start(self, *arguments, before="", ask="exec sleep 60", **environment):
        for name, text in (("serve", SERVE), ("ask", ASK)):
            path = self.folder / name
            path.write_text(text.format(folder=self.folder, before=before, ask=ask))
            path.chmod(0o755)
        program = subprocess.Popen([str(TOOL), str(self.folder), "m.gguf", *arguments],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                   preexec_fn=heed_signals,
                                   env={**os.environ, **environment})
        self.addCleanup(self.kill_all, program)
        return program

    def kill_all(self, program):
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        program.communicate()

    def started(self):
        try:
            return [int(line) for line in (self.folder / "started").read_text().split()]
        except OSError:
            return []

    def wait_until(self, holds, what):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def assert_nobody_left(self):
        for pid in self.started():
            state = Path(f"/proc/{pid}/stat")
            alive = state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
            self.assertFalse(alive, f"process {pid} is left")

    def test_it_asks_once_and_stops_the_server(self):
        program = self.start(ask="echo Paris.", ASK="it's $5 -- \"now\"")
        output, _ = program.communicate(timeout=PATIENCE_S)
        self.assertEqual(program.returncode, 0, output)
        self.assertIn("Paris.", output)
        asked = (self.folder / "asked").read_text()
        self.assertIn("http://127.0.0.1:1/v1", asked)
        self.assertTrue(asked.endswith("-- it's $5 -- \"now\"\n"), asked)
        self.assert_nobody_left()

    def test_the_status_of_a_client_that_fails_is_kept(self):
        program = self.start(ask="exit 7")
        program.communicate(timeout=PATIENCE_S)
        self.assertEqual(program.returncode, 7)
        self.assert_nobody_left()

    def test_a_server_that_does_not_start_says_why(self):
        program = self.start(before="echo 'serve: no such model' >&2; exit 1")
        output, _ = program.communicate(timeout=PATIENCE_S)
        self.assertEqual(program.returncode, 1)
        self.assertIn("serve: no such model", output)

    def test_every_signal_ends_client_and_server(self):
        for n_started, before in ((1, "exec sleep 60"), (2, "")):  # while it loads; while it answers
            for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
                with self.subTest(signal=number.name, n_started=n_started):
                    (self.folder / "started").unlink(missing_ok=True)
                    program = self.start(before=before)
                    self.wait_until(lambda: len(self.started()) == n_started, "not started")
                    program.send_signal(number)
                    program.communicate(timeout=PATIENCE_S)
                    self.assertEqual(program.returncode, 128 + number)
                    self.assert_nobody_left()

    def test_ctrl_c_is_the_clients_own(self):
        program = self.start("--chat", ask="trap 'echo answer ended' INT; sleep 1; sleep 1; echo bye")
        self.wait_until(lambda: len(self.started()) == 2, "not started")
        time.sleep(0.3)
        os.killpg(program.pid, signal.SIGINT)  # what a terminal does
        output, _ = program.communicate(timeout=PATIENCE_S)
        self.assertIn("bye", output)
        self.assertEqual(program.returncode, 0, output)
        self.assert_nobody_left()


if __name__ == "__main__":
    unittest.main()
