#!/usr/bin/env python3
"""The cutter: markers, what vanishes, where the include goes, what it refuses, and that it never writes
over somebody's work."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import ROOT, document, entry, exercise, fill  # noqa: E402
from ladder import catalog, cut  # noqa: E402

BODY = """void turn(int *x) {
    // [exercise turn]
    *x = -*x;
    // [end]
}
"""
SOLUTION = '// Turns things.\n#include "level1-user/turn.h"\n\n' + BODY
HEADERS = {"level1-user/turn.h": "void turn(int *x);\n", "common/a.h": "void a(void);\n", "common/text.h": "struct text {\n};\n",
           "common/exercise.h": "#define EXERCISE(id) exercise_not_started(id)\n"}


def starter(text, **changes):
    return cut.starter_of(text, exercise(**changes))


def includes(text):
    """The include block of a starter, with its blank lines."""
    lines = text.splitlines()
    at = [i for i, line in enumerate(lines) if line.startswith("#include")]
    return lines[at[0]:at[-1] + 1]


def faults(text, **changes):
    made = exercise(**changes)
    return list(cut.faults_of_starter(cut.starter_of(text, made), made, lambda name: HEADERS[name]))


class Markers(unittest.TestCase):
    def refused(self, text, words):
        with self.assertRaises(cut.CutError) as caught:
            starter(text)
        self.assertIn(words, str(caught.exception))

    def test_a_region_inside_another(self):
        self.refused(SOLUTION.replace("    *x", "    // [exercise turn]\n    *x"),
                     "solutions/level1-user/turn.c:6: a region inside the one of line 5")

    def test_a_region_that_is_never_closed(self):
        self.refused(SOLUTION.replace("    // [end]\n", ""), "turn.c:5: a region without an end")

    def test_an_end_without_a_beginning(self):
        self.refused(SOLUTION + "// [end]\n", "turn.c:9: an end without a beginning")

    def test_the_name_of_another_exercise(self):
        self.refused(SOLUTION.replace("exercise turn", "exercise rope"), "marks rope in the file of turn")

    def test_a_marker_that_is_misspelt_is_never_plain_text(self):
        for wrong in ("//[exercise turn]", "// [exercise turn] ", "// [exercise Turn]", "// [exercise turn dropped]",
                      "/* [exercise turn] */", "// [exercice turn]", "// [Exercise turn]", "x(); // [exercise turn]"):
            self.refused(SOLUTION.replace("// [exercise turn]", wrong), "turn.c:5: not a marker: ")
        for wrong in ("//[end]", "// [end] ", "// [End]", "// [ende]"):
            self.refused(SOLUTION.replace("// [end]", wrong), "turn.c:7: not a marker: ")

    def test_nothing_to_write(self):
        self.refused('#include "level1-user/turn.h"\n', "marks nothing to write")
        self.refused(SOLUTION.replace("turn]", "turn drop]"), "marks nothing to write")

    def test_no_include(self):
        self.refused(BODY, "includes nothing, not even level1-user/turn.h")

    def test_a_comment_with_brackets_is_a_comment(self):
        self.assertIn("// x in [0, 1), see [end] of the page", starter("// x in [0, 1), see [end] of the page\n" + SOLUTION))


class Parts(unittest.TestCase):
    two = '#include "level1-user/turn.h"\n\n' + BODY.replace("exercise turn", "exercise turn.left") \
        + BODY.replace("exercise turn", "exercise turn.right")

    def test_each_region_names_its_part(self):
        text = starter(self.two, parts=("left", "right"))
        self.assertIn('    EXERCISE("turn.left");', text)
        self.assertIn('    EXERCISE("turn.right");', text)

    def test_a_region_of_no_part(self):
        for wrong in ("exercise turn]", "exercise turn.middle]", "exercise turn drop]"):
            with self.assertRaisesRegex(cut.CutError, "turn.c:4: marks turn"):
                starter(self.two.replace("exercise turn.left]", wrong), parts=("left", "right"))

    def test_parts_that_course_json_does_not_list(self):
        with self.assertRaisesRegex(cut.CutError, "marks turn.left; in course.json stands turn$"):
            starter(self.two)

    def test_a_part_with_nothing_to_write(self):
        with self.assertRaisesRegex(cut.CutError, "marks nothing to write for turn.up"):
            starter(self.two, parts=("left", "right", "up"))


class Starter(unittest.TestCase):
    def test_the_head_says_whose_it_is_and_keeps_the_comment(self):
        self.assertEqual(starter(SOLUTION), """// Yours to write. Contract: level1-user/turn.h. Explained: docs/level1/turn.md.
// Red or green: make test EX=turn
//
// Turns things.
#include "level1-user/turn.h"

#include "common/exercise.h"

