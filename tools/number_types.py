"""Floats as the bytes of each type that a GGUF file may store and the engine reads. Every rounding is to
the nearest, the simplest way there is: a real quantizer chooses its scales with more care.

    DTYPES["Q4_K"].encode(values)     ValueError: no whole number of blocks; OverflowError: too large
"""
import collections
import math
import struct

Dtype = collections.namedtuple("Dtype", "number block_len encode")  # number: in the file

QUANT_BLOCK, K_BLOCK, GROUP = 32, 256, 32


def bf16_bytes(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits += 0x7FFF + (bits >> 16 & 1)  # nearest, ties to even
    return struct.pack("<H", bits >> 16)


def f16_round(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def nearest(x, low, high):
    """Halves away from zero."""
    whole = math.floor(abs(x) + 0.5)
    return min(high, max(low, whole if x > 0 else -whole))


def in_steps(x, step, low, high):
    """Each value in whole steps; all 0 where a step is nothing."""
    return [nearest(v / step, low, high) if step else 0 for v in x]


# ---- blocks of 32 -------------------------------------------------------------------------------
def nibbles(qs):
    """Value i in the low half of byte i, value i + 16 in its high half. Higher bits are left out."""
    return bytes(low & 15 | (high & 15) << 4 for low, high in zip(qs[:16], qs[16:]))


def fifth_bits(qs):
    return struct.pack("<I", sum((q >> 4) << i for i, q in enumerate(qs)))


def q8_0_block(x):
    d = f16_round(max(map(abs, x)) / 127)
    return struct.pack("<e32b", d, *in_steps(x, d, -127, 127))


def from_zero(x, n_levels):
    """d and q of a type without a minimum. The largest value becomes the lowest level."""
    half = n_levels // 2
    d = f16_round(max(x, key=abs) / -half)
    return d, [nearest(v / d + half, 0, n_levels - 1) if d else half for v in x]


def from_minimum(x, n_levels):
    m = f16_round(min(x))
    d = f16_round((max(x) - m) / (n_levels - 1))
    return d, m, in_steps([v - m for v in x], d, 0, n_levels - 1)


def q4_0_block(x):
    d, qs = from_zero(x, 16)
    return struct.pack("<e", d) + nibbles(qs)


def q4_1_block(x):
    d, m, qs = from_minimum(x, 16)
    return struct.pack("<ee", d, m) + nibbles(qs)


def q5_0_block(x):
    d, qs = from_zero(x, 32)
    return struct.pack("<e", d) + fifth_bits(qs) + nibbles(qs)


def q5_1_block(x):
    d, m, qs = from_minimum(x, 32)
    return struct.pack("<ee", d, m) + fifth_bits(qs) + nibbles(qs)


# ---- blocks of 256: level2-operator/kernels/rows_k.h draws them -----------------------------------------
def in_groups(x, n):
    return [x[i : i + n] for i in range(0, len(x), n)]


def six_bits(s, t):
    """Eight scales and eight minima of 6 bits in 12 bytes."""
    low = bytes(s[g] | s[g + 4] >> 4 << 6 for g in range(4)) + bytes(t[g] | t[g + 4] >> 4 << 6 for g in range(4))
    return low + bytes(s[g] & 15 | (t[g] & 15) << 4 for g in range(4, 8))


def with_minima(x, n_levels):
    """The head of a Q4_K or Q5_K block, and the q of its groups."""
    groups = in_groups(x, GROUP)
    below = [max(0.0, -min(group)) for group in groups]
    steps = [(max(group) + b) / (n_levels - 1) for group, b in zip(groups, below)]
    d, m = f16_round(max(max(steps), 0) / 63), f16_round(max(below) / 63)
    s, t = in_steps(steps, d, 0, 63), in_steps(below, m, 0, 63)
    qs = [in_steps([v + m * t[g] for v in group], d * s[g], 0, n_levels - 1) for g, group in enumerate(groups)]
    return struct.pack("<ee", d, m) + six_bits(s, t), qs


def in_pairs(groups):
    """The low 4 bits: two groups share 32 bytes."""
    pairs = zip(groups[::2], groups[1::2])
    return b"".join(bytes(a & 15 | (b & 15) << 4 for a, b in zip(*pair)) for pair in pairs)


def q4_k_block(x):
    head, groups = with_minima(x, 16)
    return head + in_pairs(groups)


def q5_k_block(x):
    head, groups = with_minima(x, 32)
    fifth = bytes(sum((group[j] >> 4) << g for g, group in enumerate(groups)) for j in range(GROUP))
    return head + fifth + in_pairs(groups)


def q6_k_block(x):
    groups = in_groups(x, 16)
    steps = [max(map(abs, group)) / 31 for group in groups]
    d = f16_round(max(steps) / 127)
    s = in_steps(steps, d, 0, 127)
    qs = [q + 32 for g, group in enumerate(groups) for q in in_steps(group, d * s[g], -32, 31)]
    low, high = b"", b""
    for half in in_groups(qs, 128):
        a, b, c, e = in_groups(half, GROUP)
        low += bytes(v & 15 | (w & 15) << 4 for v, w in zip(a + b, c + e))
        high += bytes(i >> 4 | j >> 4 << 2 | k >> 4 << 4 | n >> 4 << 6 for i, j, k, n in zip(a, b, c, e))
    return low + high + struct.pack("<16be", *s, d)


# ---- all of them --------------------------------------------------------------------------------
def values_of(number, encode):
    return Dtype(number, 1, lambda values: b"".join(map(encode, values)))


def blocks_of(number, block_len, encode):
    def encode_all(values):
        if len(values) % block_len:
            raise ValueError(f"{len(values)} values are no whole blocks of {block_len}")
        return b"".join(map(encode, in_groups(values, block_len)))
    return Dtype(number, block_len, encode_all)


DTYPES = {
    "F32": values_of(0, lambda x: struct.pack("<f", x)),
    "F16": values_of(1, lambda x: struct.pack("<e", x)),
    "Q4_0": blocks_of(2, QUANT_BLOCK, q4_0_block),
    "Q4_1": blocks_of(3, QUANT_BLOCK, q4_1_block),
    "Q5_0": blocks_of(6, QUANT_BLOCK, q5_0_block),
    "Q5_1": blocks_of(7, QUANT_BLOCK, q5_1_block),
    "Q8_0": blocks_of(8, QUANT_BLOCK, q8_0_block),
    "Q4_K": blocks_of(12, K_BLOCK, q4_k_block),
    "Q5_K": blocks_of(13, K_BLOCK, q5_k_block),
    "Q6_K": blocks_of(14, K_BLOCK, q6_k_block),
    "BF16": values_of(30, bf16_bytes),
}
