#!/usr/bin/env python3
"""SentencePiece vocabularies against the `sentencepiece` package itself.

Small vocabularies are trained here with each setting that a file can carry, written as GGUF and read by us.
A real file goes the other way: its vocabulary is written as a SentencePiece model, and the package encodes
with it. Reading one takes the gguf package some ten seconds, so that is done on request:

    tests/reference/tokenizer_spm.py [--bin DIR] [--spm-model models/gemma-3-270m-q4_k_m.gguf]
"""
import io
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import sentencepiece

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402
from running_server import Server  # noqa: E402
from texts import CURATED, LONG, SPACES, alphabet, control_strings, random_strings, sweep  # noqa: E402

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
N_VOCAB, N_RANDOM, N_RANDOM_REAL = 1200, 600, 1500
USER = ["\n\n", "<table>", "▁▁", "▁▁▁▁", "<x><y>", "<x>"]
SETTINGS = [(True, True, False), (True, False, False), (False, True, False), (True, True, True), (False, False, True)]
EXTRA = ["<x><y>", "a<x>b", "<x><x><y>", "a<table> b", "a  b", "a   b    c", "x\n\n\ny", "<s>a</s>", "<unk>", "<0x41>", "a▁b", "▁a", "a\u0000b",
         "the the the", "thethethe", "ab" * 400, " " * 50, "a" + " " * 7 + "b", "�", "a�b", "\u0000", "<0x0A>\n"]


class Vocabulary:
    """What a GGUF file says of one."""

    def __init__(self, tokens, scores, kinds, adds_space, trims):
        self.tokens, self.scores, self.kinds, self.adds_space, self.trims = tokens, scores, kinds, adds_space, trims

    def write_gguf(self, path):
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_tokenizer_model("llama")
        writer.add_token_list([t.replace("▁", " ") if k == USER_DEFINED else t for t, k in zip(self.tokens, self.kinds)])
        writer.add_token_scores(self.scores)
        writer.add_token_types(self.kinds)
        writer.add_unk_token_id(self.kinds.index(UNKNOWN))
        writer.add_add_space_prefix(self.adds_space)
        writer.add_remove_extra_whitespaces(self.trims)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()


# ---- a SentencePiece model file (sentencepiece_model.proto): fields as tag, length, bytes ---------------
def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, content):
    if isinstance(content, bytes):
        return varint(number << 3 | 2) + varint(len(content)) + content
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    return varint(number << 3) + varint(int(content))


def spm_model(vocabulary):
    pieces = zip(vocabulary.tokens, vocabulary.scores, vocabulary.kinds)
    out = b"".join(field(1, field(1, t.encode()) + field(2, float(s)) + field(3, k)) for t, s, k in pieces)
    out += field(2, field(3, 2) + field(35, BYTE in vocabulary.kinds))  # trained as BPE; with byte fallback
    return out + field(3, field(1, b"identity") + field(3, vocabulary.adds_space) + field(4, vocabulary.trims) + field(5, True))


# ---- where vocabularies come from -----------------------------------------------------------------------
def train(has_bytes, adds_space, trims):
    # The package lets such a token take the space that it added; no family does both, and neither do we.
    user = [token for token in USER if "▁" not in token or not (adds_space or trims)]
    model = io.BytesIO()
    text = [line for path in sorted((ROOT / "docs").rglob("*.md")) for line in path.read_text().split("\n")] + CURATED
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, model_type="bpe", vocab_size=N_VOCAB, byte_fallback=has_bytes,
        character_coverage=0.995, add_dummy_prefix=adds_space, remove_extra_whitespaces=trims,
        normalization_rule_name="identity", user_defined_symbols=user, minloglevel=2, num_threads=1)
    judge = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())

    def kind(i):
        if judge.is_unknown(i):
            return UNKNOWN
        if judge.is_control(i):
            return CONTROL
        if judge.is_byte(i):
            return BYTE
        return USER_DEFINED if judge.id_to_piece(i) in user else NORMAL

    ids = range(judge.vocab_size())
    return judge, Vocabulary([judge.id_to_piece(i) for i in ids], [judge.get_score(i) for i in ids], [kind(i) for i in ids],
                             adds_space, trims)


def real(path):
    fields = gguf.GGUFReader(path).fields
    kinds = fields["tokenizer.ggml.token_type"].contents()
    kinds[fields["tokenizer.ggml.unknown_token_id"].contents()] = UNKNOWN  # a control token in this file
    tokens = [t.replace(" ", "▁") if k == USER_DEFINED else t for t, k in zip(fields["tokenizer.ggml.tokens"].contents(), kinds)]
    vocabulary = Vocabulary(tokens, fields["tokenizer.ggml.scores"].contents(), kinds,
                            fields["tokenizer.ggml.add_space_prefix"].contents(), False)
    return sentencepiece.SentencePieceProcessor(model_proto=spm_model(vocabulary)), vocabulary


