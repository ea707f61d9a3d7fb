#!/usr/bin/env python3
"""Writes tokenizer-families.json: the pieces of four public vocabularies that the test vectors can touch.

A merge makes a piece that stands in the text, so the pieces that stand in some text give the same ids as the
whole vocabulary. Each FILE holds a vocabulary as a JSON list, token after token, spelled as in GGUF.

    tests/golden/make_tokenizer_families.py --vectors FILE --gpt2 FILE --llama3 FILE --qwen FILE --llama2_spm FILE
"""
import argparse
import json
import unicodedata
from pathlib import Path

OUT = Path(__file__).parent / "tokenizer-families.json"
NAMES = ["gpt2", "llama3", "qwen", "llama2_spm"]
# Beside the vectors; ids as published by the makers of the models. "special": control tokens are markup.
CASES = [
    ("TOK-01", "llama3", " Việt", [101798]),
    ("TOK-01", "llama3", " nhiều", [100937]),
    ("TOK-01", "llama3", "ektedir", [101673]),
    ("TOK-02", "llama3", "What is 3333+777?", [3923, 374, 220, 8765, 18, 10, 15831, 30]),
    ("TOK-03", "qwen", "->", [405]),
    ("TOK-03", "qwen", "(x):\n", [2075, 982]),
    ("TOK-04", "llama3", "请你基于以下「评估标准」", [15225, 57668, 125510, 88852, 13177, 64479, 112494, 110778, 10646]),
    ("TOK-05", "llama3", "歪", [15722, 103]),
    ("TOK-06", "gpt2", "a" * 64, [24794] * 16),
    ("TOK-07", "llama2_spm", "abs</s>USER", [6425, 2, 11889], True),
    ("TOK-07", "llama2_spm", "<s>uns", [1, 6948], True),
    ("TOK-08", "qwen", "<|im_start|>user", [27, 91, 318, 4906, 91, 29, 872]),
    ("TOK-08", "qwen", "<|im_start|>user", [151644, 872], True),
    ("TOK-11", "llama2_spm", "Hello world", [15043, 3186]),
]
CONTROL = {"qwen": [(151644, "<|im_start|>")]}


def byte_symbols():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


def touched(name, tokens, texts):
    """(id, spelling) of each token that stands in a text."""
    if name == "llama2_spm":
        whole = "\n".join("▁" + text.replace(" ", "▁") for text in texts)
        return [[i, t] for i, t in enumerate(tokens) if i < 259 or t in whole]
    symbols = byte_symbols()
    normal = [unicodedata.normalize("NFC", text) for text in texts] if name == "qwen" else texts
    whole = "\0\0\0".join("".join(symbols[b] for b in text.encode()) for text in normal)
    return [[i, t] for i, t in enumerate(tokens) if t in whole] + [list(pair) for pair in CONTROL.get(name, [])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["vectors", *NAMES]:
        parser.add_argument(f"--{name}", required=True, metavar="FILE")
    options = vars(parser.parse_args())
    cases = [dict(zip(("case", "vocabulary", "text", "ids", "special"), case)) for case in CASES]
    for vector in json.loads(Path(options["vectors"]).read_text())["vectors"]:
        cases += [{"case": vector["id"], "vocabulary": name, "text": vector["text"], "ids": vector[name]}
                  for name in NAMES if vector[name]]
    vocabularies = {}
    for name in NAMES:
        texts = [case["text"] for case in cases if case["vocabulary"] == name]
        vocabularies[name] = touched(name, json.loads(Path(options[name]).read_text()), texts)
    rows = ",\n  ".join(json.dumps(case) for case in cases)
    columns = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(pairs, separators=(',', ':'))}" for name, pairs in vocabularies.items())
    OUT.write_text('{"about": "Ids of GPT-2, Llama 3, Qwen2 and Llama 2, and the pieces of their vocabularies that occur in these '
                   'texts; made by make_tokenizer_families.py",\n "cases": [\n  ' + rows + '],\n "vocabularies": {\n  ' + columns + "}}\n")


main()
