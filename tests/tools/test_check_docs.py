#!/usr/bin/env python3
"""The checker of words must see what it is there for, and nothing else."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_docs  # noqa: E402
from docs_check import exercises, fleet, links, measured, quotes, server, stages, tables, transcripts  # noqa: E402
from docs_check.page import Page  # noqa: E402
from ladder import catalog  # noqa: E402

SOLUTION = """// Rows are turned.
#include "level2-operator/kernels/rope.h"

// [exercise rope drop]
static int partner_of(int i) {
    return i ^ 1; // its neighbour
}
// [end]

int rope(int position, int n_heads) {
    int given = position * n_heads;
    // [exercise rope]
    int turned = partner_of(given);

    // why
    return turned + position;
    // [end]
}
"""
PAGE = """# rope: Turned pairs

<!-- table: exercise rope -->
<!-- end -->

## Why
Because.

## Picture
```text
a b
```

## Contract
<!-- quote: level2-operator/kernels/rope.h -->
```c
int rope(int position, int n_heads);
```

## Worked example
1 + 1 = 2

## Before and after
<!-- transcript: starter -->
```text
$ make test EX=rope
```
<!-- transcript: solution -->
```text
$ make test EX=rope
```

## Common mistakes
None.

## Check yourself
<details><summary>A?</summary>a</details>
<details><summary>B?</summary>b</details>
<details><summary>C?</summary>c</details>

