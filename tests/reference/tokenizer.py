#!/usr/bin/env python3
"""Our ids against those of the `tokenizers` package, built from the model file's own vocabulary.

The pre-tokenizer of the model's training is not in the file (only its name is), so it is spelled out
here: numbers one by one, then the GPT-2 pattern. Characters newer than Unicode 3.2 are taken from a
fixed list: the two sides may know different editions of Unicode.

    tests/reference/tokenizer.py [--model FILE] [--bin DIR] [--write-golden]
"""
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import gguf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from reference import Tally, arguments  # noqa: E402

GOLDEN = ROOT / "tests/golden/tokenizer-vectors.json"
CONTROL = 3
N_RANDOM = 2000
N_SMOLLM_VOCAB = 49152

WORDS = """
Hello world|hello|Hello, world!| leading|trailing |The quick brown fox jumps over the lazy dog.
don't|I'm|we've|you'll|she'd|it's|they're|DON'T|I'M|'s|'S|''s|'sx|'tis|'|' s|a'b|'llama|'ve'|l'll|'r
x'd|'d1|'re2|rock'n'roll|’s|don’t
0|1|12|123|1234567890|3.14159|1,000,000|-1|+1|1e-5|0x1F|v2.0|a1b2c3|1st|2nd|x1|1x| 1|  1|1 | 1 2  3|1  2
½|²|x²|Ⅷ|٣|१२३|四|①|𝟘𝟙|a½b| ½|  ½ |¼½¾
foo.bar|foo_bar|foo-bar|foo/bar|C:\\dir\\file|http://example.com/?q=1&r=2#top|me@example.org|#hash $5 50%
!!!|!!!!!!|...|…|->|=>|==|!=|<=|:=|**bold**|`code`|(x):|[1, 2]|{"a": null}|</div>|<!-- -->|&amp;|\\n|||| ||
int main(void) { return 0; }|def f(x):|    return x|\t\treturn x;|if (a && b) || c;|SELECT * FROM t;
你好|你好，世界！|请你基于以下「评估标准」|日本語の文章です。|東京タワー2024年|カタカナ|ひらがな|한국어 문장입니다.|歪| 歪
Việt Nam|nhiều người|Tiếng Việt có dấu|người ơi|Đà Nẵng|ệ|ạ̃
Привет, мир|Ελληνικά|שלום עולם|مرحبا بالعالم|हिन्दी में|ภาษาไทย|தமிழ்|ქართული|አማርኛ|ខ្មែរ
café|cafe\u0301|e\u0301\u0302|n\u0303|A\u030a|\u0301|\u0301a| \u0301|a\u0301b\u0301|Z\u0351\u036b\u0343\u036a|ﬁ|ß|İ|ı|ſ
🙂|👍🏽|👨‍👩‍👧‍👦|🇩🇪|❤️|🙂🙂🙂| 🙂 |a🙂b|🦙.cpp|☃|✓|\U0001f468\u200d\U0001f4bb
\u200b|a\u200bb|\ufeff|\ufeffHello|\u2028|\u2029|\u00ad|\u00a0|a\u00a0b|\u00a0\u00a0a|\u3000|\u3000a|\u2003x|\u202f1|\u1680x|\u180e|\u0085x
"""

SPACES = [
    "", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", "\n\n\n", "\r", "\r\r\n", " \n", "\n ", "  \n", "\n  ", " \n ",
    "\t ", " \t", "\t\t", "\v", "\f", " \f ", "\n\t\n", "a b", "a  b", "a   b", "a\tb", "a\nb", "a\n\nb", "a \n b",
    "a\r\nb", "a\r\n\r\nb", "a \r\n b", "  a", "\ta", "\na", "a ", "a  ", "a\n", "a \n", "a\n ", " a ", "\n =",
    "line one\nline two\r\nline three\rline four", "    indented\n        more\n\tand a tab\n", " " * 100, " " * 100 + "x",
    "\n" * 100, "x" + "\n" * 50 + "y", " \n" * 30, "\t" * 17 + "x", "   1", "\n1", "\n 1", " \n1\n ", "1\n\n2", "a  1", "a \n1",
    "  !", "\n!", " \n !", "!  ", "  's", " 's", "\n's", "  'll",
]

SPECIAL = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>user\nhi<|im_end|>\n", "hi<|im_end|>\n<|im_start|>system\nobey",
    "a<|im_end|>b", "<|im_end|><|im_end|>", " <|im_end|> ", "1<|im_start|>2", "<|im_start", "|im_start|>", "<|im_start|",
    "<<|im_start|>>", "<|im_<|im_end|>end|>", "<|IM_START|>", "< |im_start|>", "<repo_name>", "<reponame>x", "<file_sep><filename>",
    "  <|im_end|>  1", "don't<|im_start|>'s", "<|im_start|>  \n", "é<|im_end|>é",
]

LONG = [
    "a" * 1000, "ab" * 700, "the" * 500, "0" * 300, "!" * 500, "é" * 300, "你" * 300, "🙂" * 100, "a\u0301" * 200,
    "supercalifragilisticexpialidocious" * 20, "".join(chr(97 + i * 7 % 26) for i in range(3000)), "-" * 333 + "x", "=" * 1024,
]


def control_strings():
    """Every control byte, alone and beside a letter."""
    return [text for c in [*range(0x20), 0x7F, *range(0x80, 0xA0)] for text in (chr(c), f"a{chr(c)}b", f" {chr(c)} ")]


def alphabet():
    """Every character of Unicode 3.2 but the bulk of the ideographs and syllables."""
    old = unicodedata.ucd_3_2_0
    bulk = [(0x3500, 0x4DB0), (0x5000, 0x9F00), (0xAD00, 0xD7A0), (0xE010, 0xF8F0), (0x20010, 0x2A6D0), (0xF0010, 0x10FFF0)]
    return [chr(c) for c in range(0x110000)
            if old.category(chr(c)) not in ("Cn", "Cs") and not any(a <= c < b for a, b in bulk)]


def sweep(characters):
    """Every character between neighbours of each class."""
    return ["".join(f" {c}a{c}{c}1{c}\n{c}! {c} " for c in characters[i:i + 40]) for i in range(0, len(characters), 40)]


def random_strings(characters, n):
    rng = random.Random(20240501)
    pools = [" \n\t\r", "abcdefghijklmnopqrstuvwxyz", "ABCDEFG", "0123456789", "'stremvd", "!?.,;:-_/\\()[]{}<>|", "éàüñçßøÅ",
             "你好世界中文日本語한국어", "ăâđêôơưạảấầẩẫậệễộ", "\u0300\u0301\u0302\u0323\u034f", "🙂👍🏽🚀🦙\u200d\ufe0f", characters]
    strings = []
    for _ in range(n):
        mix = rng.sample(pools, rng.randint(1, 5))
        strings.append("".join(rng.choice(rng.choice(mix)) for _ in range(rng.randint(1, 60))))
    return strings


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
    curated = [word for line in WORDS.split("\n") for word in line.split("|")]
    characters = alphabet()
    texts = curated + SPACES + SPECIAL + LONG + control_strings() + sweep(characters) + random_strings(characters, N_RANDOM)
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
