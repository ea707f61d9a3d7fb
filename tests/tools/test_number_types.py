#!/usr/bin/env python3
"""What tools/number_types.py makes of a block. The numbered cases are public ones for quantizers; whether
every type comes back as the `gguf` package reads it is judged by tests/reference/dequant.py."""
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from number_types import DTYPES  # noqa: E402


def block(dtype, values, fill=0.0):
    return DTYPES[dtype].encode(values + [fill] * (DTYPES[dtype].block_len - len(values)))


class NumberTypes(unittest.TestCase):
    def test_qnt_01_a_block_of_zeros(self):
        self.assertEqual(block("Q4_0", []), b"\x00\x80" + b"\x88" * 16)
        self.assertEqual(block("Q8_0", []), bytes(34))
        for dtype in DTYPES:
            block(dtype, [])  # no division by a scale of zero

    def test_qnt_02_the_sign_of_the_largest_value_counts(self):
        self.assertEqual(block("Q4_0", [8.0])[:3], b"\x00\xbc\x80")

    def test_qnt_03_only_one_end_is_exact(self):
        self.assertEqual(block("Q4_0", [-8.0, 8.0])[:4], b"\x00\x3c\x80\x8f")

    def test_qnt_04_one_outlier(self):
        values = [0.01] * 32
        values[5] = 100.0
        want = bytearray(b"\x40\xca" + b"\x88" * 16)
        want[2 + 5] = 0x80
        self.assertEqual(block("Q4_0", values), bytes(want))

    def test_qnt_05_a_scale_too_large_for_f16(self):
        with self.assertRaises(OverflowError):
            block("Q4_0", [1e6, 1.0])
        for dtype in DTYPES.keys() - {"F32", "BF16"}:
            with self.assertRaises(OverflowError, msg=dtype):
                block(dtype, [1e9, 1.0])

    def test_qnt_06_rounding_in_q8_0(self):
        got = block("Q8_0", [127, 0.5, -0.5, 1.5, -1.5, 2.5])
        self.assertEqual(struct.unpack("<e6b", got[:8]), (1, 127, 1, -1, 2, -2, 3))

    def test_qnt_07_a_row_that_is_no_whole_number_of_blocks(self):
        for dtype in ("Q4_K", "Q5_K", "Q6_K"):
            with self.assertRaisesRegex(ValueError, "576 values are no whole blocks of 256"):
                DTYPES[dtype].encode([0.0] * 576)

    def test_q4_k_packs_six_bits(self):
        """Group 7 reaches furthest up and down, group 0 a third as far: s and t are 63 and 21."""
        values = [0.0] * 256
        values[0], values[1], values[224], values[225] = 1.0, -1.0, 3.0, -3.0
        got = block("Q4_K", values)
        s0, t0 = got[4] & 63, got[8] & 63
        s7, t7 = got[15] & 15 | got[7] >> 6 << 4, got[15] >> 4 | got[11] >> 6 << 4
        self.assertEqual((s0, t0, s7, t7), (21, 21, 63, 63))


if __name__ == "__main__":
    unittest.main()
