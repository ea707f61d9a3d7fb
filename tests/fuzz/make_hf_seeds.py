#!/usr/bin/env python3
"""Writes the seeds of fuzz_safetensors, fuzz_hf_config and fuzz_tokenizer_json.

    tests/fuzz/make_hf_seeds.py      # fills three folders of tests/fuzz/seeds/
"""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import tiny_containers  # noqa: E402
import tiny_model  # noqa: E402
from tiny_arch import ARCHS, variant  # noqa: E402

SEEDS = ROOT / "tests/fuzz/seeds"
TOKENS = tiny_model.CONTROL_TOKENS + list("abcdefgh") + ["ab", "abc"]
SPM_TOKENS = ["<unk>", "<s>", "</s>", "<0x0A>", "\u2581", "a", "b", "ab", "\u2581a"]


def safetensors_seeds():
    tensors = [("a", "F32", [2], bytes(8)), ("b", "F16", [0, 3], b""), ("c", "BF16", [3, 2], bytes(12)),
               ("d", "I8", [], bytes(1))]
    yield "small", tiny_containers.safetensors_bytes(tensors)
    yield "empty", b"\6\0\0\0\0\0\0\0{}\r \t\n"


def config_seeds():
    for name in ARCHS:
        for scaling in [None, "yarn"]:
            options = tiny_model.parse_options(["--arch", name, "--out", "none"] +
                                               (["--rope-scaling", scaling] if scaling else []))
            config = tiny_containers.config_json(variant(name), options, len(TOKENS))
            config.update(eos_token_id=[2, 0], temperature=0.6, top_k=20, do_sample=True)
            yield f"{name}_{scaling or 'plain'}", json.dumps(config).encode()
    parameters = {"full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
                  "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
    yield "parameters", json.dumps({**config, "rope_parameters": parameters}).encode()
    yield "index", b'{"metadata":{},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}}'


def tokenizer_seeds():
    tokenizer = tiny_containers.tokenizer_json(TOKENS, [3, 3, 3] + [1] * 10, ["a b", "ab c"])
    yield "bpe", json.dumps(tokenizer).encode()
    tokenizer["model"]["merges"] = [["a", "b"], ["ab", "c"]]
    tokenizer["normalizer"] = {"type": "NFC"}
    yield "pairs", json.dumps(tokenizer).encode()
    spm = tiny_containers.tokenizer_json(SPM_TOKENS, [3, 3, 3] + [1] * 6, ["a b", "\u2581 a"])
    spm["model"].update(byte_fallback=True, unk_token="<unk>")
    spm["pre_tokenizer"] = None
    spm["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    spm["post_processor"] = {"type": "TemplateProcessing", "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}
    yield "spm", json.dumps(spm).encode()


def main():
    for name, seeds in [("safetensors", safetensors_seeds), ("hf_config", config_seeds),
                        ("tokenizer_json", tokenizer_seeds)]:
        (SEEDS / name).mkdir(parents=True, exist_ok=True)
        for seed, content in seeds():
            (SEEDS / name / seed).write_bytes(content)


if __name__ == "__main__":
    main()
