#!/usr/bin/env python3
"""Our rows of stored weights against the gguf package: every type, bit for bit.

Three kinds of files: the model; tiny ones with every matrix in one type each; and one that holds, for
each type, blocks of any bytes, among them every kind of scale (zero, subnormal, the largest, infinite,
NaN). Equal means equal bits, but for what rows.h leaves open: the sign of a zero, and which NaN.
What tools/number_types.py makes of floats is judged as well: it must be within a step of them.

    tests/reference/dequant.py [--model FILE] [--bin DIR]
"""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import number_types  # noqa: E402
from reference import Tally, arguments  # noqa: E402

# Type: the step between two of its levels for values from -1 to 1.
STEPS = {"F32": 2**-24, "F16": 2**-11, "BF16": 2**-8, "Q8_0": 1 / 127, "Q4_0": 1 / 8, "Q4_1": 2 / 15,
         "Q5_0": 1 / 16, "Q5_1": 2 / 31, "Q4_K": 2 / 15, "Q5_K": 2 / 31, "Q6_K": 1 / 31}
DTYPES = list(STEPS)
SAMPLED = 40  # tensors of a model that has more: the ends, and evenly in between

# Where the f16 numbers of a block stand, in bytes.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
# Both zeros, the smallest and the largest subnormal, the smallest normal, one, minus two, the largest,
# both infinities, two NaN.
EXTREMES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x3C00, 0xC000, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0xFD01]
N_ROWS, N_BLOCKS = 8, 48  # of any bytes; half of the blocks have extreme scales


def our_values(inspect, path, name):
    raw = subprocess.run([inspect, "--tensor", name, "--raw", path], check=True, capture_output=True)
    return np.frombuffer(raw.stdout, dtype=np.float32)


def their_values(tensor):
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32).ravel()


def plain_bits(values):
    """The bits, with one zero and one NaN."""
    bits = np.where(values == 0, np.float32(0), values).view(np.uint32)
    return np.where(np.isnan(values), np.uint32(0x7FC00000), bits)


def first_difference(ours, theirs):
    if ours.size != theirs.size:
        return f"{ours.size} values, want {theirs.size}"
    i = int(np.argmax(plain_bits(ours) != plain_bits(theirs)))
    return f"value {i}: got {ours[i]!r}, want {theirs[i]!r}"


def sample(tensors):
    if len(tensors) <= SAMPLED:
        return tensors
    return [tensors[round(i)] for i in np.linspace(0, len(tensors) - 1, SAMPLED)]


def check_file(tally, inspect, path):
    seen = set()
    for tensor in sample(gguf.GGUFReader(path).tensors):
        ours, theirs = our_values(inspect, path, tensor.name), their_values(tensor)
        same = ours.size == theirs.size and np.array_equal(plain_bits(ours), plain_bits(theirs))
        where = f"{Path(path).name} {tensor.name} {tensor.tensor_type.name}"
        tally.check(same, where, "" if same else first_difference(ours, theirs))
        seen.add(tensor.tensor_type.name)
    return seen


def any_blocks(dtype, rng):
    """(N_ROWS, bytes of N_BLOCKS blocks). Every second block has a pair of extreme scales."""
    n_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[dtype]][1]
    blocks = rng.integers(0, 256, (N_ROWS, N_BLOCKS, n_bytes), dtype=np.uint8)
    for at in SCALES.get(dtype, []):
        drawn = rng.choice(np.array(EXTREMES, dtype="<u2"), (N_ROWS, N_BLOCKS // 2))
        blocks[:, ::2, at:at + 2] = drawn[..., None].view(np.uint8)
    return blocks.reshape(N_ROWS, -1)


def write_any_blocks(path):
    writer, rng = gguf.GGUFWriter(path, "llama"), np.random.default_rng(7)
    for dtype in DTYPES:
        blocks = any_blocks(dtype, rng)
        writer.add_tensor(dtype, blocks, raw_dtype=gguf.GGMLQuantizationType[dtype])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_encoder(tally, dtype):
    rng = random.Random(7)
    values = [rng.uniform(-1, 1) for _ in range(2048)]
    stored = np.frombuffer(number_types.DTYPES[dtype].encode(values), dtype=np.uint8)
    got = gguf.quants.dequantize(stored, gguf.GGMLQuantizationType[dtype]).astype(np.float64).ravel()
    error = np.abs(got - values).max()
    tally.check(error <= STEPS[dtype], f"number_types {dtype}", f"{error:.4f} away, a step is {STEPS[dtype]:.4f}")


def main():
    args, tally = arguments(__doc__), Tally()
    inspect = str(Path(args.bin) / "inspect")
    seen = check_file(tally, inspect, args.model)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "any_blocks.gguf")
        write_any_blocks(path)
        tally.equal(sorted(check_file(tally, inspect, path)), sorted(DTYPES), "blocks of every type")
        for dtype in DTYPES:
            check_encoder(tally, dtype)
            path = str(Path(folder) / f"{dtype}.gguf")
            make = [sys.executable, str(ROOT / "tools/tiny_model.py"), "--dtype", dtype]
            subprocess.run([*make, "--seed", "7", "--out", path], check=True)
            seen |= check_file(tally, inspect, path)
    tally.equal(sorted(seen), sorted(DTYPES), "every type was seen")
    tally.finish()


if __name__ == "__main__":
    main()
