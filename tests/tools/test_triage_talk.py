#!/usr/bin/env python3
"""make triage as it is typed: statuses, lines from a pipe, a person at a terminal. In a copy, so that nobody's
progress is touched."""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from terminal import has_terminals  # noqa: E402

PATIENCE_S = 30
RIGHT = ["1 audit order", "0 break-even nothing", "1 ttft stream", "0 audit nothing", "1 compare smaller-model",
         "0 invoice nothing"]


class Talk(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        for part in ("tools", "data/triage"):
            shutil.copytree(ROOT / part, self.root / part, ignore=shutil.ignore_patterns("__pycache__"))

    def command(self, **options):
        given = [f"--{name}={value}" for name, value in options.items()]
        return [sys.executable, self.root / "tools/triage.py", *given]

    def triage(self, lines="", **options):
        """Status and both outputs."""
        data = lines if isinstance(lines, bytes) else lines.encode()
        done = subprocess.run(self.command(**options), input=data, capture_output=True, timeout=PATIENCE_S)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def kept(self):
        path = self.root / ".course/triage"
        return path.read_text() if path.exists() else ""

    def refused(self, why, lines="", **options):
        status, out, err = self.triage(lines, **options)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertTrue(err.startswith("triage: ") and why in err, err)
        self.assertEqual(self.kept(), "")

    def test_one_answer(self):
        status, out, err = self.triage(level="1", ticket="3", answer="1 ttft stream")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("ticket 3: 3 of 3 right", out)
        self.assertEqual(self.kept(), "1.3 3\n")
        status, out, _ = self.triage(level="1", ticket="3", answer="2 load own-machine")
        self.assertEqual(status, 1)
        self.assertIn("0 of 3 right", out)
        self.assertEqual(self.kept(), "1.3 3\n")

    def test_all_from_a_pipe_and_the_list_knows_them(self):
        status, out, _ = self.triage("\n".join(RIGHT))
        self.assertEqual(status, 0)
        self.assertTrue(out.endswith("level 1: 6 of 6 tickets solved, 18 of 18 answers right\n"), out[-200:])
        self.assertEqual(self.triage()[1].count("  solved "), 6)

    def test_an_empty_line_passes_over_a_ticket(self):
        self.assertEqual(self.triage("\n" + RIGHT[1])[0], 0)
        self.assertEqual(self.kept(), "1.2 3\n")
        self.assertEqual(self.triage(RIGHT[3], ticket="4")[0], 0)
        self.assertEqual(self.kept(), "1.2 3\n1.4 3\n")

    def test_a_ticket_without_an_answer_is_shown_with_what_may_be_said(self):
        status, out, _ = self.triage(ticket="1")
        self.assertEqual(status, 0)
        for part in ("The bill has doubled", "$ cat data/triage", "Which level is it?", "Which lever?"):
            self.assertIn(part, out)
        self.assertTrue(out.endswith('  make triage LEVEL=1 TICKET=1 ANSWER="LEVEL MEASUREMENT LEVER"\n'), out)
        self.assertEqual(self.kept(), "")

    def test_closed_input_is_an_empty_one(self):
        done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *self.command()], capture_output=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_wrong_input_is_a_sentence(self):
        self.refused("a number is wanted", level="one")
        self.refused("a number is wanted", ticket="-1")
        self.refused("a number is wanted", ticket="9" * 50)
        self.refused("there are tickets of level 1", level="4")
        self.refused("there are tickets 1 to 6", ticket="7")
        self.refused("TICKET= takes 1 to 6", answer="1 ttft order")
        self.refused("there are audit,", ticket="1", answer="1 tea order")
        self.refused("three are wanted", ticket="1", answer=" ")
        self.refused("7 lines", "\n".join([*RIGHT, "1 ttft order"]))
        self.refused("three are wanted", "\n".join([RIGHT[0], "yes"]))  # nothing is judged, the first one neither
        self.refused("three are wanted", b"\xff\xfe\x00")
        self.refused("bytes of answers", b"x" * 70000)

    @unittest.skipUnless(has_terminals(), "no terminals here")
    def test_a_person_at_a_terminal(self):
        ours, theirs = pty.openpty()
        program = subprocess.Popen(self.command(level="1"), stdin=theirs, stdout=theirs, stderr=theirs,
                                   env={**os.environ, "NO_COLOR": "1"})
        os.close(theirs)
        seen = ""
        try:
            for wanted, typed in (("Which level is it?", "7"), ("no level is called '7'", "1"), ("measure first?", "1"),
                                  ("Which lever?", "order"), ("3 of 3 right", ""), ("ticket 2 of 6", "q")):
                seen = self.read_until(ours, seen, wanted)
                os.write(ours, f"{typed}\n".encode())
            self.read_until(ours, seen, "1 of 6 tickets solved, 3 of 18 answers right")
            self.assertEqual(program.wait(PATIENCE_S), 0)
        finally:
            program.kill()
            program.wait()
            os.close(ours)
        self.assertEqual(self.kept(), "1.1 3\n")

    def read_until(self, terminal, seen, wanted):
        """What came behind the wanted text."""
        while wanted not in seen:
            ready, _, _ = select.select([terminal], [], [], PATIENCE_S)
            self.assertTrue(ready, f"no '{wanted}' in {seen!r}")
            seen += os.read(terminal, 4096).decode(errors="replace")
        return seen.split(wanted, 1)[1]


if __name__ == "__main__":
    unittest.main()
