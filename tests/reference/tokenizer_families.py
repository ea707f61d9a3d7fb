#!/usr/bin/env python3
"""The families of pre-tokenizers against the `tokenizers` package, each from its regular expression.

One vocabulary is trained here on text that is not cut into words at all, so its merges reach over spaces,
digits and signs: wherever a word is cut in another place, other ids come out. The same vocabulary is then
written as one GGUF file per family and given to the package with the family's expression.

    tests/reference/tokenizer_families.py [--bin DIR]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from texts import CURATED, LONG, SPACES, alphabet, control_strings, random_strings, sweep  # noqa: E402

N_VOCAB, N_RANDOM = 6000, 1500

# What each family's training split by, as published with its first model.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
FAMILIES = {
    "smollm": [r"\p{N}", GPT2],
    "gpt-2": [GPT2],
    "llama-bpe": [LLAMA3],
    "qwen2": [QWEN2],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", r"[0-9][0-9][0-9]"],
}

# Merging alone does not reach these: Llama 3 looks for whole words first (TOK-01).
UNREACHABLE = [" Việt", " nhiều", "ektedir"]
DECOMPOSED = ["e\u0301", "cafe\u0301 e\u0301e\u0301", "A\u030a\u0301", "\u1100\u1161\u11a8", "q\u0323\u0307", "q\u0307\u0323", "\u212b",
              "\u0344", "\u0958", "e\u0301" * 300, "q" + "\u0307\u0323" * 20, "\u0301e\u0301", "Viê\u0323t Nam"]
FOLDED = ["it'ſ", "IT'ſT", "'ſ", "a'LL b'Ve c'rE", "'ll'LL'd'D"]


def training_texts():
    """Prose, code, numbers and signs, many times over, so that pairs over all borders are frequent."""
    lines = [path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))]
    numbers = [f"{i} {i * 37}  {i * 1001}, {i}.{i * 7 % 100} x{i} {i}%" for i in range(0, 3000, 7)]
    signs = [f"{a}{b}{c} it{a}s IT{b}S don{c}t\n{a} {b}\n\n{c}  {a}\r\n" for a in "'!.-=<>" for b in "'$+|~^`" for c in "'_/\t \n"]
    return lines + numbers + signs + CURATED + SPACES


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=N_VOCAB, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, max_token_length=12))
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]
    symbols = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokens += [symbols.pre_tokenize_str(word)[0][0] for word in UNREACHABLE]
    return tokens, merges


def write_gguf(path, pre, tokens, merges):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def reference(name, tokens, merges):
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges, ignore_merges=name == "llama-bpe"))
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    splits = [pre_tokenizers.Split(Regex(expression), "isolated") for expression in FAMILIES[name]]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def ours(options, path, texts):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    run = subprocess.run([f"{options.bin}/tokenize", "--model", path, "--jsonl"], input=lines, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"tokenize --jsonl ended with {run.returncode}: {run.stderr}")
    return [json.loads(line)["ids"] for line in run.stdout.splitlines()]


def main():
    options = arguments(__doc__)
    tally = Tally()
    tokens, merges = train()
    characters = alphabet()
    texts = CURATED + SPACES + LONG + control_strings() + UNREACHABLE + DECOMPOSED + FOLDED
    texts += training_texts()[-60:] + sweep(characters) + random_strings(characters, N_RANDOM)
    n_other = 0
    with tempfile.TemporaryDirectory() as folder:
        results = {}
        for name in FAMILIES:
            path = f"{folder}/{name}.gguf"
            write_gguf(path, name, tokens, merges)
            wanted = [encoding.ids for encoding in reference(name, tokens, merges).encode_batch_fast(texts, add_special_tokens=False)]
            results[name] = ours(options, path, texts)
            for text, got, want in zip(texts, results[name], wanted, strict=True):
                tally.equal(got, want, f"{name}: ids of {text!r:.200}")
        for name in FAMILIES:
            n_other += results[name] != results["gpt-2"]
    tally.equal(n_other, len(FAMILIES) - 1, "families whose ids are not GPT-2's: the vocabulary tells them apart")
    tally.finish()


main()
