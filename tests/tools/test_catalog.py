#!/usr/bin/env python3
"""course.json: how a name is found in it, and that the real one keeps its own rules."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from course_of_one import ROOT, course, entry, fill  # noqa: E402
from ladder import catalog, cut  # noqa: E402
from ladder.catalog import Misused, Refused  # noqa: E402


class Find(unittest.TestCase):
    course = course(entry("turn"), entry("block-pool", level=2), entry("push"))

    def test_by_id_and_by_place_in_its_level(self):
        for name, found in (("turn", "turn"), ("L1.1", "turn"), ("l1.2", "push"), ("L2.1", "block-pool"),
                            ("Block-Pool", "block-pool")):
            self.assertEqual(self.course.find(name).id, found)

    def test_a_name_that_is_none_is_answered_with_the_nearest(self):
        for name, near in (("trun", "; did you mean turn?"), ("blockpool", "; did you mean block-pool?"), ("L9.1", ""),
                           ("xyz", "")):
            with self.assertRaises(Misused) as caught:
                self.course.find(name)
            self.assertEqual(str(caught.exception), f"no exercise '{name}'{near or '.'} There are: turn, block-pool, push")
            self.assertEqual(caught.exception.status, 2)

    def test_a_damaged_list_is_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("{", "[]", "{}", '{"levels": [{}], "exercises": []}', '{"levels": [], "exercises": [{"id": "x"}]}'):
                fill(folder, {"course.json": text})
                with self.assertRaisesRegex(Refused, "^course.json: .*; git checkout course.json brings it back"):
                    catalog.load(Path(folder))


    def test_a_field_of_a_wrong_type_and_an_id_twice_are_sentences(self):
        for entries, words in (([entry("turn", **{"tests": "44"})], "exercise turn: tests is '44', must be of type int"),
                               ([entry("turn", core=1)], "exercise turn: core is 1, must be of type bool"),
                               ([entry("turn"), entry("turn")], "the id turn stands there twice")):
            with self.assertRaisesRegex(ValueError, words):
                course(*entries)


class RealCourse(unittest.TestCase):
    exercises = catalog.load().exercises

    def test_ids_are_slugs_and_stand_once(self):
        ids = [ex.id for ex in self.exercises]
        self.assertEqual(len(set(ids)), len(ids))
        for name in ids:
            self.assertRegex(name, r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")

    def test_its_files_are_there(self):
        for ex in self.exercises:
            for path in (ex.file, ex.solution, ex.header, ex.suite, ex.doc, f"tests/mutants/{ex.id}.json"):
                self.assertTrue((ROOT / path).is_file(), path)

    def test_what_it_promises_a_learner(self):
        for ex in self.exercises:
            self.assertTrue(ex.title and 0 < len(ex.why) <= 100, f"{ex.id}: {len(ex.why)} characters of why")
            self.assertEqual(len(ex.hints), 3, ex.id)
            self.assertEqual(set(ex.payoff), {"command", "sentence"}, ex.id)
            self.assertTrue(all([*ex.hints, *ex.payoff.values()]), ex.id)
            self.assertTrue(ex.tests > 0 and ex.minutes > 0 and ex.points > 0 and ex.difficulty in (1, 2, 3), ex.id)

    def test_parts_are_its_own_and_their_points_add_up(self):
        for ex in self.exercises:
            self.assertLessEqual(len(ex.parts), 4, ex.id)
            self.assertTrue(all(part.id == f"{ex.id}.{part.name}" for part in ex.parts), ex.id)
            self.assertEqual(len({part.id for part in ex.parts}), len(ex.parts), ex.id)
            if ex.parts:
                self.assertEqual(sum(part.points for part in ex.parts), ex.points, ex.id)

    def test_what_it_needs_comes_before(self):
        before = set()
        for ex in self.exercises:
            self.assertLessEqual(set(ex.needs), before, ex.id)
            before.add(ex.id)

    def test_neither_too_little_nor_too_much_to_write(self):
        for ex in self.exercises:
            text = (ROOT / ex.solution).read_text()
            lines = cut.lines_to_write(text, cut.regions_of(text, ex.solution, ex.id))
            self.assertTrue(10 <= lines <= 180, f"{ex.id}: {lines} lines")


if __name__ == "__main__":
    unittest.main()
