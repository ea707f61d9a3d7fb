"""Texts that tokenizers get wrong, and a sweep over Unicode. What the checks of tokenizers feed to both sides.

Characters newer than Unicode 3.2 are taken from a fixed list: the two sides may know different editions of
Unicode.
"""
import random
import unicodedata

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

LONG = [
    "a" * 1000, "ab" * 700, "the" * 500, "0" * 300, "!" * 500, "é" * 300, "你" * 300, "🙂" * 100, "a\u0301" * 200,
    "supercalifragilisticexpialidocious" * 20, "".join(chr(97 + i * 7 % 26) for i in range(3000)), "-" * 333 + "x", "=" * 1024,
]


CURATED = [word for line in WORDS.split("\n") for word in line.split("|")]


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
