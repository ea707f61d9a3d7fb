#!/usr/bin/env python3
"""Published ids of GPT-2, Llama 3, Qwen2 and Llama 2, each on the part of its vocabulary that the texts touch.

    tests/reference/tokenizer_vectors.py [--bin DIR]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402

GOLDEN = ROOT / "tests/golden/tokenizer-families.json"
PRE = {"gpt2": "gpt-2", "llama3": "llama-bpe", "qwen": "qwen2"}  # llama2_spm: SentencePiece
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
LLAMA2_FIRST = 259  # of the pieces that were learnt, in the order of their scores


def kind_of(name, i, token):
    if name != "llama2_spm":
        return CONTROL if token.startswith("<|") and token.endswith("|>") else NORMAL
    return [UNKNOWN, CONTROL, CONTROL][i] if i < 3 else BYTE if i < LLAMA2_FIRST else NORMAL


def score_of(i, token):
    """Of Llama 2: pieces that were learnt later score lower, and runs of spaces lowest."""
    return -1e9 if set(token) == {"▁"} else float(min(0, LLAMA2_FIRST - i))


def merges_of(tokens):
    """Every way to make a token out of two; the token that was learnt first is made first."""
    known = set(tokens)
    return [f"{t[:cut]} {t[cut:]}" for t in tokens for cut in range(1, len(t)) if t[:cut] in known and t[cut:] in known]


def write_gguf(path, name, pairs):
    writer = gguf.GGUFWriter(path, "llama")
    tokens = [token for _, token in pairs]
    writer.add_tokenizer_model("gpt2" if name in PRE else "llama")
    writer.add_token_list(tokens)
    writer.add_token_types([kind_of(name, i, token) for i, token in pairs])
    if name in PRE:
        writer.add_tokenizer_pre(PRE[name])
        writer.add_token_merges(merges_of([token for i, token in pairs if kind_of(name, i, token) == NORMAL]))
    else:
        writer.add_token_scores([score_of(*pair) for pair in pairs])
        writer.add_unk_token_id(0)
        writer.add_bos_token_id(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def run(options, path, *arguments_, stdin=""):
    done = subprocess.run([f"{options.bin}/tokenize", "--model", path, *arguments_], input=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tokenize ended with {done.returncode}: {done.stderr}")
    return done.stdout


def check_spaces(tally, options, path, ids):
    """TOK-11: the first space goes, one inside a text stays; behind markup that is shown it stays too."""
    place = {i: n for n, i in enumerate(ids)}
    for given, flags, want in (([1, 15043, 3186], [], "Hello world"), ([3186, 3186], [], "world world"),
                               ([1, 15043], ["--special"], "<s> Hello")):
        got = run(options, path, *flags, "--decode", " ".join(str(place[i]) for i in given))
        tally.equal(got, want, f"TOK-11 text of {given} {flags}")
    got = run(options, path, "--bos", "--ids", "Hello world").split()
    tally.equal([ids[int(i)] for i in got], [1, 15043, 3186], "the begin token stands first where the file says nothing")


def main():
    options = arguments(__doc__)
    tally, golden = Tally(), json.loads(GOLDEN.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for name, pairs in golden["vocabularies"].items():
            ids = [i for i, _ in pairs]
            path = f"{folder}/{name}.gguf"
            write_gguf(path, name, pairs)
            cases = [case for case in golden["cases"] if case["vocabulary"] == name]
            lines = "".join(json.dumps({"text": c["text"], "special": c.get("special", False)}) + "\n" for c in cases)
            for case, line in zip(cases, run(options, path, "--jsonl", stdin=lines).splitlines(), strict=True):
                got = [ids[i] for i in json.loads(line)["ids"]]
                tally.equal(got, case["ids"], f"{case['case']} {name} ids of {case['text']!r:.80}")
            if name == "llama2_spm":
                check_spaces(tally, options, path, ids)
    tally.finish()


main()