void turn(int *x) {
    EXERCISE("turn");
}
""")

    def test_a_head_comment_that_gives_all_away_vanishes(self):
        text = starter("// [exercise turn drop]\n" + SOLUTION.replace("things.\n", "things.\n// [end]\n"))
        self.assertEqual(text.splitlines()[1:3], ["// Red or green: make test EX=turn", '#include "level1-user/turn.h"'])

    def test_a_dropped_helper_leaves_no_hole(self):
        helper = "// [exercise turn drop]\n// Helps.\nstatic int help(void) {\n    return 1;\n}\n// [end]\n\n"
        self.assertEqual(starter(SOLUTION.replace("void turn", helper + "void turn", 1)), starter(SOLUTION))

    def test_given_code_stays_letter_for_letter(self):
        given = "static int given(void) {\n    return 2;\n}\n\n"
        self.assertIn(given, starter(SOLUTION.replace("void turn", given + "void turn", 1)))

    def test_lines_to_write_are_code(self):
        text = SOLUTION.replace("    *x =", "    // why\n\n    int y = 1;\n    *x =")
        self.assertEqual(cut.lines_to_write(text, cut.regions_of(text, "turn.c", "turn")), 2)
        text = "// [exercise turn drop]\n#include <math.h>\nint z;\n// [end]\n" + SOLUTION
        self.assertEqual(cut.lines_to_write(text, cut.regions_of(text, "turn.c", "turn")), 2)


class Includes(unittest.TestCase):
    """Own header, system, project, each group sorted, a blank line between them."""

    def order(self, *between):
        return includes(starter("\n".join(['#include "level1-user/turn.h"', *between]) + "\n\n" + BODY))

    own, mine = '#include "level1-user/turn.h"', '#include "common/exercise.h"'

    def test_only_the_own_header(self):
        self.assertEqual(self.order(), [self.own, "", self.mine])

    def test_no_project_group(self):
        self.assertEqual(self.order("", "#include <stdio.h>"), [self.own, "", "#include <stdio.h>", "", self.mine])

    def test_first_middle_and_last_of_its_group(self):
        a, text, http = '#include "common/a.h"', '#include "common/text.h"', '#include "level1-user/http.h"'
        self.assertEqual(self.order("", text, http), [self.own, "", self.mine, text, http])
        self.assertEqual(self.order("", a, text), [self.own, "", a, self.mine, text])
        self.assertEqual(self.order("", "#include <stdio.h>", "", a), [self.own, "", "#include <stdio.h>", "", a, self.mine])

    def test_who_includes_it_already_gets_no_second(self):
        self.assertEqual(self.order("", self.mine), [self.own, "", self.mine])

    def test_dropped_groups_leave_one_blank_line(self):
        drop = ("// [exercise turn drop]", "#include <math.h>", "// [end]")
        self.assertEqual(self.order("", *drop), [self.own, "", self.mine])
        self.assertEqual(self.order("", *drop, "#include <stdio.h>", "", '#include "common/a.h"'),
                         [self.own, "", "#include <stdio.h>", "", '#include "common/a.h"', self.mine])


class Refusals(unittest.TestCase):
    def solution(self, before="", head="", after="", body="    *x = -*x;"):
        return ('#include "level1-user/turn.h"\n' + head + "\n" + before + BODY.replace("    *x = -*x;", body) + after)

    def only(self, name):
        return [f"solutions/level1-user/turn.c: only the solution needs {name}: put it into a drop region"]

    def test_nothing_to_refuse(self):
        self.assertEqual(faults(SOLUTION), [])

    def test_a_static_helper(self):
        for helper in ("static int help(int x) {\n    return x;\n}\n\n", "static const char *help(void);\n\n",
                       "static struct point help(\n    int x) {\n    return x;\n}\n\n"):
            self.assertEqual(faults(self.solution(helper, body="    help(1);")), self.only("help"))

    def test_a_table(self):
        for table in ("static const int powers[3] = {1, 10, 100};\n\n", "static const int powers = 3;\n\n",
                      "static const struct {\n    const char *name;\n    int x[4];\n} powers[] = {{\"a\", {1}}};\n\n"):
            self.assertEqual(faults(self.solution(table, body="    *x = powers[1];")), self.only("powers"))

    def test_an_enum_constant(self):
        text = self.solution("enum { MOST = 4, LEAST = 1 };\n\n", after="\nint least(void) {\n    return LEAST;\n}\n")
        self.assertEqual(faults(text), self.only("MOST"))
        self.assertEqual(faults(self.solution("enum side {\n    LEFT_SIDE,\n};\n\n")), self.only("LEFT_SIDE"))

    def test_a_system_include(self):
        self.assertEqual(faults(self.solution(head="\n#include <math.h>\n", body="    *x = sqrt(2);")), self.only("<math.h>"))
        self.assertEqual(faults(self.solution(head="\n#include <unknown.h>\n")), [])  # nobody knows what is in it

    def test_a_project_include(self):
        self.assertEqual(faults(self.solution(head='\n#include "common/a.h"\n', body="    a();")), self.only("<common/a.h>"))
        text = self.solution(head='\n#include "common/text.h"\n', after="\nstruct text none(void) {\n    return {0};\n}\n")
        self.assertEqual(faults(text), [])

    def test_comments_and_strings_use_nothing(self):
        text = self.solution("static int help(void) {\n    return 1;\n}\n\n// help is good\n",
                             after='\n/* help\n   help */\nint f(void) {\n    return g("help", \'h\');\n}\n')
        self.assertEqual(faults(text), self.only("help"))

    def test_code_behind_a_string_is_code(self):
        for before in ('g("http://x", ', "g('\"', ", 'g("a\\"b", ', "/* it's */ g("):
            text = self.solution("static int help(void) {\n    return 1;\n}\n\n",
                                 after=f"\nint f(void) {{\n    {before}help()); // '\n}}\n")
            self.assertEqual(faults(text), [], before)

    def test_the_audit_lists_what_vanishes(self):
        drop = ("// [exercise turn drop]\n#include <math.h>\n\nenum { MOST = 4 };\nstatic const int powers[] = {1};\n\n"
                "static int help(int x) {\n    return x;\n}\n// [end]\n")
        self.assertEqual(list(cut.only_in_solution(drop + SOLUTION, exercise())),
                         [("include", "math.h"), ("table", "powers"), ("helper", "help"), ("constant", "MOST")])


class RealStarters(unittest.TestCase):
    def test_each_is_cut_the_same_twice_and_gives_nothing_away(self):
        for ex in catalog.load().exercises:
            text = (ROOT / ex.solution).read_text()
            made = cut.starter_of(text, ex)
            self.assertEqual(made, cut.starter_of(text, ex))
            self.assertNotRegex(made, r"\[exercise|\[end\]")
            lines, inside = text.splitlines(), set()
            for region in cut.regions_of(text, ex.solution, ex.id):
                inside |= set(range(region.first, region.last + 1))
            outside = {line for i, line in enumerate(lines) if i not in inside}
            secret = {lines[i] for i in inside if lines[i].strip("/ ")} - outside
            self.assertEqual(secret & set(made.splitlines()), set(), ex.id)
            self.assertEqual(list(cut.faults_of_starter(made, ex, lambda name: (ROOT / name).read_text())), [])


class Command(unittest.TestCase):
    """cut_exercises.py in a repository of its own."""

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cut ")
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        shutil.copytree(ROOT / "tools" / "ladder", self.root / "tools" / "ladder")
        shutil.copy(ROOT / "tools" / "cut_exercises.py", self.root / "tools")
        fill(self.root, {"course.json": json.dumps(document(entry())), "solutions/level1-user/turn.c": SOLUTION,
                         **HEADERS})
        self.git("init", "-q")
        self.file = self.root / "level1-user/turn.c"

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=self.root, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def cut(self, *words):
        done = subprocess.run([sys.executable, "tools/cut_exercises.py", *words], cwd=self.root, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_writes_checks_and_leaves_alone(self):
        self.assertEqual(self.cut("--check"), (1, "not what is cut from the solution: level1-user/turn.c: make refresh\n"))
        self.assertEqual(self.cut(), (0, "cut level1-user/turn.c\n"))
        self.assertEqual(self.cut("--check"), (0, "1 starters are what is cut from their solutions\n"))
        before = self.file.stat().st_mtime_ns
        self.assertEqual(self.cut(), (0, ""))
        self.assertEqual(self.file.stat().st_mtime_ns, before)
        self.assertEqual(self.cut("--audit"), (0, "turn            1 lines to write; only in the solution: nothing\n"))

    def test_a_committed_starter_is_cut_again(self):
        self.cut()
        self.commit()
        fill(self.root, {"solutions/level1-user/turn.c": SOLUTION.replace("Turns", "Twists")})
        self.assertEqual(self.cut(), (0, "cut level1-user/turn.c\n"))
        self.assertIn("Twists", self.file.read_text())

    def test_a_starter_in_no_commit_is_cut_again_as_long_as_nobody_worked_in_it(self):
        self.cut()
        fill(self.root, {"solutions/level1-user/turn.c": SOLUTION.replace("Turns", "Twists")})
        self.assertEqual(self.cut(), (0, "cut level1-user/turn.c\n"))
        self.file.write_text(self.file.read_text() + "// mine\n")
        fill(self.root, {"solutions/level1-user/turn.c": SOLUTION})
        self.assertEqual(self.cut()[0], 1)

    def test_work_in_no_commit_is_never_lost(self):
        said = (1, "level1-user/turn.c holds work that is in no commit: make reset EX=turn keeps a copy\n")
        self.file.write_text("mine, unknown to git\n")
        self.assertEqual(self.cut(), said)
        self.git("add", "level1-user/turn.c")
        self.assertEqual(self.cut(), said)
        self.commit()
        self.file.write_text("mine, changed\n")
        self.assertEqual(self.cut(), said)
        self.git("add", "level1-user/turn.c")
        self.assertEqual(self.cut(), said)
        self.assertEqual(self.file.read_text(), "mine, changed\n")

    def test_all_faults_are_told_at_once(self):
        fill(self.root, {"course.json": json.dumps(document(entry(), entry("lost"))),
                         "solutions/level1-user/turn.c": SOLUTION.replace("// [end]", "")})
        status, said = self.cut()
        self.assertEqual(status, 1)
        self.assertIn("turn.c:5: a region without an end", said)
        self.assertIn("solutions/level1-user/lost.c", said)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