# ---- the checks -----------------------------------------------------------------------------------------
def program(options, path, *arguments_, stdin):
    run = subprocess.run([f"{options.bin}/tokenize", "--model", path, *arguments_], input=stdin, capture_output=True)
    if run.returncode != 0:
        sys.exit(f"tokenize ended with {run.returncode}: {run.stderr.decode()}")
    return run.stdout


def check_ids(tally, options, name, path, judge, vocabulary, texts):
    """In front of a token at the start of a text, the package puts the space that we leave out (TOK-07)."""
    if vocabulary.adds_space:
        texts = [text for text in texts if not text.replace(" ", "▁").startswith(tuple(USER))]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    for text, line in zip(texts, program(options, path, "--jsonl", stdin=lines).splitlines(), strict=True):
        tally.equal(json.loads(line)["ids"], judge.encode(text), f"{name}: ids of {text!r:.200}")


def check_text(tally, options, name, path, judge, texts):
    """Back to text as the package does it, the first space and bytes of characters included."""
    for text in texts:
        ids = judge.encode(text)
        got = program(options, path, "--decode", stdin=" ".join(map(str, ids)).encode())
        tally.equal(got.decode(errors="replace"), judge.decode(ids), f"{name}: text of {ids!r:.100}")


def check_broken(tally, options, name, path):
    """Our rule: bytes that are no UTF-8 are spelled by byte tokens, so they come back."""
    for data in (b"\xe2\x80", b"a\xffb", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf0\x9f\x99 x", bytes(range(256)), bytes(range(255, -1, -1))):
        ids = program(options, path, "--ids", stdin=data)
        tally.equal(program(options, path, "--decode", stdin=ids), data, f"{name}: broken UTF-8 {data!r:.40} comes back")


def check_server(tally, options, folder):
    """A tiny model of this family behind the API: texts come back, and a stream says what the whole answer says."""
    options.model = f"{folder}/tiny.gguf"
    subprocess.run([sys.executable, ROOT / "tools/tiny_model.py", "--tokenizer", "spm", "--out", options.model], check=True)
    with Server(options, "--model-id", "default", "--context", "256") as server:
        for text in ("Hello world", " two  spaces ", "né 狐狸 🦙\n", "The captain had a map"):
            ids = server.post("/tokenize", {"content": text, "parse_special": False})[2]["tokens"]
            back = server.post("/detokenize", {"tokens": ids})[2]["content"]
            tally.equal(back, text, f"served: {text!r} comes back")
        for prompt in ("Once upon a time", "The 狐"):
            whole = server.complete(prompt, max_tokens=60)["choices"][0]["text"]
            _, events = server.stream(prompt=prompt, max_tokens=60)
            pieces = "".join(event["choices"][0]["text"] for event in events if event != "[DONE]" and event["choices"])
            tally.equal(pieces, whole, f"served: a stream after {prompt!r}")
            tally.check(" " in whole, f"served: words after {prompt!r} have their spaces", whole)


def main():
    options = arguments(__doc__, lambda parser: parser.add_argument(
        "--spm-model", metavar="FILE", help="a real file of this family"))
    tally, characters = Tally(), alphabet()
    texts = CURATED + SPACES + LONG + control_strings() + EXTRA + sweep(characters[::7]) + random_strings(characters, N_RANDOM)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trained.gguf"
        for has_bytes, adds_space, trims in SETTINGS:
            name = f"bytes {has_bytes:d}, space {adds_space:d}, trims {trims:d}"
            judge, vocabulary = train(has_bytes, adds_space, trims)
            vocabulary.write_gguf(path)
            check_ids(tally, options, name, path, judge, vocabulary, texts)
            if has_bytes:
                check_text(tally, options, name, path, judge, ["Hello world", "  a  b ", "né 狐狸 🦙", "x\n\n\ty", "▁a"])
            if has_bytes and not trims:
                check_broken(tally, options, name, path)
        check_server(tally, options, folder)
    if options.spm_model:
        judge, vocabulary = real(options.spm_model)  # to which a "▁" of the text is no part of its runs of spaces
        more = sweep([c for c in characters if c != "▁"]) + random_strings(characters, N_RANDOM_REAL) + [p.read_text() for p in sorted((ROOT / "docs").rglob("*.md"))]
        check_ids(tally, options, "real file", options.spm_model, judge, vocabulary, texts + more)
        check_broken(tally, options, "real file", options.spm_model)
    tally.finish()


main()
