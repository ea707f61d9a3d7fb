#!/usr/bin/env python3
"""Each architecture on tiny models that tools/tiny_model.py writes: our logits at every position against
the float64 forward, also for prompts longer than a window and than a segment of attention; the same
bits when the prompt is fed in other pieces. The model named on the command line is not looked at.

    .venv/bin/python tests/reference/architectures.py --bin build/bin
"""
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import forward  # noqa: E402
import tiny_model  # noqa: E402
from reference import Tally, arguments  # noqa: E402

VARIANTS = [
    "--arch llama --wide-heads --untied",
    "--arch llama --rope-factors",
    "--arch llama --rope-scaling linear",
    "--arch llama --window 16",
    "--arch qwen2",
    "--arch qwen3",
    "--arch qwen3 --untied --rope-scaling yarn",
    "--arch gemma3",
    "--arch gemma3 --window 1 --untied",
    "--arch gemma3 --rope-scaling linear",
]
LENGTHS = [1, 9, 70, 280]  # windows have 16 or 24 keys, a segment 256
PIECES = [(70, 1), (280, 13)]  # of a prompt of so many tokens, so many in a step


def check_variant(tally, logits, path, words):
    with open(path, "wb") as file:
        file.write(tiny_model.make_file(tiny_model.parse_options([*words.split(), "--seed", "5", "--out", path])))
    model, rng = forward.Model(path), np.random.default_rng(5)
    prompts = [rng.integers(0, len(model.vocab), n).tolist() for n in LENGTHS]
    got = {}
    for ids, want in zip(prompts, forward.forward(model, prompts)):
        got[len(ids)] = forward.ours(logits, path, ids, len(model.vocab))
        trouble, facts = forward.judge(got[len(ids)], want)
        tally.check(trouble is None, f"{words}, {len(ids)} tokens", f"{trouble}: {facts}")
    for n_tokens, n_rows in PIECES:
        ids = prompts[LENGTHS.index(n_tokens)]
        pieces = forward.ours(logits, path, ids, len(model.vocab), ["--rows", str(n_rows)])
        tally.check(np.array_equal(pieces, got[n_tokens]), f"{words}, {n_tokens} tokens, {n_rows} a step", "other bits")


def main():
    args, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for words in VARIANTS:
            check_variant(tally, str(Path(args.bin) / "logits"), str(Path(folder) / "tiny.gguf"), words)
    tally.finish()


if __name__ == "__main__":
    main()
