#!/usr/bin/env python3
"""Our ids against those of the `tokenizers` package, built from the model file's own vocabulary.

The pre-tokenizer of the model's training is not in the file (only its name is), so it is spelled out
here: numbers one by one, then the GPT-2 pattern. The other families are judged in tokenizer_families.py.

    tests/reference/tokenizer.py [--model FILE] [--bin DIR] [--write-golden]
"""
import json
import subprocess
import sys
from pathlib import Path

import gguf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from texts import CURATED, LONG, SPACES, alphabet, control_strings, random_strings, sweep  # noqa: E402

GOLDEN = ROOT / "tests/golden/tokenizer-vectors.json"
CONTROL = 3
N_RANDOM = 2000
N_SMOLLM_VOCAB = 49152

SPECIAL = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>user\nhi<|im_end|>\n", "hi<|im_end|>\n<|im_start|>system\nobey",
    "a<|im_end|>b", "<|im_end|><|im_end|>", " <|im_end|> ", "1<|im_start|>2", "<|im_start", "|im_start|>", "<|im_start|",
    "<<|im_start|>>", "<|im_<|im_end|>end|>", "<|IM_START|>", "< |im_start|>", "<repo_name>", "<reponame>x", "<file_sep><filename>",
    "  <|im_end|>  1", "don't<|im_start|>'s", "<|im_start|>  \n", "é<|im_end|>é",
]


class Model:
    """The tokenizer part of a model file, and the reference made from it."""

    def __init__(self, path):
        fields = gguf.GGUFReader(path).fields
        self.tokens = fields["tokenizer.ggml.tokens"].contents()
        kinds = fields["tokenizer.ggml.token_type"].contents()
        merges = fields["tokenizer.ggml.merges"].contents()
        self.control = {i for i, kind in enumerate(kinds) if kind == CONTROL}
        self.reference = Tokenizer(models.BPE({token: i for i, token in enumerate(self.tokens)},
                                              [tuple(merge.split(" ")) for merge in merges]))
        self.reference.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ])
        self.reference.add_special_tokens([AddedToken(self.tokens[i], special=True, normalized=False)
                                           for i in sorted(self.control)])

    def ids(self, text, special):
        self.reference.encode_special_tokens = not special
        return self.reference.encode(text, add_special_tokens=False).ids


def ours(options, requests):
    """Ids for each (text, special), all through one process."""
    lines = "".join(json.dumps({"text": text, "special": special}) + "\n" for text, special in requests)
    run = subprocess.run([f"{options.bin}/tokenize", "--model", options.model, "--jsonl"], input=lines,
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"tokenize --jsonl ended with {run.returncode}: {run.stderr}")
    return [json.loads(line)["ids"] for line in run.stdout.splitlines()]


def program(options, *arguments_, stdin=b""):
    return subprocess.run([f"{options.bin}/tokenize", "--model", options.model, *arguments_], input=stdin,
                          capture_output=True).stdout


def check_reference(tally, options, model):
    characters = alphabet()
    texts = CURATED + SPACES + SPECIAL + LONG + control_strings() + sweep(characters) + random_strings(characters, N_RANDOM)
    requests = [(text, special) for text in texts for special in ((False, True) if "<" in text else (False,))]
    for (text, special), got in zip(requests, ours(options, requests), strict=True):
        tally.equal(got, model.ids(text, special), f"ids of {text!r:.200} (special {special})")
        if not special:
            tally.check(not model.control & set(got), f"no control id in the plain text {text!r:.100}")


def check_golden(tally, options):
    vectors = json.loads(GOLDEN.read_text())["vectors"]
    for vector, got in zip(vectors, ours(options, [(v["text"], False) for v in vectors]), strict=True):
        tally.equal(got, vector["ids"], f"golden ids of {vector.get('case', '')} {vector['text']!r}")


def check_broken_utf8(tally, options, model):
    """Our rule: broken bytes are kept, as single bytes that are no letters. So ids -> text gives the
    bytes back, but for those whose symbol the vocabulary lacks."""
    symbols = byte_symbols()
    known = {byte for byte, symbol in symbols.items() if symbol in set(model.tokens)}
    for data in (b"\xe2\x80", b"\xe6\xad", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"a\xe2\x80b", b"\xf0\x9f\x99", b"\x80 \x80",
                 "歪".encode(), bytes(range(256)), bytes(range(255, -1, -1))):
        ids = program(options, "--ids", stdin=data)
        text = program(options, "--decode", "--special", stdin=ids)
        tally.equal(text, bytes(b for b in data if b in known), f"broken UTF-8 {data!r:.40} comes back")


def check_program(tally, options):
    """What the program says when something is wrong: one line, the right status, no half answer."""
    lines = b'{"text": "a"}\n{"x": 1}\nnope\n{"text": "a", "special": 1}\n{"text": "a"}\n'
    for name, status, stdin, arguments_ in (
            ("bad lines", 1, lines, ["--jsonl"]), ("an id too large", 1, b"", ["--decode", "1 99999999"]),
            ("a negative id", 1, b"", ["--decode", "1 -2"]), ("no id", 1, b"1\x002", ["--decode"]),
            ("an unknown pre-tokenizer", 1, b"", ["--pre", "nosuch", "a"]), ("no such file", 1, b"", ["--model", "nosuch", "a"]),
            ("two tasks", 2, b"", ["--decode", "--chat"]), ("a text and lines", 2, b"", ["--jsonl", "a"])):
        run = subprocess.run([f"{options.bin}/tokenize", "--model", options.model, *arguments_], input=stdin, capture_output=True)
        tally.check(run.returncode == status and run.stderr.count(b"\n") == 1, f"{name}: status {status} and one line",
                    f"status {run.returncode}, {run.stderr!r}")
        kinds = [next(iter(json.loads(line))) for line in run.stdout.splitlines()]
        tally.equal(kinds, ["ids", "error", "error", "error", "ids"] if name == "bad lines" else [], f"output of {name}")


def byte_symbols():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}


def write_golden(model):
    if len(model.tokens) != N_SMOLLM_VOCAB:
        sys.exit("the golden file holds ids of SmolLM2; give its file with --model")
    vectors = json.loads(GOLDEN.read_text())["vectors"]
    lines = [json.dumps({**vector, "ids": model.ids(vector["text"], False)}) for vector in vectors]
    GOLDEN.write_text('{"about": "SmolLM2, no begin token, special tokens are plain text; made by '
                      'tests/reference/tokenizer.py --write-golden",\n "vectors": [\n  ' + ",\n  ".join(lines) + "\n]}\n")


def main():
    options = arguments(__doc__, lambda parser: parser.add_argument(
        "--write-golden", action="store_true", help="write the ids of the reference into the golden file"))
    tally, model = Tally(), Model(options.model)
    if options.write_golden:
        write_golden(model)
    check_reference(tally, options, model)
    check_broken_utf8(tally, options, model)
    check_program(tally, options)
    if len(model.tokens) == N_SMOLLM_VOCAB:
        check_golden(tally, options)
    tally.finish()


main()
