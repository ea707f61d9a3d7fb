#!/usr/bin/env python3
"""The tiny model is the same everywhere: tests compare numbers that were made on other machines."""
import hashlib
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MAKER = Path(__file__).resolve().parents[2] / "tools" / "tiny_model.py"
SHA256 = "7d289d796859fcfa6b34e8345cbebef12d717636c8142a419149a1de59b6f024"
MAX_BYTES = 300 * 1024


def make(*options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        subprocess.run([sys.executable, MAKER, "--out", path, *options], check=True)
        return path.read_bytes()


class TinyModel(unittest.TestCase):
    def test_gives_the_same_bytes_on_every_machine(self):
        self.assertEqual(hashlib.sha256(make()).hexdigest(), SHA256)

    def test_is_small(self):
        self.assertLess(len(make()), MAX_BYTES)

    def test_another_seed_gives_other_weights_and_the_same_tokenizer(self):
        one, two = make("--seed", "1"), make("--seed", "2")
        self.assertEqual(len(one), len(two))
        self.assertNotEqual(one, two)
        self.assertEqual(one[:16000], two[:16000])

    def test_untied_adds_an_output_matrix(self):
        name = (13).to_bytes(8, "little") + b"output.weight"
        self.assertNotIn(name, make())
        self.assertIn(name, make("--untied"))

    def test_one_type_for_all_matrices_leaves_norms_alone(self):
        self.assertLess(len(make("--dtype", "Q4_0")), len(make("--dtype", "F16")))


if __name__ == "__main__":
    unittest.main()
