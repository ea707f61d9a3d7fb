#!/usr/bin/env python3
"""A whole forward pass on weights of each type: our logits against the float64 forward of forward.py.

A tiny model is written for each type, with every matrix in it; rows.h and rows_k.h are read where they
are used, in a matrix product. The model that is named on the command line is not looked at.

    .venv/bin/python tests/reference/forward_types.py --bin build/bin
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import forward  # noqa: E402
import number_types  # noqa: E402
from reference import Tally, arguments  # noqa: E402

LENGTHS = [1, 7, 40]  # tokens: one, less than a tile of matmul and more


def check_type(tally, logits, path, dtype):
    make = [sys.executable, str(ROOT / "tools/tiny_model.py"), "--dtype", dtype, "--seed", "3", "--untied"]
    subprocess.run([*make, "--out", path], check=True)
    model, rng = forward.Model(path), np.random.default_rng(3)
    prompts = [rng.integers(0, len(model.vocab), n).tolist() for n in LENGTHS]
    for ids, want in zip(prompts, forward.forward(model, prompts)):
        got = forward.ours(logits, path, ids, len(model.vocab))
        trouble, facts = forward.judge(got, want)
        tally.check(trouble is None, f"{dtype}, {len(ids)} tokens", f"{trouble}: {facts}")


def main():
    args, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for dtype in number_types.DTYPES:
            check_type(tally, str(Path(args.bin) / "logits"), str(Path(folder) / f"{dtype}.gguf"), dtype)
    tally.finish()


if __name__ == "__main__":
    main()
