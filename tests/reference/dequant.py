#!/usr/bin/env python3
"""Our rows of stored weights against the gguf package: every tensor, every type, bit for bit.

Besides the model, tiny ones are made with every matrix in one type each.

    tests/reference/dequant.py [--model FILE] [--bin DIR]
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402

DTYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"]
SAMPLED = 40  # tensors of a model that has more: the ends, and evenly in between


def our_values(inspect, path, name):
    raw = subprocess.run([inspect, "--tensor", name, "--raw", path], check=True, capture_output=True)
    return np.frombuffer(raw.stdout, dtype=np.float32)


def their_values(tensor):
    return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32).ravel()


def first_difference(ours, theirs):
    if ours.size != theirs.size:
        return f"{ours.size} values, want {theirs.size}"
    i = int(np.argmax(ours.view(np.uint32) != theirs.view(np.uint32)))
    return f"value {i}: got {ours[i]!r}, want {theirs[i]!r}"


def sample(tensors):
    if len(tensors) <= SAMPLED:
        return tensors
    return [tensors[round(i)] for i in np.linspace(0, len(tensors) - 1, SAMPLED)]


def check_file(tally, inspect, path):
    seen = set()
    for tensor in sample(gguf.GGUFReader(path).tensors):
        ours, theirs = our_values(inspect, path, tensor.name), their_values(tensor)
        same = ours.tobytes() == theirs.tobytes()
        where = f"{Path(path).name} {tensor.name} {tensor.tensor_type.name}"
        tally.check(same, where, "" if same else first_difference(ours, theirs))
        seen.add(tensor.tensor_type.name)
    return seen


def main():
    args, tally = arguments(__doc__), Tally()
    inspect = str(Path(args.bin) / "inspect")
    seen = check_file(tally, inspect, args.model)
    with tempfile.TemporaryDirectory() as folder:
        for dtype in DTYPES:
            path = str(Path(folder) / f"{dtype}.gguf")
            make = [sys.executable, str(ROOT / "tools/tiny_model.py"), "--dtype", dtype]
            subprocess.run([*make, "--seed", "7", "--out", path], check=True)
            seen |= check_file(tally, inspect, path)
    tally.equal(sorted(seen), sorted(DTYPES), "every type was seen")
    tally.finish()


if __name__ == "__main__":
    main()