## What production engines do
The same.
"""


def entry(name, **more):
    """One exercise of course.json, complete."""
    return {"id": name, "title": "Turned pairs", "why": "Order matters.", "level": 2,
            "file": f"level2-operator/kernels/{name}.c", "header": f"level2-operator/kernels/{name}.h",
            "suite": f"tests/level2/test_{name}.c", "tests": 3, "needs": [], "minutes": 45, "difficulty": 2,
            "core": True, "points": 10, "doc": f"docs/level2/{name}.md", "hints": ["a?", "b", "c"],
            "payoff": {"command": "make run", "sentence": "So do others."}, "parts": [], **more}


def course_of(*entries):
    levels = [{"level": n, "name": name, "folder": f"level{n}-{name}", "question": "?", "integration": []}
              for n, name in enumerate(("user", "operator"), 1)]
    return {"schema": 1, "levels": levels, "exercises": list(entries)}


SERVER = {
    "level2-operator/api/api_fields.c": '    {"guided_json", is_never},\n    "seed",\n',
    "level2-operator/server/serve_options.c": '        {"port", "PORT"},\n',
    "level2-operator/server/http_metrics.c": 'one(p, "ladder_connections");\n',
    "docs/api.md": "# API\n`seed`, `guided_*`\n",
    "docs/serving.md": "# Serving\n`--port`\n",
    "docs/level2/metrics.md": "# Metrics\n`ladder_connections`\n",
}


class Place(unittest.TestCase):
    """A small repository with one exercise, rope, and its page."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/level2/README.md", "# Level 2\n")
        self.write("level2-operator/kernels/rope.h", "// Turns.\nint rope(int position, int n_heads);\n")
        self.write("level2-operator/kernels/rope.c", "")
        self.write("solutions/level2-operator/kernels/rope.c", SOLUTION)
        self.write("tests/level2/test_rope.c", "START_TEST(worked_example) {\n}\n")
        self.write("docs/level2/rope.md", PAGE)
        for path, text in SERVER.items():
            self.write(path, text)
        self.set_course(entry("rope"))
        self.run_main(is_writing=True)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def set_course(self, *entries):
        self.write("course.json", json.dumps(course_of(*entries)))

    def course(self):
        return tables.Course(catalog.load(self.root), self.root)

    def run_main(self, *names, is_writing=False):
        """Exit status and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check_docs.run(self.root, names, is_writing)
        return status, out.getvalue()

    def page(self, text):
        return Page(self.write("docs/a.md", text), self.root)

    def edit(self, path, old, new):
        file = self.root / path
        self.assertIn(old, file.read_text())
        file.write_text(file.read_text().replace(old, new, 1))

    def assert_fault(self, faults, *words):
        """Exactly one fault, with these words in it."""
        faults = list(faults)
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])


class Served(Place):
    def test_what_the_server_has_stands_on_its_page(self):
        self.assertEqual(list(server.faults_of(self.root)), [])
        for path, word in (("docs/api.md", "seed"), ("docs/api.md", "guided_"), ("docs/serving.md", "--port"),
                           ("docs/level2/metrics.md", "ladder_connections")):
            self.edit(path, word, "x")
            self.assert_fault(server.faults_of(self.root), path, word.strip("-"))
            self.edit(path, "x", word)

    def test_a_list_that_is_no_longer_found_is_a_fault(self):
        for source in (row[1] for row in server.LISTS):
            self.write(source, "")
            self.assert_fault(server.faults_of(self.root), source)
            self.write(source, SERVER[source])


class Facts(Place):
    PRICES = {"prices": [
        {"provider": "P", "model": "m", "valid_from": "2025-02", "valid_to": None, "window": None, "currency": "USD",
         "input": "0.55", "cached_input": None, "output": "2", "tag": "S"},
        {"provider": "P", "model": "m", "valid_from": None, "valid_to": None, "window": "night", "currency": "CNY",
         "input": "4", "cached_input": "1", "output": "16", "tag": "S"}]}

    def test_a_price_in_a_page_is_that_of_the_list(self):
        self.write("data/prices.json", json.dumps(self.PRICES))
        self.write("docs/a.md", "# A\n<!-- table: prices -->\n<!-- end -->\n")
        self.run_main(is_writing=True)
        text = (self.root / "docs/a.md").read_text()
        self.assertIn("| P | `m` | 2025-02 to ? | all day | $0.55 | ? | $2 | S |", text)
        self.assertNotIn("16", text)
        self.edit("docs/a.md", "$0.55", "$0.5")
        self.assert_fault(tables.faults_of(Page(self.root / "docs/a.md", self.root), self.course()), "data/")


class Sums(unittest.TestCase):
    """Tables that are reckoned from data/."""

    def test_the_bytes_of_a_token_are_those_of_the_file(self):
        text = "\n".join(stages.stages(ROOT))
        self.assertIn(f"**{66_355_200 + 30_081_024 + 140_544 + 612:,}**", text)  # inspect, and one row of the embedding
        self.assertIn("| `attend`, each key | q 576, K, V → 576 | 30 | 46,080 | 69,120 |", text)

    def test_a_step_reads_weights_once_and_each_pair_of_row_and_key_is_counted(self):
        m = {"d_model": 32, "d_ff": 32, "heads": 1, "kv_heads": 1, "d_head": 32, "layers": 1, "vocab": 32}
        weights = 7 * 32 * 32
        read = weights * 20 / 32 + 3 * 32 * 4 + 32 * 34
        words = stages.step("two behind three", m, 2, 3).split(" | ")
        self.assertEqual(words[2], f"{(2 * (2 * weights + 32 * 32) + 4 * 32 * (4 + 5)) / 1e6:,.0f} million")
        self.assertEqual(words[4], f"{(2 * (2 * weights + 32 * 32) + 128 * 9) / (read + 5 * 256):,.1f} |")

    def test_a_day_of_the_fleet_adds_up_to_what_was_published(self):
        day = fleet.read(ROOT)
        self.assertAlmostEqual(fleet.node_hours(day, 0, 24 * 60) / 24, day["nodes"]["mean"])
        self.assertAlmostEqual(sum(fleet.shares(day).values()), 1)
        self.assertEqual(fleet.table(ROOT)[-1], "| **the day** | 226.8 | $87,072 | 100.0 % | $0.52 | $0.64 |")


class Measured(Place):
    RUN = {"printed": ["machine x"], "server_peak_bytes": 147000000,
           "orders": [{"name": "block", "n_questions": 3, "usd_per_1000": "0.277", "ttft_p99_ms": 10198,
                       "requests_per_s": 0.14}],
           "wait": {"n_tokens": 64, "first_ms": 1700, "last_ms": 3888, "whole_ms": 3758},
           "curve": [{"prompt_tokens": 91, "ttft_ms": 364}, {"prompt_tokens": 749, "ttft_ms": 5077}]}

    def setUp(self):
        super().setUp()
        self.keep(self.RUN)
        self.write("docs/a.md", "# A\n" + "".join(f"<!-- table: {name} -->\n<!-- end -->\n" for name in measured.TABLES))
        self.run_main(is_writing=True)

    def keep(self, run):
        self.write(measured.RECORD, json.dumps(run))

    def test_pages_and_picture_hold_what_was_measured(self):
        text = (self.root / "docs/a.md").read_text()
        for line in ("machine x", "| 749 | 5.1 s | 148 |", "| in one piece | 3.8 s | 3.8 s |",
                     "| block | $0.277 | 10.2 s | 0.14 | 147 MB |",
                     "| block, own machine at $0.10 an hour, always busy | $0.198 | 10.2 s | 0.14 | 147 MB |",
                     "| the same, busy 8 hours a day | $0.595 | 10.2 s | 0.14 | 147 MB |"):
            self.assertIn(line + "\n", text)
        self.assertEqual(self.run_main(), (0, "docs: 6 pages and 1 exercises hold what they promise\n"))

    def test_a_new_run_makes_tables_and_picture_stale(self):
        self.keep({**self.RUN, "curve": self.RUN["curve"][:1]})
        self.assert_fault(measured.faults_of(self.root), measured.PICTURE, measured.RECORD)
        status, text = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("lesson1-curve is not what docs/level1/lesson1.json says", text)
        self.run_main(is_writing=True)
        self.assertEqual(self.run_main()[0], 0)

    def test_a_picture_that_is_gone_is_a_fault(self):
        (self.root / measured.PICTURE).unlink()
        self.assert_fault(measured.faults_of(self.root), measured.PICTURE)


class Links(Place):
    def faults(self, text):
        return list(links.faults_of(self.page(text)))

    def test_dead_links_and_headings_are_found(self):
        self.write("docs/b.md", "# One heading\n# `code` & more\n# One heading\n```\n# no heading\n```\n")
        fine = "[x](b.md) [y](b.md#one-heading) [z](https://example.org) [d](../docs) [m](mailto:a@b.c)\n"
        fine += "[w](b.md#code--more) [2](b.md#one-heading-1) `a[i](j)`\n```c\nx = f[i](j);\n```\n"
        self.assertEqual(self.faults(fine), [])
        self.assert_fault(self.faults("a\n[x](c.md)"), "docs/a.md:2:", "dead link c.md")
        self.assert_fault(self.faults("[x](b.md#another)"), "no heading for b.md#another")
        self.assert_fault(self.faults("[x](b.md#no-heading)"), "no heading")
        self.assert_fault(self.faults("[x](#here)"), "no heading")
        self.assertEqual(self.faults("# Here\n[x](#here)"), [])


class Quotes(Place):
    def faults(self, text):
        return list(quotes.faults_of(self.page(text), quotes.secrets_of(self.root)))

    def quote(self, lines, path="solutions/level2-operator/kernels/rope.c"):
        return self.faults(f"<!-- quote: {path} -->\n```c\n{lines}\n```\n")

    def test_what_stands_outside_an_exercise_may_be_quoted(self):
        self.assertEqual(self.quote("int rope(int position, int n_heads) {\n    int given = position * n_heads;"), [])
        self.assertEqual(self.quote("int rope(int position, int n_heads);", "level2-operator/kernels/rope.h"), [])

    def test_a_quote_must_stand_in_its_file(self):
        self.assert_fault(self.quote("int turned;"), "no longer stands", "docs/a.md:2")
        self.assert_fault(self.quote("x", "level2-operator/gone.h"), "not there")
        self.assert_fault(self.quote("x", "../x.c"), "not there")
        self.assert_fault(self.quote(" "), "empty")
        self.assert_fault(self.faults("<!-- quote: level2-operator/kernels/rope.h -->\n\n```c\nint rope\n```"), "no block")

    def test_the_inside_of_an_exercise_is_nobodys_to_quote(self):
        self.assert_fault(self.quote("    return turned + position;"), "inside an exercise")
        self.assert_fault(self.quote("    return i ^ 1; // its neighbour"), "inside an exercise")
        across = "    int given = position * n_heads;\n    // [exercise rope]\n    int turned = partner_of(given);"
        self.assert_fault(self.quote(across), "inside an exercise")

    def test_without_saying_so_neither(self):
        told = "```c\nint turned = partner_of(given);\n// why\nreturn turned + position;\n```\n"
        self.assert_fault(self.faults(told), "solutions/level2-operator/kernels/rope.c")
        self.write("common/copy.h", "int turned = partner_of(given);\n// why\nreturn turned + position;\n")
        self.assert_fault(self.quote("// why\nreturn turned + position;", "common/copy.h"), "inside the exercise")

    def test_a_region_that_does_not_end_hides_the_rest(self):
        self.edit("solutions/level2-operator/kernels/rope.c", "    // [end]\n}", "}")
        self.assert_fault(self.quote("    return turned + position;"), "inside an exercise")


class Exercises(Place):
    def faults(self):
        return list(exercises.faults_of(self.course().catalog.find("rope"), self.root))

    def test_a_complete_exercise_has_no_fault(self):
        self.assertEqual(self.run_main(), (0, "docs: 5 pages and 1 exercises hold what they promise\n"))

    def test_words_that_are_still_to_be_written_are_named(self):
        self.set_course(entry("rope", why="TO WRITE", hints=["a?", "TO WRITE", "c"]))
        self.assert_fault(self.faults(), "rope: still to be written: why, hint 2")
        self.set_course(entry("rope", payoff={"command": "TO WRITE", "sentence": " "}))
        self.assert_fault(self.faults(), "payoff.command, payoff.sentence")
        self.set_course(entry("rope", hints=["a?", "b"]))
        self.assert_fault(self.faults(), "2 hints, must be 3")
        self.set_course(entry("rope", why="a" * 101))
        self.assert_fault(self.faults(), "101 letters")

    def test_the_first_test_is_the_worked_example(self):
        self.write("tests/level2/test_rope.c", "START_TEST(another) {\n}\n// START_TEST(worked_example)\n")
        self.assert_fault(self.faults(), "no test worked_example")
        (self.root / "tests/level2/test_rope.c").unlink()
        self.assert_fault(self.faults(), "is not there")

    def test_the_page_must_be_there(self):
        (self.root / "docs/level2/rope.md").unlink()
        self.assert_fault(self.faults(), "the page of rope is not there")

    def test_the_headings_are_fixed(self):
        for old, new, words in (("## Picture\n", "", "missing: Picture"), ("## Why", "## Reasons", "missing: Why"),
                                ("## Common mistakes", "## More\n\n## Common mistakes", "first wrong: More")):
            with self.subTest(words):
                self.edit("docs/level2/rope.md", old, new)
                self.assert_fault(self.faults(), words)
                self.edit("docs/level2/rope.md", new or "## Contract", old if new else old + "## Contract")
        self.edit("docs/level2/rope.md", "# rope: ", "# ")
        self.assert_fault(self.faults(), "the title must be '# rope: Turned pairs'")

    def test_the_page_links_back_and_shows_its_facts(self):
        self.assertIn("[Level 2 operator](README.md)", (self.root / "docs/level2/rope.md").read_text())
        self.edit("docs/level2/rope.md", "<!-- table: exercise rope -->", "")
        self.assert_fault(self.faults(), "<!-- table: exercise rope -->")

    def test_blocks_are_quotes_pictures_or_transcripts(self):
        self.edit("docs/level2/rope.md", "<!-- quote: level2-operator/kernels/rope.h -->", "")
        found = self.faults()
        self.assertEqual(len(found), 2, found)
        self.assertIn("code without <!-- quote: file -->", found[0])
        self.assertIn("quotes nothing of level2-operator/kernels/rope.h", found[1])

    def test_pictures_fit_into_92_columns(self):
        self.edit("docs/level2/rope.md", "a b\n", "─" * 92 + "\n")
        self.assertEqual(self.faults(), [])
        self.edit("docs/level2/rope.md", "─", "──")
        self.assert_fault(self.faults(), "93 columns")

    def test_there_are_three_to_five_questions(self):
        self.edit("docs/level2/rope.md", "<details><summary>A?</summary>a</details>\n", "")
        self.assert_fault(self.faults(), "2 questions")

    def test_before_comes_before_after(self):
        self.edit("docs/level2/rope.md", "<!-- transcript: starter -->", "<!-- transcript: solution -->")
        self.assert_fault(self.faults(), "starter and solution")

    def test_transcripts_have_commands(self):
        def faults(text):
            return list(transcripts.faults_of(self.page(text)))

        self.assertEqual(faults("<!-- transcript: starter -->\n```text\n$ make\nx\n```\n"), [])
        self.assert_fault(faults("<!-- transcript: starter -->\n```text\nmake\n$ make\n```\n"), "begins with a command")
        self.assert_fault(faults("<!-- transcript: starter -->\n```text\n```\n"), "begins with a command")
        self.assert_fault(faults("<!-- transcript: starter -->\n```c\n$ make\n```\n"), "no ```text block")
        self.assert_fault(faults("<!-- transcript: starter -->\nmake\n"), "no ```text block")
        self.assert_fault(faults("<!-- transcript: stub -->\n```text\n$ make\n```\n"), "'stub'")


class Tables(Place):
    def table(self, name):
        return tables.table_of(name, self.course(), self.page(""))

    def add_exercise(self, name, **more):
        self.write(f"solutions/level2-operator/kernels/{name}.c",
                   f"int a;\n// [exercise {name}]\nint b;\n\n// c\nint d;\n// [end]\n")
        self.write(f"docs/level2/{name}.md", "")
        return entry(name, **more)

    def test_lines_to_write_are_code_between_the_markers(self):
        self.assertEqual(self.course().n_lines["rope"], 3 + 2)

    def test_a_stale_table_is_found_and_written_anew(self):
        page = self.write("README.md", "# A\n<!-- table: core-path -->\nold\n<!-- end -->\nb\n")
        status, text = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("README.md:2: table core-path is not what course.json says", text)
        self.assertEqual(self.run_main(is_writing=True)[0], 0)
        self.assertIn("| 1 | 2 operator | [Turned pairs](docs/level2/rope.md) `rope` | 5 | 45 |", page.read_text())
        self.assertTrue(page.read_text().endswith("<!-- end -->\nb\n"))
        self.edit("solutions/level2-operator/kernels/rope.c", "    // why\n", "    turned++;\n")
        self.assertEqual(self.run_main()[0], 1)
        self.assertEqual(self.run_main("rope")[1].count("\n"), 1)  # its own page, and not README.md

    def test_writing_twice_changes_nothing(self):
        before = (self.root / "docs/level2/rope.md").read_text()
        self.assertEqual(self.run_main(is_writing=True), self.run_main())
        self.assertEqual((self.root / "docs/level2/rope.md").read_text(), before)

    def test_a_wrong_table_is_a_fault(self):
        for text, words in (("<!-- table: core -->\n<!-- end -->", "no table is called 'core'"),
                            ("<!-- table: exercises-level9 -->\n<!-- end -->", "no table"),
                            ("<!-- table: core-path -->\ntext", "without <!-- end -->")):
            self.assert_fault(tables.faults_of(self.page(text), self.course()), words)
        self.assertEqual(list(tables.faults_of(self.page("```\n<!-- table: core -->\n```\n"), self.course())), [])

    def test_exercises_that_do_not_exist_yet_are_not_listed(self):
        self.add_exercise("unexplained")
        (self.root / "docs/level2/unexplained.md").unlink()
        self.set_course(entry("rope"), entry("gone"), entry("unexplained"), self.add_exercise("more", core=False))
        core, level = "\n".join(self.table("core-path")), "\n".join(self.table("exercises-level2"))
        self.assertNotIn("gone", core + level)
        self.assertNotIn("unexplained", core + level)
        self.assertNotIn("`more`", core)
        self.assertIn("| L2.1\\* | [Turned pairs](level2/rope.md) `rope` | Order matters. | 5 | 45 | 10 |", level)
        self.assertIn("| L2.4 | [Turned pairs](level2/more.md) `more`", level)
        self.assertIn("2 exercises, 7 lines, about 90 minutes.", level)
        self.assertNotIn("`rope`", "\n".join(self.table("exercises-level1")))

    def test_the_commands_are_those_of_make_help(self):
        self.write("Makefile", "## to learn\nnot: ## a heading must stand on its own line\n")
        self.assertEqual(len(self.table("commands")), 2)
        self.write("Makefile", "help: ## this list\n## to learn\nnext: ## what to do now\n\t@a\n"
                   "test: $(if $(EX),a,b) ## red or green\nlevel%: setup ## a level\n## to run\nrun: ## the engine\n")
        self.assertEqual(self.table("commands")[2:], ["| `make next` | what to do now |", "| `make test` | red or green |",
                                                      "| `make level1` | a level |"])

    def test_no_page_shows_a_total_that_nobody_measures_again(self):
        for line in ("building 264 of 264 files", "engine with reference modules: 37536 passed", "37536 passed, 0 failed"):
            self.write("README.md", f"# A\n\n```\n{line}\n```\n")
            self.assertIn("README.md:4: a total that is another one tomorrow", self.run_main()[1])
        for line in ("building ... files", "44 passed, 0 failed", "ok  tokenizer: 5931 passed, 0 failed"):
            self.write("README.md", f"# A\n\n```\n{line}\n```\n")
            self.assertNotIn("a total", self.run_main()[1])

    def test_the_number_of_modules_is_that_of_the_exercises(self):
        page = self.write("README.md", "# A\n\n```\nYou have written 0 of 7 modules.\n```\n0 done, 7 to do; 1 of 7 things.\n")
        status, text = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("README.md:4: there are 1 modules", text)
        self.assertIn("README.md:6: there are 1 modules", text)
        self.assertEqual(self.run_main(is_writing=True)[0], 0)
        self.assertIn("0 of 1 modules.\n```\n0 done, 1 to do; 1 of 7 things.", page.read_text())

    def test_a_week_has_seven_even_days_in_order(self):
        for minutes, want in (([], []), ([30], [[30]]), ([30, 90, 20], [[30], [90], [20]]),
                              ([10, 10, 10, 10, 10, 10, 60, 10], [[10], [10], [10], [10], [10, 10], [60], [10]]),
                              ([60] * 14, [[60, 60]] * 7)):
            course = catalog.Catalog(course_of(*(entry(f"e{n}", minutes=m) for n, m in enumerate(minutes))))
            days = tables.days_of(course.exercises)
            self.assertEqual([ex.id for day in days for ex in day], [ex.id for ex in course.exercises])
            self.assertEqual(sorted([ex.minutes for ex in day] for day in days), sorted(want))


if __name__ == "__main__":
    unittest.main()
