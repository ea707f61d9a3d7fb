#!/usr/bin/env python3
"""Wrong solutions on purpose: what a list of them may hold, when a misconception is claimed, and the stubs
that nobody may pass with."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import exercise, fill  # noqa: E402
from ladder import catalog, mutants, proof  # noqa: E402
from ladder.catalog import Refused  # noqa: E402
from ladder.suite import Test  # noqa: E402

TURN = exercise()
SOLUTION = """#include "level1-user/turn.h"

static int given(int x) {
    return x + 1;
}

int turn(int x) {
    // [exercise turn]
    int y = x * 2;
    y = y + given(3);
    return y - 7;
    // [end]
}
"""
GOOD = [{"name": "no-two", "old": "x * 2", "new": "x", "misconception": "The two seems to be forgotten."},
        {"name": "no-three", "old": "given(3)", "new": "given(2)", "misconception": "Seems to begin at two."},
        {"name": "plus", "old": "return y - 7;", "new": "return y + 7;", "misconception": "The sign seems to be turned."}]


def saw(cause="wrong", index=0, got="1"):
    return {"cause": cause, "index": index, "got": got}


def test(name, cause="wrong", index=0, got="1"):
    return Test(name, "edges", cause, differs={"index": index, "got": got} if got is not None else {})


class InATree(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="mutants ")
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        self.write(GOOD)

    def write(self, items, **changes):
        fill(self.root, {TURN.solution: SOLUTION,
                         "tests/mutants/turn.json": json.dumps({"exercise": "turn", "mutants": items, **changes})})


class Load(InATree):
    def refused(self, words, items=None, **changes):
        self.write(items if items is not None else GOOD, **changes)
        with self.assertRaisesRegex(Refused, r"^tests/mutants/turn.json: " + words):
            mutants.load(TURN, self.root)

    def one(self, **changes):
        return [{**GOOD[0], **changes}, *GOOD[1:]]

    def test_a_good_list(self):
        self.assertEqual(mutants.load(TURN, self.root), GOOD)
        self.assertIn("int y = x;", mutants.apply(GOOD[0], SOLUTION))

    def test_old_text_that_stands_twice_or_never(self):
        self.refused("no-two: its old text stands 2 times in solutions/level1-user/turn.c, not once", self.one(old="return"))
        self.refused("no-two: its old text stands 0 times", self.one(old="x * 3"))

    def test_what_the_learner_does_not_write(self):
        self.refused("no-two: edits what the learner does not write", self.one(old="x + 1"))
        self.refused("no-two: edits", self.one(old="int turn(int x) {\n    // [exercise turn]\n    int y", new="x"))
        self.refused("no-two: edits", self.one(old="// [end]\n}", new="}"))

    def test_an_edit_over_several_lines(self):
        self.write(self.one(old="x * 2;\n    y = y + given(3);", new="x * 2;"))
        mutants.load(TURN, self.root)

    def test_a_change_that_changes_nothing(self):
        self.refused("no-two: changes nothing", self.one(new="x * 2"))

    def test_words_that_are_no_line(self):
        self.refused("no-two: the misconception is one line of at most 100", self.one(misconception="x" * 101))
        self.refused("no-two: the misconception is one line", self.one(misconception="one\ntwo"))

    def test_too_few_too_many_and_twice(self):
        self.refused("2 mutants, must be 3 to 8", GOOD[:2])
        self.refused("9 mutants, must be 3 to 8", [{**GOOD[0], "name": f"m{i}"} for i in range(9)])
        self.refused("two mutants have one name", [*GOOD, GOOD[0]])

    def test_a_file_that_is_something_else(self):
        self.refused("belongs to 'rope', not to turn", exercise="rope")
        self.refused("a mutant has misconception, name, new, old, and not name, new, old",
                     [{key: GOOD[0][key] for key in ("name", "old", "new")}, *GOOD[1:]])
        fill(self.root, {"tests/mutants/turn.json": "{"})
        with self.assertRaisesRegex(Refused, r"^tests/mutants/turn.json: Expecting"):
            mutants.load(TURN, self.root)

    def test_all_that_the_course_has(self):
        for ex in catalog.load().exercises:
            found = mutants.load(ex)
            self.assertEqual(set(mutants.load_record(ex)["mutants"]), {mutant["name"] for mutant in found}, ex.id)


class Match(InATree):
    def match(self, *tests, seed="1", **records):
        mutants.save_record(TURN, {name.replace("_", "-"): value for name, value in records.items()}, "1", self.root)
        return mutants.match(TURN, tests, seed, self.root)

    words = GOOD[0]["misconception"]

    def test_the_same_failures(self):
        self.assertEqual(self.match(test("a[0]"), test("b[1]", got="2.5"), test("c[0]", "pass"),
                                    no_two={"a[0]": saw(), "b[1]": saw(got="2.5")}), self.words)
        self.assertEqual(self.match(test("a[0]", "crash", None, None), no_two={"a[0]": saw("crash", None, None)}), self.words)

    def test_floats_differ_in_the_last_digits(self):
        for mine, theirs, same in (("1.00001", "1.00002", True), ("1", "1.0001", True), ("nan", "-nan", True),
                                   ("inf", "inf", True),
                                   ("1.00", "1.01", False), ("nan", "1", False), ("inf", "-inf", False), ("0.0", "1e-9", True)):
            self.assertEqual(bool(self.match(test("a[0]", got=mine), no_two={"a[0]": saw(got=theirs)})), same, (mine, theirs))

    def test_whole_numbers_and_texts_do_not(self):
        for mine, theirs in (("31999", "32000"), ("-5", "5"), ("yes", "no"), ("", "x"), ("1", None)):
            self.assertIsNone(self.match(test("a[0]", got=mine), no_two={"a[0]": saw(got=theirs)}), (mine, theirs))

    def test_no_claim(self):
        record = {"a[0]": saw(), "b[0]": saw()}
        same = (test("a[0]"), test("b[0]"))
        self.assertEqual(self.match(*same, no_two=record), self.words)
        for what, tests in (("one more fails", (*same, test("c[0]"))), ("one less fails", same[:1]), ("nothing fails", ()),
                            ("another index", (test("a[0]", index=1), same[1])),
                            ("another cause", (test("a[0]", "memory"), same[1]))):
            self.assertIsNone(self.match(*tests, no_two=record), what)
        self.assertIsNone(self.match(*same, seed="2", no_two=record), "another seed")
        self.assertIsNone(self.match(*same, no_two=record, plus=record), "two records are equal")
        self.assertIsNone(self.match(*same, long_gone=record), "no such mutant any more")
        self.assertIsNone(self.match(test("a[0]", "not started"), no_two={}), "not started is no failure")

    def test_without_a_record_or_a_list(self):
        self.assertIsNone(mutants.match(TURN, [test("a[0]")], "1", self.root))
        fill(self.root, {"tests/mutants/records/turn.json": "{", "tests/mutants/turn.json": "{"})
        self.assertIsNone(mutants.match(TURN, [test("a[0]")], "1", self.root))
        self.assertIsNone(self.match(test("a[0]"), no_two={"a[0]": saw()}))

    def test_a_record_is_stale_where_a_mutant_fails_in_another_way_or_is_gone(self):
        was = {"a": {"t[0]": saw(got="0.5")}, "b": {"t[0]": saw()}}
        mutants.save_record(TURN, was, "1", self.root)
        close, other = {"t[0]": saw(got="0.500001")}, {"t[0]": saw(got="7")}
        for now, stale in ((was, []), ({**was, "a": close}, []), ({**was, "a": other}, ["a"]), ({**was, "c": close}, ["c"]),
                           ({"a": was["a"]}, ["b"]), ({**was, "b": {**was["b"], "u[0]": saw()}}, ["b"])):
            self.assertEqual(mutants.stale_in_record(TURN, now, self.root), stale)

    def test_a_record_comes_back_as_it_was_written(self):
        signatures = {"no-two": {"a[0]": saw(got='x "y"'), "b[1]": saw("crash", None, None)}, "plus": {}}
        mutants.save_record(TURN, signatures, "1", self.root)
        self.assertEqual(mutants.load_record(TURN, self.root), {"exercise": "turn", "seed": "1", "mutants": signatures})


class Stubs(unittest.TestCase):
    def body(self, head, value=1):
        return proof.stub_of(f'{head} {{\n    EXERCISE("turn");\n}}\n', value).splitlines()[-2]

    def test_each_type(self):
        for head, body in (("void turn(int *x)", "return;"), ("int turn(void)", "return 1;"), ("bool is_it(void)", "return 1;"),
                           ("enum status turn(struct error *err)", "return 1;"), ("unsigned turn(int x)", "return 1;"),
                           ("unsigned char turn(int x)", "return 1;"), ("float turn(float x)", "return 1;"),
                           ("int64_t turn(void)", "return 1;"), ("char *turn(void)", "return NULL;"),
                           ("const char *turn(void)", "return NULL;"), ("struct point *turn(int x)", "return NULL;"),
                           ("const struct point *turn(int x)", "return NULL;"), ("matvec_fn *turn(int x)", "return NULL;"),
                           ("struct point turn(int x)", "return (struct point){1};"),
                           ("static void turn(int *x)", "return;"), ("static inline int turn(int x)", "return 1;"),
                           ("static const char *turn(int x)", "return NULL;"),
                           ("static struct point turn(int x,\n                  int y)", "return (struct point){1};")):
            self.assertEqual(self.body(head), "    " + body, head)
        self.assertEqual(self.body("int turn(void)", 0), "    return 0;")

    def test_every_gap_gets_the_return_of_its_own_function(self):
        text = 'void a(void) {\n    int x = f(\n        1);\n    EXERCISE("turn");\n}\n\nint b(void) {\n    EXERCISE("turn");\n}\n'
        self.assertEqual(proof.stub_of(text, 0), 'void a(void) {\n    int x = f(\n        1);\n    return;\n}\n\n'
                                                 'int b(void) {\n    return 0;\n}\n')


if __name__ == "__main__":
    unittest.main()
