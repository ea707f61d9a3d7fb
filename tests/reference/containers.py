#!/usr/bin/env python3
"""One tiny model of each architecture in every container that tools/tiny_containers.py writes: the logits
are those of the GGUF file, bit for bit. But a llama's: a GGUF file holds its Q and K rows in another
order, so the products of a score are added in another order, and the last bit may differ; there the
largest difference is below 1e-5 of the largest logit. The texts' ids are the same everywhere, and the
ids of the tokenizers package for the folder's tokenizer.json. The model of the command line is not used.

    .venv/bin/python tests/reference/containers.py --bin build/bin
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tokenizers

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import forward  # noqa: E402
import tiny_containers  # noqa: E402
import tiny_model  # noqa: E402
from reference import Tally, arguments  # noqa: E402

VARIANTS = ["--arch llama --untied", "--arch llama --window 16", "--arch llama --rope-scaling linear", "--arch qwen2",
            "--arch qwen2 --untied --rope-scaling yarn", "--arch qwen3", "--arch gemma3",
            "--arch gemma3 --rope-scaling linear"]
OTHERS = ["split-00001-of-00003.gguf", "folder", "sharded"]
TOLERANCE = 1e-5  # of the largest logit; llama in a folder
N_TOKENS = 70
TEXT = "The capital of France is Paris, isn't it?  12345 \u00e9\u4e2d <|im_end|>\n"


def check_logits(tally, logits, folder, words):
    ids = np.random.default_rng(7).integers(0, 500, N_TOKENS).tolist()
    n_vocab = len(tiny_model.make_tokenizer()[0])
    want = forward.ours(logits, folder / "tiny.gguf", ids, n_vocab)
    for other in OTHERS:
        got = forward.ours(logits, folder / other, ids, n_vocab)
        is_close = np.abs(got - want).max() <= TOLERANCE * np.abs(want).max()
        may_differ = "llama" in words and not other.endswith(".gguf")
        tally.check(np.array_equal(got, want) or (may_differ and is_close), f"{words}: {other}",
                    f"differs by {np.abs(got - want).max()}")


def check_tokens(tally, tokenize, folder):
    theirs = tokenizers.Tokenizer.from_file(str(folder / "folder/tokenizer.json"))
    want = theirs.encode(TEXT, add_special_tokens=False).ids
    for other in ["tiny.gguf", *OTHERS]:
        done = subprocess.run([tokenize, "--model", folder / other, "--special", "--ids"], input=TEXT.encode(),
                              capture_output=True)
        tally.equal([int(word) for word in done.stdout.split()], want, f"ids from {other}")


def main():
    args, tally = arguments(__doc__), Tally()
    for words in VARIANTS:
        with tempfile.TemporaryDirectory() as name:
            options = tiny_model.parse_options([*words.split(), "--seed", "5", "--out", name])
            tiny_containers.write_all(name, options)
            check_logits(tally, Path(args.bin) / "logits", Path(name), words)
            if words == VARIANTS[0]:
                check_tokens(tally, Path(args.bin) / "tokenize", Path(name))
    tally.finish()


if __name__ == "__main__":
    main()
