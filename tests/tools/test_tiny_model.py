#!/usr/bin/env python3
"""The tiny model is the same everywhere: tests compare numbers that were made on other machines."""
import hashlib
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MAKER = Path(__file__).resolve().parents[2] / "tools" / "tiny_model.py"
SHA256 = {
    "llama": "7d289d796859fcfa6b34e8345cbebef12d717636c8142a419149a1de59b6f024",
    "qwen2": "a674edff617065b1aaa0600e014c7a9f36f82ff945c2155e161b120c84db6821",
    "qwen3": "3d016845ddbe17cf476c85793aee5c5f8df761ceca9f94f1660b0e7f99d21713",
    "gemma3": "3ed8d44d80e8c12bb66856d786d38bf3d7958cedc4964d31813ab6d2cc1b9a53",
}
MAX_BYTES = 300 * 1024


def make(*options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        subprocess.run([sys.executable, MAKER, "--out", path, *options], check=True)
        return path.read_bytes()


class TinyModel(unittest.TestCase):
    def test_gives_the_same_small_file_on_every_machine(self):
        for arch, sha256 in SHA256.items():
            made = make("--arch", arch)
            self.assertEqual(hashlib.sha256(made).hexdigest(), sha256, arch)
            self.assertLess(len(made), MAX_BYTES, arch)

    def test_a_llama_is_made_unless_told_otherwise(self):
        self.assertEqual(make(), make("--arch", "llama"))

    def test_an_option_that_adds_a_tensor_or_key_changes_no_weight(self):
        plain = make()
        for option, name in [(["--rope-factors"], b"rope_freqs.weight"), (["--rope-scaling", "yarn"], b"yarn"),
                             (["--window", "9"], b"llama.attention.sliding_window")]:
            self.assertNotIn(name, plain)
            made = make(*option)
            self.assertIn(name, made)
            self.assertIn(plain[-1000:], made)

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
