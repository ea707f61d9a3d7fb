#!/usr/bin/env python3
"""One tiny model of each architecture in every container that tools/tiny_containers.py writes: the logits
are those of the GGUF file, bit for bit. But a llama's: a GGUF file holds its Q and K rows in another
order, so the products of a score are added in another order, and the last bit may differ; there the
largest difference is below 1e-5 of the largest logit. The texts' ids are the same everywhere, and the
ids of the tokenizers package for the folder's tokenizer.json, byte-level or SentencePiece's. The model of
the command line is not used.

    .venv/bin/python tests/reference/containers.py --bin build/bin
"""
import json
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
SPACE = "\u2581"  # what a space is in SentencePiece
SPM_TEXTS = ["The capital of France is Paris.", "  two spaces, then\n a line", "caf\u00e9 \u4e2d\U0001f600 x", "a",
             "12 45"]
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


def spm_tokenizer(n_vocab):
    """A tokenizer.json as those of Llama 2 and Mistral are: byte_fallback, and spaces that are seen."""
    symbols = {b: chr(b) for b in range(256)} | {ord(" "): SPACE}
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    tokens += sorted({symbols[b] for b in tiny_model.TEXT.encode()})
    merges, joined = [], {}
    for left, right in tiny_model.learn_merges(tiny_model.TEXT, symbols, 240):
        if len(tokens) + len(joined) < n_vocab or left + right in joined:
            merges.append([left, right])
            joined[left + right] = None
    tokens += joined
    spec = tiny_containers.tokenizer_json(tokens, [3, 3, 3] + [1] * (len(tokens) - 3), merges)
    spec["model"].update(byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    spec["pre_tokenizer"] = None
    spec["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": SPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]}
    spec["post_processor"] = {"type": "TemplateProcessing", "special_tokens": {
        "<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}, "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}
    return spec


def check_spm(tally, tokenize, folder):
    path = folder / "folder/tokenizer.json"
    path.write_text(json.dumps(spm_tokenizer(len(tiny_model.make_tokenizer()[0]))))
    theirs = tokenizers.Tokenizer.from_file(str(path))
    for text in SPM_TEXTS:
        done = subprocess.run([tokenize, "--model", folder / "folder", "--bos", "--ids"], input=text.encode(),
                              capture_output=True)
        tally.equal([int(word) for word in done.stdout.split()], theirs.encode(text).ids, f"byte_fallback: {text!r}")


def main():
    args, tally = arguments(__doc__), Tally()
    for words in VARIANTS:
        with tempfile.TemporaryDirectory() as name:
            options = tiny_model.parse_options([*words.split(), "--seed", "5", "--out", name])
            tiny_containers.write_all(name, options)
            check_logits(tally, Path(args.bin) / "logits", Path(name), words)
            if words == VARIANTS[0]:
                check_tokens(tally, Path(args.bin) / "tokenize", Path(name))
                check_spm(tally, Path(args.bin) / "tokenize", Path(name))
    tally.finish()


if __name__ == "__main__":
    main()
