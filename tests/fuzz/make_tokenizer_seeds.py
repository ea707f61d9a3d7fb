#!/usr/bin/env python3
"""Writes the seeds of fuzz_tokenizer: small vocabularies of both families, and texts that meet them.

    tests/fuzz/make_tokenizer_seeds.py      # fills tests/fuzz/seeds/tokenizer/
"""
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds/tokenizer"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(6)  # one less than in a file
SPM, BOS, EOS, UNK, NFC, WHOLE, SPACE, TRIM = (1 << i for i in range(8))


def seed(flags, more, tokens, text):
    out = bytes([flags, more, len(tokens) - 1])
    for kind, score, token in tokens:
        data = token.encode()
        out += bytes([kind, score, len(data)]) + data
    return out + text.encode()


def main():
    letters = [(NORMAL, 0, c) for c in "abceh12'!ĠĊÃ©Ìģ"]
    words = [(NORMAL, 0, w) for w in ("he", "ab", "abc", "Ġa", "Ġab", "12", "Ã©", "!!")]
    special = [(CONTROL, 0, "<s>"), (USER_DEFINED, 0, "<x>"), (USER_DEFINED | 192, 0, "<x><y>")]
    pieces = [(NORMAL, 9, c) for c in "abch é"] + [(NORMAL, 20, "▁a"), (NORMAL, 30, "ab"), (NORMAL, 25, "abc"), (NORMAL, 10, "▁▁")]
    byte_tokens = [(BYTE, 0, f"<0x{b:02X}>") for b in (0x0A, 0xC3, 0xB8, 0xE2, 0x96, 0x81)]
    text = "abc he's  ab 12!! <s>ab<x><y>  <s> é e\u0301 \n\n ø <x> 🦙 ▁a"
    seeds = {f"bpe_{pre}": seed(BOS | EOS, pre | 0x70, special + letters + words, text) for pre in range(5)}
    seeds["bpe_nfc"] = seed(NFC, 3, letters + words, "e\u0301" * 40 + " q\u0307\u0323\u1100\u1161\u0958" + text)
    seeds["bpe_whole_words"] = seed(WHOLE | BOS, 0x12, special + words + letters, text)
    seeds["spm"] = seed(SPM | BOS | EOS | UNK | SPACE, 0x70, special + pieces + [(UNKNOWN, 0, "<unk>")], text)
    seeds["spm_bytes"] = seed(SPM | SPACE | TRIM, 0x10, special + pieces + byte_tokens, "  " + text + "  ")
    seeds["spm_inner_space"] = seed(SPM, 0, pieces + [(NORMAL, 40, "b▁a"), (NORMAL, 50, "ab▁a")], "ab ab a b  a")
    seeds["spm_long"] = seed(SPM, 0, pieces + byte_tokens, "ab" * 300 + " " * 50)
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (SEEDS / name).write_bytes(content)


if __name__ == "__main__":
    main()
