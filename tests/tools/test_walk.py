#!/usr/bin/env python3
"""The whole walk of a learner, on a copy of the tree: from nothing begun to a module of their own in the
engine, with all that can go wrong on the way."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from scratch_tree import ScratchTree  # noqa: E402

LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed$")
HEAD = '#include "level2-operator/kernels/rmsnorm.h"\n\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n'
SIGNATURE = "void rmsnorm(float *y, const float *x, const float *w, int n_tokens, int d_model, float eps)"


def rmsnorm(body, before=""):
    return f"{HEAD}{before}\n{SIGNATURE} {{\n{body}\n}}\n"


def flat(text):
    """What was said, without the line breaks of an 80 column board."""
    return " ".join(text.split())


RIGHT = """    for (int t = 0; t < n_tokens; t++) {
        double sum = 0;
        for (int i = 0; i < d_model; i++) sum += (double)x[t * d_model + i] * (double)x[t * d_model + i];
        double scale = 1 / sqrt(sum / d_model + (double)eps);
        for (int i = 0; i < d_model; i++)
            y[t * d_model + i] = (float)((double)w[i] * (scale * (double)x[t * d_model + i]));
    }"""


class Walk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = ScratchTree()

    @classmethod
    def tearDownClass(cls):
        cls.tree.close()

    def tearDown(self):
        for item in self.tree.course.exercises:
            self.tree.put(item.file, self.tree.starter(item))

    def counts(self, output):
        line = next(line for line in reversed(output.splitlines()) if LAST_LINE.match(line))
        return tuple(int(n) for n in LAST_LINE.match(line).groups())

    def attempt(self, body, status=1, name="rmsnorm", before=""):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(body, before))
        return self.tree.test(name, status)

    # ---- nothing begun ----

    def test_01_nothing_is_green_before_any_work(self):  # CRS-02
        said = self.tree.make("status")
        self.assertIn(f"0 done, {len(self.tree.course.exercises)} to do, next invoice", said)
        self.assertNotRegex(said, r"\bdone  ")
        for item in self.tree.course.exercises:
            said = self.tree.test(item.id, 0)
            self.assertIn(f"{item.id}: not started", said)
            self.assertIn(item.file, said)
            self.assertEqual(self.counts(said), (0, 0))

    def test_02_next_says_what_to_write_and_how_to_see_red(self):  # CRS-06
        said = self.tree.make("next")
        for words in ("L1.1 invoice", "level1-user/invoice.c:", "invoice_of_request(", "docs/level1/invoice.md",
                      "make test EX=invoice"):
            self.assertIn(words, said)
        self.assertIn(f"{self.tree.exercise('events').number} events", self.tree.make("next", "EX=events"))
        self.assertIn("core", self.tree.make("next", "ROUTE=core"))

    # ---- everything that can be wrong ----

    def test_10_a_wrong_value_shows_call_got_want_and_replay(self):
        said = self.attempt(RIGHT.replace("(double)w[i] * ", ""))
        for words in ("rmsnorm: wrong:", "called   rmsnorm(", "got  ", "want  ", "index ", "seed 1",
                      "make test EX=rmsnorm ONLY=", "make debug EX=rmsnorm", "docs/level2/rmsnorm.md"):
            self.assertIn(words, said)
        replay = re.search(r"again\s+make test EX=rmsnorm ONLY='([^']+)' SEED=1", said).group(1)
        again = self.tree.test("rmsnorm", 1, f"ONLY={replay}", "SEED=1")
        self.assertEqual(self.counts(again), (0, 1))

    def test_11_a_known_misunderstanding_is_named(self):
        self.attempt(RIGHT.replace("(double)w[i] * ", ""))
        mutants = {m["name"]: m for m in json.loads(self.tree.read("tests/mutants/rmsnorm.json"))["mutants"]}
        words = mutants["weights-forgotten"]["misconception"].split()[:4]
        said = self.tree.test("rmsnorm", 1)
        self.assertRegex(said, r"It looks like this: " + r"\s+".join(map(re.escape, words)))
        self.assertIn("It looks like this", self.tree.make("hint", "EX=rmsnorm"))

    def test_12_a_crash_costs_its_test_only(self):
        said = self.attempt(RIGHT + "\n    if (d_model == 577) abort();")
        self.assertIn("crash: killed by signal 6 (SIGABRT)", said)
        self.assertGreater(self.counts(said)[0], 10)

    def test_13_a_read_past_the_end_names_the_line(self):
        said = self.attempt(RIGHT.replace("i < d_model; i++) sum", "i <= d_model; i++) sum"))
        self.assertRegex(said, r"memory: .*read 4 bytes")
        self.assertRegex(said, r"level2-operator/kernels/rmsnorm\.c:\d+")

    def test_14_a_leak_is_found_and_placed(self):
        said = self.attempt("    float *copy = malloc(64);\n    if (copy) copy[0] = eps;\n" + RIGHT)
        self.assertRegex(said, r"leak: \d+ bytes in \d+ allocations?, never\s+freed,\s+taken\s+at\s+level2-operator/kernels/rmsnorm\.c:\d+")

    def test_15_an_endless_loop_times_out_and_the_next_test_runs(self):  # CRS-03
        begin = time.monotonic()
        said = self.attempt(RIGHT + "\n    for (volatile unsigned i = 0; d_model > 1; i++) {}")
        self.assertRegex(said, r"timed out after \d+ s")
        self.assertGreater(self.counts(said)[1], 1)
        self.assertLess(time.monotonic() - begin, 120)

    def test_16_leaving_early_is_no_pass(self):
        said = self.attempt(RIGHT.replace("i < d_model; i++)\n", "i < d_model; i++)\n") + "\n    _Exit(0);")
        self.assertRegex(said, r"the code left the process \(exit status 0\)\s+before the test's end")
        self.assertLessEqual(self.counts(said)[0], 1)

    def test_17_the_solution_may_not_be_included(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", '#include "solutions/level2-operator/kernels/rmsnorm.c"\n')
        said = self.tree.test("rmsnorm", 1)
        self.assertIn("may use neither solutions nor tests", flat(said))
        for line in ('"../../solutions/level2-operator/kernels/rmsnorm.c"', "<solutions/level2-operator/kernels/rmsnorm.c>",
                     f'"{self.tree.root}/solutions/level2-operator/kernels/rmsnorm.c"', '"tests/support/report.h"', "<check.h>"):
            self.tree.write("level2-operator/kernels/rmsnorm.c", f"#include {line}\n")
            self.assertIn("may use neither solutions nor tests", flat(self.tree.test("rmsnorm", 1)), line)
        self.tree.write("level2-operator/kernels/rmsnorm.c", '# 1 "x" 3\n#include "solutions/level2-operator/kernels/rmsnorm.c"\n')
        self.assertIn("may use neither solutions nor tests", flat(self.tree.test("rmsnorm", 1)))

    def test_23_what_only_tests_have_may_not_be_called(self):  # no program could be linked with it
        said = self.attempt(RIGHT + "\n    if (d_model < 0) report_end();", before="void report_end(void);\n")
        self.assertIn("calls report_end, which only tests have", flat(said))

    def test_18_only_what_the_header_declares_may_be_visible(self):
        said = self.attempt(RIGHT, before="void rope(void);\nvoid rope(void) {}\n")
        self.assertIn("defines rope, which level2-operator/kernels/rmsnorm.h does not declare", flat(said))
        self.tree.write("level2-operator/kernels/rmsnorm.c", '#include "level2-operator/kernels/rmsnorm.h"\n')
        self.assertRegex(self.tree.test("rmsnorm", 1), r"does not define rmsnorm,\s+which")
        (self.tree.root / "level2-operator/kernels/rmsnorm.c").unlink()
        self.assertIn("make reset EX=rmsnorm", self.tree.test("rmsnorm", 1))

    def test_19_what_does_not_compile_says_where(self):
        said = self.attempt("    for (;;) {")
        self.assertRegex(said, r"rmsnorm: compile\n\s+level2-operator/kernels/rmsnorm\.c:\d+: ")
        said = self.attempt(RIGHT + "\n    nowhere(y);")
        self.assertRegex(said, r"calls\s+nowhere, which is nowhere defined|implicit declaration")

    def test_20_constants_and_typed_in_answers_do_not_pass(self):  # CRS-01, CRS-09
        for body in ("    (void)y;", "    for (int i = 0; i < n_tokens * d_model; i++) y[i] = x[i];",
                     "    for (int i = 0; i < n_tokens * d_model; i++) y[i] = 0;"):
            self.assertIn("rmsnorm: wrong", self.attempt(body))

    def test_21_a_half_done_file_is_judged_function_by_function(self):
        solution, starter = (f(self.tree.exercise("rope")) for f in (self.tree.solution, self.tree.starter))
        first, second = re.findall(r"^\w[^\n]*?\b(rope\w*)\(.*?^}\n", starter, re.M | re.S)
        bodies = dict(re.findall(r"(^\w[^\n]*?\b(rope\w*)\(.*?^}\n)", solution, re.M | re.S)[i][::-1] for i in (0, 1))
        for done, waiting in ((first, second), (second, first)):
            text = re.sub(rf"^\w[^\n]*?\b{done}\(.*?^}}\n", lambda _: bodies[done], starter, flags=re.M | re.S)
            text = text.replace('#include "common/exercise.h"', '#include <math.h>\n\n#include "common/exercise.h"')
            self.tree.write("level2-operator/kernels/rope.c", text)
            said = self.tree.test("rope", 0)
            self.assertRegex(said, r"rope: started, \d+ of \d+ tests wait for more", waiting)
            self.assertGreater(self.counts(said)[0], 0)
            self.assertEqual(self.counts(said)[1], 0)

    def test_22_one_red_exercise_turns_no_other_red(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm("    (void)y;"))
        self.tree.write("level2-operator/kernels/rope.c", self.tree.solution(self.tree.exercise("rope")))
        self.tree.write("level2-operator/kernels/attention.c", self.tree.solution(self.tree.exercise("attention")))
        self.tree.test("rope", 0)
        self.tree.test("attention", 0)
        self.tree.test("rmsnorm", 1)

    def test_25_what_takes_all_memory_is_stopped_first(self):
        body = RIGHT + ("\n    for (int i = 0; d_model == 577 && i < 20000; i++)"
                        "\n        for (volatile char *p = malloc(1 << 20), *q = p; q && q < p + (1 << 20); q += 4096) *q = 1;")
        factor = self.tree.root / "build" / "machine-factor"
        factor.write_text("6\n")  # or a machine that is slow in giving pages is out of time first
        try:
            self.assertIn("memory: took more than 2 GB of memory", flat(self.attempt(body)))
        finally:
            factor.unlink()

    # ---- right, and in the engine ----

    def test_30_what_passes_runs_in_the_engine_and_what_breaks_leaves_it(self):
        tree = self.tree
        version = lambda: tree.run("build/bin/serve --version")[1]  # noqa: E731
        tree.make("all")
        self.assertIn(f"0 yours, {len(tree.course.exercises)} reference", version())
        said = self.attempt(RIGHT, status=0)
        self.assertIn("rmsnorm is yours now", said)
        self.assertEqual(self.counts(said)[1], 0)
        self.assertNotIn("yours now", tree.test("rmsnorm", 0))  # only the first time
        tree.run("cp -r build/bin build/bin-before")
        tree.make("all")
        self.assertIn("1 yours", version())
        self.assertIn("yours: rmsnorm", version())
        self.assertEqual(tree.run("tools/same_text.sh build/test/tiny.gguf build/bin-before build/bin")[0], 0)
        self.assertIn("reference", tree.make("all", "REF=all") + version())
        self.assertIn("0 yours", version())
        tree.make("all")
        self.assertIn("1 yours", version())

        self.attempt("    (void)y;")  # broken again
        said = tree.make("all")
        self.assertIn("rmsnorm: yours has not passed as it stands; the reference is linked; make test EX=rmsnorm", said)
        self.assertIn("0 yours", version())
        tree.make("all", "MINE=rmsnorm")  # to watch it fail in the engine
        self.assertIn("1 yours", version())
        tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        tree.make("all")  # changed since it was judged: judged again by itself
        self.assertIn("1 yours", version())

    def test_31_a_new_header_or_suite_takes_the_pass_away_by_itself(self):  # CRS-06
        self.attempt(RIGHT, status=0)
        self.assertRegex(self.tree.make("status"), r"rmsnorm\s+done")
        for path in ("level2-operator/kernels/rmsnorm.h", "tests/level2/test_rmsnorm.c"):
            text = self.tree.read(path)
            self.tree.write(path, text + "// newer\n")
            self.assertRegex(self.tree.make("status"), r"rmsnorm\s+changed")
            self.tree.test("rmsnorm", 0)
            self.tree.write(path, text)
            self.tree.test("rmsnorm", 0)

    def test_62_a_header_of_ones_own_is_a_part_of_the_pass(self):
        helper = "level2-operator/kernels/my_helper.h"
        try:
            self.tree.write(helper, "// mine\n")
            self.attempt(RIGHT, status=0, before='#include "my_helper.h"\n')
            self.tree.write(helper, "#error not any more\n")
            self.assertRegex(self.tree.make("status"), r"rmsnorm\s+changed")
            self.assertIn("the reference is linked", self.tree.make("all"))
        finally:
            (self.tree.root / helper).unlink()

    def test_32_new_tests_run_without_cleaning(self):  # CRS-06
        self.attempt(RIGHT, status=0)
        path = "tests/level2/test_rmsnorm.c"
        text = self.tree.read(path)
        try:
            self.tree.write(path, text.replace("START_TEST(worked_example) {", "START_TEST(worked_example) {\n    ck_abort_msg(\"new\");"))
            self.assertIn("new", self.tree.test("rmsnorm", 1))
        finally:
            self.tree.write(path, text)

    def test_33_compare_waits_for_the_pass(self):
        self.assertIn("has not passed", self.tree.make("compare", "EX=rmsnorm", status=2))
        self.attempt(RIGHT, status=0)
        self.assertIn("+++ solutions/level2-operator/kernels/rmsnorm.c", self.tree.make("compare", "EX=rmsnorm"))
        self.assertIn("it has passed", self.tree.make("next", "EX=rmsnorm"))

    def test_34_reset_brings_the_starter_back_and_keeps_the_work(self):
        self.attempt(RIGHT, status=0)
        said = self.tree.make("reset", "EX=rmsnorm")
        kept = re.search(r"yours is (\S+)", said).group(1)
        self.assertEqual(self.tree.read(kept), rmsnorm(RIGHT))
        self.assertEqual(self.tree.read("level2-operator/kernels/rmsnorm.c"), self.tree.starter(self.tree.exercise("rmsnorm")))
        self.assertIn("the starter already", self.tree.make("reset", "EX=rmsnorm"))

    def test_35_hints_come_one_by_one(self):
        hints = self.tree.exercise("rows").hints
        for n in (1, 2, 3, 3):
            said = " ".join(self.tree.make("hint", "EX=rows").split())
            for i, hint in enumerate(hints, 1):
                self.assertEqual(" ".join(hint.split()) in said, i <= n, f"hint {i} after {n} calls")

    def test_36_a_level_is_shown_and_kept(self):
        said = self.tree.make("level2")
        self.assertIn("level 2, operator:", said)
        for item in self.tree.course.exercises:
            self.assertEqual(item.title in said, item.level == 2)
        (self.tree.root / ".course/level").unlink()

    def test_37_points_are_given_on_fresh_inputs(self):  # CRS-09
        self.attempt(RIGHT, status=0)
        said = self.tree.make("grade")
        self.assertRegex(said, r"rmsnorm\s+done\s+(\d+) of\s+\1")
        self.assertRegex(said, r"rope\s+not started\s+0 of")

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not here")
    def test_38_debug_stops_in_the_learners_function_in_the_failing_test(self):
        self.attempt("    (void)y;")
        said = self.tree.make("debug", "EX=rmsnorm", status=None)  # no terminal: gdb leaves at its first question
        self.assertRegex(said, r"worked_example\[0\] in gdb")
        self.assertRegex(said, r"Breakpoint 1, rmsnorm \(")
        self.assertIn("level2-operator/kernels/rmsnorm.c", said)

    def test_39_watch_runs_again_after_each_save_and_ends_when_told(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm("    (void)y;"))
        said = self.tree.root / "watch.log"
        program = subprocess.Popen(["sh", "-c", f"exec tools/course.py watch rmsnorm >'{said}' 2>&1"], cwd=self.tree.root,
                                   start_new_session=True)
        try:
            self.wait_for(said, "rmsnorm: wrong")
            self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
            self.wait_for(said, "rmsnorm: done")
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.wait(20), 130)
        finally:
            program.kill()
            program.wait()

    def wait_for(self, path, words):
        end = time.monotonic() + 60
        while not (path.exists() and words in path.read_text()):
            self.assertLess(time.monotonic(), end, f"no '{words}' in {path.read_text() if path.exists() else 'nothing'}")
            time.sleep(0.05)

    def test_40_an_editor_gets_the_flags_of_the_learners_files(self):
        self.tree.make("editor")
        entries = json.loads(self.tree.read("compile_commands.json"))
        self.assertEqual([entry["file"] for entry in entries], [ex.file for ex in self.tree.course.exercises])
        for entry in entries:
            self.assertTrue((Path(entry["directory"]) / entry["file"]).is_file())
            self.assertIn("-std=c11", entry["arguments"])

    # ---- what is judged is what stands there ----

    def test_41_a_copy_with_an_old_date_is_judged_as_it_stands(self):
        path = self.tree.root / "level2-operator/kernels/rmsnorm.c"
        version = "build/bin/serve --version"
        self.attempt(RIGHT, status=0)
        self.tree.make("all")
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm("    (void)y;"))
        os.utime(path, (1e9, 1e9))  # as cp -p, tar and mv leave it
        self.assertIn("rmsnorm: wrong", self.tree.test("rmsnorm", 1))
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT + "\n    // saved long ago"))
        os.utime(path, (1e9 + 1, 1e9 + 1))
        self.tree.test("rmsnorm", 0)
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT + "\n    abort();"))
        os.utime(path, (1e9 + 2, 1e9 + 2))
        self.tree.make("all", "MINE=rmsnorm")
        self.assertIn("1 yours", self.tree.run(version)[1])
        self.assertNotEqual(self.tree.run("build/bin/bench --predict --model build/test/tiny.gguf")[0], 0)

    def test_42_what_is_saved_while_the_tests_run_has_not_passed(self):
        slow = rmsnorm("    usleep(100000);\n" + RIGHT, before="#include <unistd.h>\nint usleep(unsigned);\n")
        self.tree.write("level2-operator/kernels/rmsnorm.c", slow)
        program = subprocess.Popen(["tools/course.py", "test", "rmsnorm"], cwd=self.tree.root, stdout=subprocess.DEVNULL)
        binary = self.tree.root / "build/test/exercises/rmsnorm"
        begin = time.time()
        while not (binary.exists() and binary.stat().st_mtime > begin):
            self.assertLess(time.time(), begin + 60)
            time.sleep(0.02)
        time.sleep(0.3)  # it runs now
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm("    (void)y;"))
        self.assertEqual(program.wait(60), 0)
        self.assertRegex(self.tree.make("status"), r"rmsnorm\s+changed")
        self.assertIn("the reference is linked", self.tree.make("all"))

    def test_43_a_run_for_races_is_shown_and_not_kept(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        self.assertIn("rmsnorm: done", self.tree.make("race", "EX=rmsnorm"))
        self.assertIn("has not passed", self.tree.make("compare", "EX=rmsnorm", status=2))

    def test_44_a_copy_beside_the_exercise_is_in_nobodys_way(self):
        solution = self.tree.solution(self.tree.exercise("rope"))
        self.tree.write("level2-operator/kernels/rope.c", solution)
        names = "level2-operator/kernels/rope_old.c", "level2-operator/kernels/rope (copy).c"
        try:
            for name in names:
                self.tree.write(name, solution.replace("#include", "#error old\n#include", 1))
                self.assertIn(f"{name}: looks like a copy of an exercise and is not built", self.tree.test("rope", 0))
                self.tree.make("all", "MINE=rope")  # else its #error would be seen
        finally:
            for name in names:
                (self.tree.root / name).unlink(missing_ok=True)

    def test_45_an_old_suite_is_not_taken_for_a_new_one(self):
        path = "level2-operator/kernels/matmul.c"
        self.tree.write("level2-operator/kernels/attention.c", self.tree.solution(self.tree.exercise("attention")))
        self.tree.test("attention", 0)
        text = self.tree.read(path)
        try:
            self.tree.write(path, "#error broken\n" + text)
            said = self.tree.test("attention", 0)
            self.assertIn("attention: blocked", said)
            self.assertIn("level2-operator/kernels/matmul.c:1:2: error: #error broken", said)
        finally:
            self.tree.write(path, text)

    # ---- what else goes wrong ----

    def test_50_a_name_that_does_not_exist_is_answered_with_the_nearest(self):
        said = self.tree.make("test", "EX=ropes", status=2)
        self.assertIn("no exercise 'ropes'; did you mean rope?", said)
        self.assertIn("There are: invoice, ", self.tree.make("hint", status=2))
        self.assertIn("rmsnorm", self.tree.make("next", "EX=L2.3"))
        self.assertIn("There are", self.tree.make("reset", "EX=../x", status=2))

    def test_55_what_is_typed_is_a_name_and_no_command(self):
        for name in ("$(shell touch pwned)", "$(touch pwned)", "`touch pwned`", "x; touch pwned; :", '"; touch pwned; "',
                     "'", "a b", "x\ny", "--help", "-x", "../rope", "%"):
            for goal in ("test", "next", "hint", "reset", "compare"):
                self.assertIn("no exercise", self.tree.make(goal, f"EX={name}", status=2), (goal, name))
            self.assertFalse((self.tree.root / "pwned").exists(), name)
        for words in (("test", "EX=rope", 'SEED="; touch pwned; "'), ("next", "ROUTE=`touch pwned`"),
                      ("test", "EX=rope", "SEED=--help"), ("test", "EX=rope", "SEED=\u00b2")):
            self.tree.make(*words, status=2)
        self.tree.make("test", "EX=rope", "ONLY=$(shell touch pwned)`touch pwned`")
        self.assertFalse((self.tree.root / "pwned").exists())

    def test_56_whatever_stands_in_place_of_a_file_reset_brings_it_back(self):
        ex = self.tree.exercise("rmsnorm")
        path = self.tree.root / ex.file
        def loop(): path.symlink_to(path.name)
        def dangling(): path.symlink_to("nowhere.c")
        def to_the_solution(): path.symlink_to(self.tree.root / ex.solution)
        def folder():
            path.mkdir()
            (path / "mine").write_text("work")
        solution = self.tree.solution(ex)
        for put in (loop, dangling, to_the_solution, folder):
            path.unlink()
            put()
            self.tree.test("rmsnorm", 1)
            said = self.tree.make("reset", "EX=rmsnorm")
            self.assertEqual((self.tree.read(ex.file), path.is_symlink()), (self.tree.starter(ex), False), put.__name__)
        self.assertEqual(self.tree.read(re.search(r"yours is (\S+)", said).group(1) + "/mine"), "work")
        self.assertEqual(self.tree.solution(ex), solution)
        self.assertFalse((path.parent / "nowhere.c").exists())

    def test_57_a_pass_that_was_lost_is_found_again(self):
        self.attempt(RIGHT, status=0)
        shutil.rmtree(self.tree.root / ".course")
        self.assertNotIn("the reference is linked", self.tree.make("all"))
        self.assertIn("1 yours", self.tree.run("build/bin/serve --version")[1])

    def test_58_flags_of_make_change_no_verdict(self):
        self.attempt(RIGHT, status=0)
        for flags in ("-n", "-t", "-k", "-R", "-B -j8", "-i"):
            self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(f"    (void)y; // {flags}"))
            self.assertIn("rmsnorm: wrong", self.tree.run(f"make {flags} test EX=rmsnorm")[1], flags)

    def test_59_a_compiler_may_speak_any_language(self):
        compiler = self.tree.root / "cc-de"
        compiler.write_text('#!/bin/sh\n[ "$LC_ALL" = C ] && exec gcc "$@"\n'
                            "gcc \"$@\" 2>&1 | sed -e 's/ error: / Fehler: /' -e 's/undefined ref.* to/Verweis auf/' >&2\n")
        compiler.chmod(0o755)
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm("    for (;;) {"))
        said = self.tree.test("rmsnorm", 1, "CC=./cc-de", "BUILD=build/de", LC_ALL="de_DE.UTF-8")
        self.assertRegex(said, r"rmsnorm: compile\n\s+level2-operator/kernels/rmsnorm\.c:\d+: ")

    def test_60_letters_of_any_kind(self):
        self.attempt(RIGHT + "\n    // drei Aepfel: \u00c4pfel \u2500", status=0)
        for env in ({"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"LC_ALL": "xx_YY"}):
            for words in (("test", "EX=rmsnorm"), ("compare", "EX=rmsnorm"), ("status",), ("next",)):
                self.assertNotIn("Traceback", self.tree.make(*words, **env), (words, env))

    def test_61_without_a_tool_the_sentence_names_it(self):
        self.attempt(RIGHT, status=0)
        folder = self.tree.root / "few tools"
        folder.mkdir()
        for path in Path("/usr/bin").iterdir():
            if path.name not in ("nm", "pkg-config", "apt-get", "sudo"):
                (folder / path.name).symlink_to(path)
        for missing, other, words in (("nm", "pkg-config", "nm is not here"),
                                      ("pkg-config", "nm", "rmsnorm: skipped: needs pkg-config")):
            (folder / missing).unlink(missing_ok=True)
            (folder / other).symlink_to(shutil.which(other))
            self.assertIn(words, self.tree.run("tools/course.py test rmsnorm", PATH=str(folder))[1])

    def test_51_a_missing_compiler_is_not_the_learners_fault(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        said = self.tree.make("test", "EX=rmsnorm", "CC=no-such-cc", "BUILD=build/none")
        self.assertIn("rmsnorm: blocked", said)
        self.assertIn("no-such-cc", said)
        self.assertEqual(self.counts(said), (0, 0))

    def test_52_it_works_from_another_directory(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        where = str(self.tree.root)
        self.assertEqual(self.tree.run(f"make -C '{where}' test EX=rmsnorm", cwd="/")[0], 0)
        self.assertIn("rmsnorm", self.tree.run(f"'{where}/tools/course.py' status", cwd="/")[1])

    def test_53_two_runs_at_once_wait_for_each_other(self):
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        self.tree.write("level2-operator/kernels/rope.c", self.tree.solution(self.tree.exercise("rope")))
        said = {}
        def one(name):
            said[name] = self.tree.run(f"make test EX={name}")
        threads = [threading.Thread(target=one, args=(name,)) for name in ("rmsnorm", "rope")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([said[name][0] for name in ("rmsnorm", "rope")], [0, 0], said)
        self.assertRegex(self.tree.make("status"), r"(?s)rmsnorm\s+done.*rope\s+done")

    def test_54_damaged_memory_of_the_course_is_no_disaster(self):
        self.attempt(RIGHT, status=0)
        for path, text in (("build/results.json", "{"), (".course/passed", "\0garbage\nx y z\n"), (".course/level", "seven"),
                           (".course/hints", "rope\nrope x\n")):
            self.tree.write(path, text)
            self.tree.make("status")
            self.tree.make("hint", "EX=rope")
        self.tree.test("rmsnorm", 0)

    def test_55_no_network_is_needed(self):  # CRS-04
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        alone = "unshare -n " if self.tree.run("unshare -n true")[0] == 0 else ""  # root may leave the network
        nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        status, said = self.tree.run(f"{alone}make test EX=rmsnorm", **nowhere)
        self.assertEqual(status, 0, said)

    def test_56_another_compiler_is_as_good(self):  # CRS-07: and nobody asks for OpenMP
        if not shutil.which("clang"):
            self.skipTest("clang is not here")
        self.tree.write("level2-operator/kernels/rmsnorm.c", rmsnorm(RIGHT))
        self.tree.test("rmsnorm", 0, "CC=clang", "BUILD=build/clang")
        self.assertNotIn("openmp", self.tree.read("Makefile").lower())

    def test_57_the_automatic_build_runs_the_learners_command(self):  # CRS-08
        self.assertRegex(self.tree.read(".ci/run"), r"(?m)^make test$")

    def test_57_a_library_that_is_missing_skips_its_exercises_by_name(self):
        self.tree.write("level1-user/reply.c", self.tree.solution(self.tree.exercise("reply")))
        status, said = self.tree.run("tools/course.py test reply", PKG_CONFIG_LIBDIR="/nowhere")
        self.assertEqual((status, self.counts(said)), (0, (0, 0)))
        needs = "reply: skipped: needs jansson, check: make setup-suite installs it"
        self.assertIn(needs, said)
        self.assertIn(needs, self.tree.make("status"))

    def test_58_a_file_that_is_gone_is_named(self):
        header = self.tree.root / "level2-operator/kernels/rope.h"
        header.rename(header.with_suffix(".away"))
        try:
            said = self.tree.make("next", "EX=rope", status=2)
        finally:
            header.with_suffix(".away").rename(header)
        self.assertIn("level2-operator/kernels/rope.h: No such file or directory; git checkout level2-operator/kernels/rope.h", said)
        self.assertNotIn("Traceback", said)

    def test_59_a_file_that_is_no_utf8_is_judged_and_compared(self):
        path = self.tree.root / "level2-operator/kernels/rmsnorm.c"
        path.write_bytes(rmsnorm(RIGHT).encode() + b"// caf\xe9\n")
        self.tree.test("rmsnorm", 0)
        self.assertIn("+++ solutions/level2-operator/kernels/rmsnorm.c", self.tree.make("compare", "EX=rmsnorm"))


if __name__ == "__main__":
    unittest.main()
