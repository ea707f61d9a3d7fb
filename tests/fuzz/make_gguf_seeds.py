#!/usr/bin/env python3
"""Writes the seeds of fuzz_gguf: small files from which a fuzzer finds the way to every branch.

    tests/fuzz/make_gguf_seeds.py      # fills tests/fuzz/seeds/gguf/
"""
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import tiny_arch  # noqa: E402
import tiny_model  # noqa: E402

SEEDS = ROOT / "tests/fuzz/seeds/gguf"


def smallest_model(*words):
    """One layer, width 32, eight letters: complete, in about 5 KB. words: options of tools/tiny_model.py."""
    options = tiny_model.parse_options([*words, "--out", ""])
    shape = tiny_arch.Shape(d_model=32, d_head=16, n_heads=2, n_kv_heads=1, d_ff=32, n_layers=1)
    arch = tiny_arch.variant(options.arch)._replace(shape=shape)
    tokens = tiny_model.CONTROL_TOKENS + list("abcdefgh") + ["ab", "abc"]
    types = [3, 3, 3] + [1] * (len(tokens) - 3)
    keys = tiny_model.make_keys(arch, tokens, types, ["a b", "ab c"], options)
    return tiny_model.file_bytes(keys, tiny_model.make_weights(arch, tokens, options))


def every_value_type():
    """A key of each scalar type, then arrays of numbers, of strings and of arrays."""
    widths = [1, 1, 2, 2, 4, 4, 4, 1, None, None, 8, 8, 8]
    keys = []
    for kind, width in enumerate(widths):
        if width:
            keys.append(struct.pack("<I", kind) + bytes([1]) + bytes(width - 1))
    keys.append(struct.pack("<I", 8) + tiny_model.string_bytes("text"))
    keys.append(struct.pack("<IIQ", 9, 2, 3) + bytes(6))
    keys.append(struct.pack("<IIQ", 9, 8, 2) + tiny_model.string_bytes("a") + tiny_model.string_bytes(""))
    keys.append(struct.pack("<IIQIQ", 9, 9, 1, 0, 2) + bytes(2))
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    return out + b"".join(tiny_model.string_bytes(f"k{i}") + key for i, key in enumerate(keys))


def wide_alignment():
    align = tiny_model.string_bytes("general.alignment") + struct.pack("<II", 4, 64)
    tensor = tiny_model.string_bytes("t") + struct.pack("<IQQIQ", 2, 4, 2, 0, 0)
    out = b"GGUF" + struct.pack("<IQQ", 2, 1, 1) + align + tensor
    return out + bytes(-len(out) % 64) + bytes(32)


def type_that_is_not_read():
    """A tensor of one IQ4_NL block: it may be listed, and no more."""
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + tiny_model.string_bytes("t") + struct.pack("<IQIQ", 1, 32, 20, 0)
    return out + bytes(-len(out) % 32) + bytes(18)


def main():
    seeds = {
        "model_q4_1": smallest_model("--dtype", "Q4_1"),
        "model_q5_1": smallest_model("--dtype", "Q5_1"),
        "model_mixed": smallest_model("--untied"),
        "model_rope_factors": smallest_model("--dtype", "Q4_0", "--rope-factors"),
        "model_qwen2_yarn": smallest_model("--arch", "qwen2", "--dtype", "Q4_0", "--rope-scaling", "yarn"),
        "model_qwen3": smallest_model("--arch", "qwen3", "--dtype", "Q4_0"),
        "model_gemma3": smallest_model("--arch", "gemma3", "--dtype", "Q4_0"),
        "type_that_is_not_read": type_that_is_not_read(),
        "value_types": every_value_type(),
        "version_2_alignment_64": wide_alignment(),
        "empty": b"GGUF" + struct.pack("<IQQ", 3, 0, 0),
    }
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (SEEDS / name).write_bytes(content)


if __name__ == "__main__":
    main()
