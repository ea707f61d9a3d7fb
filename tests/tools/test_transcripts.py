#!/usr/bin/env python3
"""Transcripts are run where they can do no harm, and a page that says something else is found out."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import transcripts as tool  # noqa: E402
from docs_check.transcripts import first_difference, refilled, steps_of  # noqa: E402
from ladder import scratch  # noqa: E402
from ladder.catalog import Refused  # noqa: E402

SOLUTION = '// A.\n#include "level2-operator/kernels/rope.h"\n\nint rope(void) {\n    // [exercise rope]\n    return 1;\n    // [end]\n}\n'
# "make test" looks at the learner's file and remembers in .course that it ran.
MAKEFILE = """test:
\t@echo building 3 files
\t@if grep -q EXERCISE level2-operator/kernels/rope.c; then echo 'rope: not started'; else echo 'rope: done in 0.4 s'; fi
\t@test -e .course/ran || echo first time
\t@mkdir -p .course; touch .course/ran; echo spoiled >README.md
\t@ls build; echo "seed=$$COURSE_SEED" >&2
\t@test -t 1 || echo plain
fail:
\t@exit 3
"""
PAGE = """# rope: a
<!-- transcript: starter -->
```text
$ make -s test
rope: not started
first time
kept.o
seed=
plain
```
<!-- transcript: solution -->
```text
$ make -s test
rope: done in ... s
...
plain
```
"""


class Matching(unittest.TestCase):
    def test_dots_stand_for_text_and_for_lines(self):
        fits = [("a", "a"), ("", ""), ("a ... c", "a b c"), ("...\nb", "b"), ("...\nb", "a\na\nb"), ("a\n...", "a"),
                ("a\n...\nc\n...\nd", "a\nx\nc\ny\nc\nz\nd"), ("a.b", "a.b"), ("a  ", "a"), ("... s", "1.5 s")]
        for want, got in fits:
            self.assertIsNone(first_difference(want.split("\n"), got.split("\n")), (want, got))

    def test_the_first_difference_is_told(self):
        for want, got, told in ((["a", "b"], ["a", "c"], ("b", "c")), (["a"], ["a", "b"], (None, "b")),
                                (["a", "b"], ["a"], ("b", None)), ([], ["a"], (None, "a")),
                                (["a.b"], ["axb"], ("a.b", "axb")), (["...", "z"], ["a", "b"], ("z", "a")),
                                (["a ... c"], ["a b d"], ("a ... c", "a b d"))):
            self.assertEqual(first_difference(want, got), told)

    def test_filling_in_keeps_dots_that_still_fit(self):
        for want, got, filled in (
                ("", "a b", "a b"), ("a ... d", "a b c d", "a ... d"), ("a ... d", "x b c d", "x ... d"),
                ("a ... d", "a b c e", "a ... e"), ("a n... b", "a nn b", "a n... b"), ("a n... b", "c mm b", "c mm b"),
                ("a b", "", ""), ("a n... z", "a x nn z", "a x n... z"), ("...", "a b", "..."), ("a ...", "b", "b ...")):
            lines = refilled(want.split(), got.split())
            self.assertEqual(lines, filled.split(), (want, got))
            self.assertIsNone(first_difference(lines, got.split()))

    def test_a_block_is_commands_with_what_they_print(self):
        steps = steps_of(["$ a b", "x", "", "$ c", "$ d", "", "y  "])
        self.assertEqual([(s.command, s.output) for s in steps], [("a b", ("x",)), ("c", ()), ("d", ("", "y"))])

    def test_what_differs_from_run_to_run_is_written_as_dots(self):
        self.assertEqual(tool.steady(["done (0.42 s)", "took 12 ms, 3 files", "make: *** [Makefile:90: test] Error 1"]),
                         ["done (... s)", "took ... ms, 3 files", "make: *** [Makefile:...: test] Error 1"])


class Running(unittest.TestCase):
    """A small repository whose Makefile tells what it sees."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "a tree"
        exercise = {"id": "rope", "title": "a", "why": "", "level": 2, "file": "level2-operator/kernels/rope.c",
                    "header": "level2-operator/kernels/rope.h", "suite": "", "tests": 0, "needs": [], "minutes": 1,
                    "difficulty": 1, "core": True, "points": 1, "doc": "docs/level2/rope.md", "hints": [],
                    "payoff": {}, "parts": []}
        for path, text in {
                "Makefile": MAKEFILE, ".gitignore": "/build\n/.course\n", "README.md": "# A\n", "build/kept.o": "",
                "build/results.json": "", ".course/ran": "", "docs/level2/rope.md": PAGE,
                "level2-operator/kernels/rope.c": "a learner's own work\n", "solutions/level2-operator/kernels/rope.c": SOLUTION,
                "course.json": json.dumps({"levels": [], "exercises": [exercise]})}.items():
            self.write(path, text)
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, check=True)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_tool(self, *names, is_writing=False):
        """Exit status and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = tool.run(self.root, [str(self.root / name) for name in names], is_writing)
        return status, out.getvalue()

    def edit(self, old, new):
        page = self.root / "docs/level2/rope.md"
        self.assertIn(old, page.read_text())
        page.write_text(page.read_text().replace(old, new, 1))

    def files(self):
        return {p: p.read_bytes() for p in self.root.rglob("*") if p.is_file() and ".git" not in p.parts}

    def test_pages_that_say_what_happens_pass_and_the_tree_is_left_alone(self):
        before = self.files()
        self.assertEqual(self.run_tool(), (0, "transcripts: 2 of 2 say what the page says\n"))
        self.assertEqual(self.files(), before)

    def test_the_callers_settings_do_not_show(self):
        os.environ["COURSE_SEED"] = "7"
        self.addCleanup(os.environ.pop, "COURSE_SEED")
        self.assertEqual(self.run_tool()[0], 0)

    def test_the_first_difference_of_a_block_is_shown(self):
        self.edit("rope: not started\nfirst", "rope: not begun\nsecond")
        status, text = self.run_tool()
        self.assertEqual(status, 1)
        self.assertEqual(text, "docs/level2/rope.md:3: starter: $ make -s test\n"
                               "  the page: rope: not begun\n  the run:  rope: not started\n"
                               "transcripts: 1 of 2 say what the page says; if the run is right: make refresh\n")

    def test_writing_fills_in_and_a_second_run_agrees(self):
        page = self.root / "docs/level2/rope.md"
        want = page.read_text()
        for old in ("rope: not started\nfirst time\nkept.o\nseed=\nplain\n", "rope: done in ... s\n"):
            self.edit(old, "")
        self.edit("...\nplain", "...\nplainer")
        self.assertEqual(self.run_tool(is_writing=True), (0, "wrote docs/level2/rope.md\n"))
        self.assertEqual(self.run_tool()[0], 0)
        self.assertEqual(page.read_text().split("<!-- transcript: solution")[0],
                         want.split("<!-- transcript: solution")[0])
        self.assertEqual(self.run_tool(is_writing=True), (0, ""))

    def test_only_named_pages_are_run(self):
        self.edit("rope: not started", "wrong")
        self.write("docs/other.md", "<!-- transcript: starter -->\n```text\n$ echo a; make fail\na\nmake: *** ...\n```\n")
        self.assertEqual(self.run_tool("docs/other.md"), (0, "transcripts: 1 of 1 say what the page says\n"))
        self.assertEqual(self.run_tool()[0], 1)

    def test_a_page_of_no_exercise_names_what_is_solved(self):
        text = "<!-- transcript: solution{} -->\n```text\n$ grep return level2-operator/kernels/rope.c\n    return 1;\n```\n"
        self.write("docs/other.md", text.format(" rope"))
        self.assertEqual(self.run_tool("docs/other.md")[0], 0)
        self.write("docs/other.md", text.format(""))
        with self.assertRaisesRegex(Refused, "solution rope"):
            self.run_tool("docs/other.md")
        self.write("docs/other.md", text.format(" robe"))
        with self.assertRaisesRegex(Refused, "did you mean rope"):
            self.run_tool("docs/other.md")

    def test_what_cannot_be_run_is_refused(self):
        with self.assertRaisesRegex(Refused, "no page"):
            self.run_tool("docs/gone.md")
        self.write("docs/other.md", "<!-- transcript: starter -->\n```text\nmake\n```\n")
        with self.assertRaisesRegex(Refused, "begins with a command"):
            self.run_tool()

    def test_a_command_that_does_not_end_is_ended(self):
        self.write("docs/other.md", "<!-- transcript: starter -->\n```text\n$ echo a; sleep 60\na\n```\n")
        limit, scratch.LIMIT_S = scratch.LIMIT_S, 0.3
        self.addCleanup(setattr, scratch, "LIMIT_S", limit)
        begin = time.monotonic()
        self.assertIn("(no end after 0.3 s)", self.run_tool("docs/other.md")[1])
        self.assertLess(time.monotonic() - begin, 20)

    def test_what_was_built_is_trusted_and_nothing_solved_is_left_behind(self):
        os.utime(self.root / "Makefile", (1e9, 1e9))
        self.write("docs/other.md", "<!-- transcript: starter -->\n```text\n$ stat -c %Y Makefile\n1000000000\n"
                                    "$ cat .course/ran build/results.json | wc -l\n...\n0\n```\n")
        self.assertEqual(self.run_tool("docs/other.md"), (0, "transcripts: 1 of 1 say what the page says\n"))


if __name__ == "__main__":
    unittest.main()
