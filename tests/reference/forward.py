#!/usr/bin/env python3
"""Our logits against the float64 forward pass of tests/support/float64_forward.py.

The weights come out of the file through the gguf package, so our reader and our dequantisation are
judged too. For each prompt: the largest difference, over all positions and tokens, is below 1e-4 of
the largest logit; and wherever the best token leads by more than that, it is our best token too.

    .venv/bin/python tests/reference/forward.py --model FILE --bin build/bin
"""
import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from float64_forward import Model, forward  # noqa: E402

TOLERANCE = 1e-4  # of the largest logit

# Words are looked up in the vocabulary as they stand; a model that lacks one gets random ids.
SENTENCES = [
    "The capital of France is",
    "Once upon a time there was a small",
    "The sun is a star and the moon is not because it has no light of its own and " * 16,
]
RANDOM_LENGTHS = [1, 2, 9, 65, 300]


def ours(program, path, ids, n_vocab, options=()):
    done = subprocess.run([program, *options, path, *map(str, ids)], capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode(errors="replace"))
    return np.frombuffer(done.stdout, dtype="<f4").reshape(-1, n_vocab).astype(np.float64)


def prompts_for(model):
    """(name, ids) pairs: sentences if the vocabulary has all their words, else random ids."""
    index = {token: i for i, token in enumerate(model.vocab)}
    for sentence in SENTENCES:
        words = ("Ġ" + sentence.strip().replace(" ", " Ġ")).split(" ")
        words[0] = words[0][1:]
        if all(word in index for word in words):
            ids = [index[word] for word in words][: model.n_ctx]
            yield f"{len(ids)} tokens, {sentence[:24]!r}", ids
    if SENTENCES[0].split()[0] in index and len(model.vocab) > 10000:
        return
    rng = np.random.default_rng(1)
    for n in RANDOM_LENGTHS:
        n = min(n, model.n_ctx)
        yield f"{n} random tokens", rng.integers(0, len(model.vocab), n).tolist()


def judge(got, want):
    """None, or what is wrong; and a line of numbers."""
    scale = np.abs(want).max()
    error = np.abs(got - want).max() / scale
    ranked = np.sort(want, axis=-1)
    is_clear = ranked[:, -1] - ranked[:, -2] > TOLERANCE * scale
    is_equal = got.argmax(axis=-1) == want.argmax(axis=-1)
    facts = (f"largest difference {error * scale:.2e} of {scale:.1f} ({error:.1e}), "
             f"best token equal at {is_equal.sum()} of {len(want)}")
    if not error < TOLERANCE:
        return "difference above 1e-4", facts
    if not is_equal[is_clear].all():
        return "another best token", facts
    return None, facts


def main():
    parser = argparse.ArgumentParser(description="our logits against float64 numpy")
    parser.add_argument("--model", required=True)
    parser.add_argument("--bin", default="build/bin")
    args = parser.parse_args()

    model = Model(args.model)
    names, prompts = zip(*prompts_for(model))
    n_failed = 0
    for name, ids, want in zip(names, prompts, forward(model, prompts)):
        got = ours(Path(args.bin) / "logits", args.model, ids, len(model.embedding))
        if got.shape != want.shape:
            trouble, facts = f"{len(got)} rows in place of {len(want)}", ""
        else:
            trouble, facts = judge(got, want)
        n_failed += trouble is not None
        print(f"{'FAILED ' + trouble if trouble else 'ok'}  {name}: {facts}")
    print(f"{len(prompts) - n_failed} passed, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
