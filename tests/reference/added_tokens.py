#!/usr/bin/env python3
"""Added tokens of a tokenizer.json that take white space with them (lstrip, rstrip), and the space in front of a
SentencePiece text in its three forms (a normalizer that prepends it; Metaspace first, always, never), against the
`tokenizers` package: the same ids for texts put together at random from tokens, words and white space of all kinds.

One rule is ours: white space that was taken is gone. The package goes on to find added tokens in it, so the
vocabularies here add none that is white space.

    .venv/bin/python tests/reference/added_tokens.py --bin build/bin
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import tokenizers

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import containers  # noqa: E402
import tiny_containers  # noqa: E402
import tiny_model  # noqa: E402
from reference import Tally, arguments  # noqa: E402

SPACE = containers.SPACE
# (content, special, lstrip, rstrip), as Phi-3, RoBERTa and Mistral have them, and one inside another
ADDED = [("<|user|>", True, False, True), ("<|end|>", False, False, True), ("</s>", False, False, True),
         ("<mask>", True, True, False), ("<both>", False, True, True), ("<plain>", False, False, False),
         ("<|user|>x", True, True, False)]
WHITE = [" ", "  ", "\n", " \n", "\t", "\r\n", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u3000", "\u2028", "\x1c", "\u200b", "\ufeff"]
WORDS = ["the", "capital", "of", "a", "é", "中", "12", "!", SPACE, "<", "<|user|", "x"]
N_RANDOM = 1500
PREPEND = {"type": "Prepend", "prepend": SPACE}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}


def metaspace(scheme):
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": False}


# normalizer, pre_tokenizer
SPACES = {"prepended": ({"type": "Sequence", "normalizers": [PREPEND, REPLACE]}, None),
          "first": (None, metaspace("first")), "always": (None, metaspace("always")), "never": (None, metaspace("never"))}


def add_tokens(spec, first_id):
    spec["added_tokens"] += [
        {"id": first_id + i, "content": content, "single_word": False, "lstrip": lstrip, "rstrip": rstrip,
         "normalized": False, "special": special} for i, (content, special, lstrip, rstrip) in enumerate(ADDED)]


def byte_level(n_vocab):
    """The tiny model's tokenizer without its last tokens, so that others have room."""
    tokens, types, merges = tiny_model.make_tokenizer()
    n_kept = n_vocab - len(ADDED)
    kept = set(tokens[:n_kept])
    merges = [merge for merge in merges if set([*merge.split(" "), merge.replace(" ", "")]) <= kept]
    spec = tiny_containers.tokenizer_json(tokens[:n_kept], types[:n_kept], merges)
    add_tokens(spec, n_kept)
    return spec


def sentencepiece(n_vocab, form):
    n_kept = n_vocab - len(ADDED)
    spec = containers.spm_tokenizer(n_kept)
    spec["added_tokens"] = [token for token in spec["added_tokens"] if token["content"] != "</s>"]
    first = max(spec["model"]["vocab"].values()) + 1
    spec["model"]["vocab"] = {("</t>" if t == "</s>" else t): i for t, i in spec["model"]["vocab"].items()}
    spec["normalizer"], spec["pre_tokenizer"] = SPACES[form]
    spec["post_processor"] = None
    add_tokens(spec, first)
    return spec


def make_texts():
    rng = random.Random(5)
    contents = [added[0] for added in ADDED]
    texts = ["  <both>  ", "<|user|>\nHi<|end|>\n<|assistant|>", "a <mask> b", " <mask>", "<|user|>", "   ", "", " a", "  a", SPACE + "a",
             "a</s> b</s>c", "<|user|> <both> <mask> <plain> x", "<|user|>x<|user|> x"]
    for _ in range(N_RANDOM):
        texts.append("".join(rng.choice(rng.choice((contents, WHITE, WHITE, WORDS))) for _ in range(rng.randrange(1, 12))))
    return texts


def check(tally, options, folder, name, spec, texts):
    path = Path(folder) / "folder/tokenizer.json"
    path.write_text(json.dumps(spec))
    judge = tokenizers.Tokenizer.from_file(str(path))
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    run = subprocess.run([f"{options.bin}/tokenize", "--model", path.parent, "--special", "--jsonl"], input=lines,
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"tokenize ended with {run.returncode}: {run.stderr}")
    for text, line in zip(texts, run.stdout.splitlines(), strict=True):
        want = judge.encode(text, add_special_tokens=False).ids
        tally.equal(json.loads(line)["ids"], want, f"{name}: {text!r}")


def main():
    options, tally, texts = arguments(__doc__), Tally(), make_texts()
    n_vocab = len(tiny_model.make_tokenizer()[0])
    with tempfile.TemporaryDirectory() as folder:
        tiny_containers.write_all(folder, tiny_model.parse_options(["--out", folder]))
        check(tally, options, folder, "byte-level", byte_level(n_vocab), texts)
        for form in SPACES:
            check(tally, options, folder, f"SentencePiece, {form}", sentencepiece(n_vocab, form), texts)
    tally.finish()


if __name__ == "__main__":
    main()
