#!/usr/bin/env python3
"""Which files a suite links, which libraries, and what takes a pass away."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import ROOT, exercise, fill  # noqa: E402
from ladder import catalog, sources  # noqa: E402

TURN = exercise()
TREE = {
    "level1-user/turn.h": '#include "common/point.h"\nvoid turn(struct point *p);\n',
    "level1-user/turn.c": '#include "level1-user/turn.h"\n\n#include "common/exercise.h"\n\nvoid turn(struct point *p) {\n'
                          '    EXERCISE("turn");\n}\n',
    "solutions/level1-user/turn.c": '#include "level1-user/turn.h"\n\n#include "common/angle.h"\n\n'
                                    "void turn(struct point *p) {\n    angle_of(p);\n}\n",
    "level1-user/main_turn.c": '#include "level1-user/turn.h"\nint main(void) {\n    turn(0);\n}\n',
    "common/exercise.h": "#define EXERCISE(id) exercise_not_started(id)\n_Noreturn void exercise_not_started(const char *id);\n",
    "common/exercise.c": '#include "common/exercise.h"\n',
    "common/point.h": "struct point {\n    int x;\n};\n",
    "common/angle.h": "double angle_of(void *p);\n",
    "common/angle.c": '#include "common/angle.h"\n\n#include <math.h>\n\n#include "common/table.h"\n\n'
                      "double angle_of(void *p) {\n    return table_at(p);\n}\n",
    "common/table.h": "extern const int table_size[4];\ndouble table_at(void *p);\n",
    "common/table.c": '#include "common/table.h"\n',
    "common/table_data.c": '#include "common/table.h"\n\nconst int table_size[4] = {0};\n',
    "common/json.h": "void json_read(void);\nstatic inline int quick(int x) {\n    return slow_part(x);\n}\n"
                     "int slow_part(int x);\n",
    "common/json.c": '#include "common/json.h"\n\n#include <jansson.h>\n',
    "common/unused.h": "void unused(void);\n",
    "common/unused.c": '#include "common/unused.h"\n\n#include <utf8proc.h>\n',
    "tests/support/main.c": '#include <check.h>\n\n#include "tests/support/suite.h"\n\nint main(void) {\n    suite();\n}\n',
    "tests/support/suite.h": "void assert_number(int a, int b);\n",
    "tests/support/suite.c": '#include "tests/support/suite.h"\n',
    "tests/level1/test_turn.c": '#include "level1-user/turn.h"\n#include "tests/support/suite.h"\n\nvoid f(void) {\n'
                                "    turn(0);\n    assert_number(1, 2); // unused() is only talked about\n}\n",
}
ALWAYS = ["common/exercise.c", "tests/level1/test_turn.c", "tests/support/main.c", "tests/support/suite.c"]
ANGLE = ["common/angle.c", "common/table.c", "common/table_data.c"]


class ATree(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="sources ")
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        fill(self.root, TREE)

    def graph(self):
        return sources.Sources(self.root, {TURN.file})


class Links(ATree):
    def change(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        fill(self.root, {name: text.replace(old, new)})

    def linked(self):
        return sorted(sources.suite_sources(self.graph(), TURN))

    def test_what_is_called_and_what_that_calls(self):
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE))

    def test_neither_the_learners_file_nor_its_solution_nor_a_main(self):
        for name in (TURN.file, TURN.solution, "level1-user/main_turn.c"):
            self.assertNotIn(name, self.linked())

    def test_another_exercise_is_linked_as_its_solution(self):
        fill(self.root, {"solutions/level1-user/push.c": '#include "level1-user/push.h"\n',
                         "level1-user/push.h": "void push(void);\n",
                         "level1-user/push.c": '#include "level1-user/push.h"\n'})
        self.change("tests/level1/test_turn.c", "turn(0);", "turn(0);\n    push();")
        self.change("tests/level1/test_turn.c", "#include", '#include "level1-user/push.h"\n#include')
        graph = sources.Sources(self.root, {TURN.file, "level1-user/push.c"})
        linked = sources.suite_sources(graph, TURN)
        self.assertIn("solutions/level1-user/push.c", linked)
        self.assertNotIn("level1-user/push.c", linked)

    def test_what_only_the_learner_calls_comes_along(self):
        self.change(TURN.file, 'EXERCISE("turn");', "json_read();")
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE))  # not included: the compiler will say so
        self.change(TURN.file, '#include "common/exercise.h"', '#include "common/json.h"')
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE + ["common/json.c"]))

    def test_an_include_alone_links_nothing(self):
        self.change(TURN.solution, '#include "common/angle.h"', '#include "common/angle.h"\n#include "common/unused.h"')
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE))
        self.change(TURN.solution, "angle_of(p);", '// angle_of\n    f("angle_of");')
        self.assertEqual(self.linked(), sorted(ALWAYS))

    def test_what_an_inline_function_calls(self):
        self.change(TURN.solution, '#include "common/angle.h"', '#include "common/angle.h"\n#include "common/json.h"')
        self.assertNotIn("common/json.c", self.linked())
        self.change(TURN.solution, "angle_of(p);", "angle_of(p);\n    quick(1);")
        self.assertIn("common/json.c", self.linked())

    def test_a_table_of_another_file(self):
        self.change(TURN.solution, "angle_of(p);", "use(table_size);")
        self.change(TURN.solution, "common/angle.h", "common/table.h")
        self.assertEqual(self.linked(), sorted(ALWAYS + ["common/table.c", "common/table_data.c"]))

    def test_two_that_need_each_other(self):
        self.change("common/table.c", "table.h\"\n",
                    'table.h"\n\n#include "common/angle.h"\n\ndouble x(void) {\n    angle_of(0);\n}\n')
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE))

    def test_a_learners_file_that_is_not_there(self):
        (self.root / TURN.file).unlink()
        self.assertEqual(self.linked(), sorted(ALWAYS + ANGLE))


class Libraries(ATree):
    def test_by_the_headers_of_the_files_themselves(self):
        graph = self.graph()
        self.assertEqual(graph.libraries(["common/json.c", "common/unused.c", "common/json.c"]), ["jansson", "libutf8proc"])
        self.assertEqual(graph.libraries(["common/angle.c", "tests/support/main.c", "none.c"]), [])
        fill(self.root, {"common/net.c": "#include <curl/curl.h>\n#include <event2/event.h>\n#include <event2/http.h>\n"})
        self.assertEqual(graph.libraries(["common/net.c"]), ["libcurl", "libevent"])


class Fingerprint(ATree):
    WATCHED = [TURN.file, TURN.header, "common/point.h", TURN.suite, "tests/support/suite.h", "tests/support/suite.c",
               "tests/support/main.c", "common/exercise.h"]

    def fingerprint(self):
        return sources.fingerprint(self.graph(), TURN)

    def test_changes_with_what_was_judged_and_with_nothing_else(self):
        before = self.fingerprint()
        self.assertEqual(self.fingerprint(), before)
        for name, text in TREE.items():
            fill(self.root, {name: text + "// newer\n"})
            if name in self.WATCHED:
                self.assertNotEqual(self.fingerprint(), before, name)
            else:
                self.assertEqual(self.fingerprint(), before, name)
            fill(self.root, {name: text})
        self.assertEqual(self.fingerprint(), before)

    def test_a_file_that_is_gone_is_another_file(self):
        before = self.fingerprint()
        (self.root / TURN.file).unlink()
        self.assertNotEqual(self.fingerprint(), before)

    def test_text_that_moves_from_file_to_file_is_no_secret(self):
        before = self.fingerprint()
        fill(self.root, {TURN.header: TREE[TURN.header] + "x", TURN.suite: TREE[TURN.suite][1:]})
        self.assertNotEqual(self.fingerprint(), before)


class RealTree(unittest.TestCase):
    def test_no_suite_links_a_learners_file_or_its_own_solution(self):
        exercises = catalog.load().exercises
        files = {ex.file for ex in exercises}
        graph = sources.Sources(ROOT, files)
        for ex in exercises:
            needed = sources.suite_sources(graph, ex)
            self.assertEqual(set(needed) & {*files, ex.solution}, set(), ex.id)
            self.assertEqual(len(needed), len(set(needed)))
            self.assertIn(ex.suite, needed)


if __name__ == "__main__":
    unittest.main()
