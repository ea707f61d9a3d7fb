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
if [ "$1" = --version ]; then
    printf 'serve 0.1.0\\n{modules}'
    exit
fi
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


class FirstLight(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def start(self, *arguments, model="m.gguf", before="", ask="exec sleep 60", modules="", **environment):
        for name, text in (("serve", SERVE), ("ask", ASK)):
            path = self.folder / name
            path.write_text(text.format(folder=self.folder, before=before, ask=ask, modules=modules))
            path.chmod(0o755)
        program = subprocess.Popen([str(TOOL), str(self.folder), model, *arguments],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, start_new_session=True,
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

    def last_words(self, said="", **how):
        """What stands below the answer, when the client says this on standard error."""
        program = self.start(ask=f"echo Paris.; echo '{said}' >&2", **how)
        output, _ = program.communicate(timeout=PATIENCE_S)
        self.assertEqual(program.returncode, 0, output)
        return output.split("Paris.\n")[1]

    def test_it_ends_with_what_happened_in_numbers_and_what_is_next(self):
        said = "TTFT 254 ms, 38.0 tokens/s, 42 prompt (0 cached) + 7 completion tokens"
        model = "some models/SmolLM2-135M-Instruct.Q4_1.gguf"
        self.assertEqual(
            self.last_words(said, model=model, modules="modules: 0 yours, 11 reference\\n"),
            "\nThat was SmolLM2-135M-Instruct in your own server: 42 prompt tokens in 254 ms, then 38.0 tokens/s.\n"
            "You have written 0 of 11 modules of this engine.\nnext: make next\n")

    def test_it_counts_yours_and_the_reference(self):
        modules = "modules: 3 yours, 8 reference\\nyours: events, rope, rows\\n"
        self.assertIn("\nYou have written 3 of 11 modules of this engine.\n", self.last_words(modules=modules))

    def test_without_a_course_it_says_nothing_of_modules(self):
        words = self.last_words("TTFT 9 ms, 1.0 tokens/s, 2 prompt + 7 completion tokens")
        self.assertNotIn("modules", words)
        self.assertIn("That was m in your own server: 2 prompt tokens in 9 ms, then 1.0 tokens/s.\nnext: make chat",
                      words)

    def test_figures_that_it_does_not_know_are_shown_as_they_are(self):
        said = "TTFT 254 ms, 38.0 tokens/s, 42 prompt (0 cached) + 300 completion tokens, ended by length"
        words = self.last_words(said, model="Llama-3.2-1B.gguf")
        self.assertIn(said, words)
        self.assertIn("That was Llama-3.2-1B in your own server.\n", words)

    def test_what_a_failing_client_says_is_not_lost(self):
        program = self.start(ask="echo 'ask: 503 loading' >&2; exit 1")
        self.assertIn("ask: 503 loading", program.communicate(timeout=PATIENCE_S)[0])

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
