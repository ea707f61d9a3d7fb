#!/usr/bin/env python3
"""What a cache with marks would have reported, and the factors that the docs bill it by."""
import json
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import marked_usage  # noqa: E402


def read(seconds, life):
    """Of each request, whether it found the block."""
    return [usage["cache_read_input_tokens"] > 0 for usage in marked_usage.usages(seconds, life)]


class Usages(unittest.TestCase):
    def test_the_first_one_writes_and_a_read_prolongs_the_life(self):
        self.assertEqual(read([0, 200, 400, 600], 300), [False, True, True, True])

    def test_a_pause_as_long_as_the_life_is_not_too_long(self):
        self.assertEqual(read([0, 300, 601], 300), [False, True, False])

    def test_each_request_has_the_block_once_and_its_question(self):
        for usage in marked_usage.usages([0, 1, 9], 3):
            self.assertEqual(usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"], 3000)
            self.assertEqual(usage["input_tokens"], 200)


class Factors(unittest.TestCase):
    def test_they_are_those_of_the_rule(self):
        rules = json.loads((ROOT / "data/cache-rules.json").read_text(encoding="utf-8"))["rules"]
        rule = next(r for r in rules if r["provider"] == "Anthropic")
        prices = json.loads((ROOT / "docs/level1/marks.json").read_text(encoding="utf-8"))["prices"]
        minutes, hour = prices
        self.assertEqual((minutes["cached_input"], minutes["cache_write"]), (rule["read_factor"], rule["write_factor"]))
        self.assertEqual((hour["cached_input"], hour["input"]), (rule["read_factor"], "1"))
        self.assertIn(f"for an hour the write factor is {hour['cache_write']};", rule["notes"])


if __name__ == "__main__":
    unittest.main()
