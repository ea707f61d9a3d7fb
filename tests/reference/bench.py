#!/usr/bin/env python3
"""Checks the report of bench --predict against the model file: bytes and operations of a token are
counted here once more, from the list of tensors, and the seconds must follow from them.

    .venv/bin/python tests/reference/bench.py --model build/test/tiny.gguf --bin build/bin

Standard library only.
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from reference import Tally, arguments  # noqa: E402

N_PREFILL, N_DECODE, STEP_ROWS = 256, 32, 64  # of level3-optimizer/main_bench.c
KV_BYTES = 4  # plain ops keep K and V as f32


def output_of(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


class ModelFile:
    """What a token costs, from the tensors and the metadata."""

    def __init__(self, listing):
        meta = {entry["key"]: entry.get("value") for entry in listing["metadata"]}
        tensors = {t["name"]: t for t in listing["tensors"]}
        layers = [t for name, t in tensors.items() if name.startswith("blk.") and len(t["dims"]) == 2]
        head = tensors.get("output.weight", tensors["token_embd.weight"])
        n_heads, n_kv_heads = meta["llama.attention.head_count"], meta["llama.attention.head_count_kv"]
        d_head = meta["llama.embedding_length"] // n_heads
        n_layers = meta["llama.block_count"]
        self.layer_bytes = sum(t["n_bytes"] for t in layers)
        self.layer_weights = sum(t["dims"][0] * t["dims"][1] for t in layers)
        self.head_bytes, self.head_weights = head["n_bytes"], head["dims"][0] * head["dims"][1]
        self.kv_bytes = 2 * n_layers * n_kv_heads * d_head * KV_BYTES
        self.ops_per_row_key = 4 * n_layers * n_heads * d_head

    def decode(self):
        """(bytes, operations) of one token, mean over those behind the prompt."""
        n_keys = N_PREFILL + (N_DECODE - 1) / 2
        return (self.layer_bytes + self.head_bytes + self.kv_bytes * (n_keys + 1),
                2 * (self.layer_weights + self.head_weights) + self.ops_per_row_key * (n_keys + 1))

    def prefill(self):
        n_steps = N_PREFILL // STEP_ROWS
        n_keys_read = sum(range(0, N_PREFILL, STEP_ROWS))
        n_row_keys = N_PREFILL * (N_PREFILL + 1) / 2
        n_bytes = self.layer_bytes * n_steps + self.head_bytes + self.kv_bytes * (n_keys_read + N_PREFILL)
        n_ops = 2 * (self.layer_weights * N_PREFILL + self.head_weights) + self.ops_per_row_key * n_row_keys
        return n_bytes / N_PREFILL, n_ops / N_PREFILL


def check_phase(tally, name, want, phase, measured):
    def close(got, expected, what):
        tally.check(abs(got - expected) <= 1e-9 * abs(expected), f"{name}: {what}", f"got {got}, want {expected}")

    n_bytes, n_ops = want
    close(phase["bytes_per_token"], n_bytes, "bytes of a token")
    close(phase["ops_per_token"], n_ops, "operations of a token")
    slower = min(phase["bytes_only_tokens_per_s"], phase["ops_only_tokens_per_s"])
    tally.check(phase["predicted_tokens_per_s"] <= slower * (1 + 1e-9), f"{name}: the slower half decides", phase)
    tally.equal(phase["wall"], "bytes" if slower == phase["bytes_only_tokens_per_s"] else "operations",
                f"{name}: wall")
    close(phase["measured_over_predicted"], measured["median"] / phase["predicted_tokens_per_s"], "ratio")


def main():
    args = arguments(__doc__)
    tally = Tally()
    model = ModelFile(json.loads(output_of([f"{args.bin}/inspect", "--json", args.model])))
    report = json.loads(output_of([f"{args.bin}/bench", "--predict", "--json", "--model", args.model]))
    tally.equal(report["token_bytes"], model.layer_bytes + model.head_bytes, "weights of a token")
    for name in ("prefill", "decode"):
        check_phase(tally, name, getattr(model, name)(), report["prediction"][name],
                    report[f"{name}_tokens_per_s"])
    bytes_rate = report["read_bytes_per_s"]["median"] / model.decode()[0]
    got = report["prediction"]["decode"]["bytes_only_tokens_per_s"]
    tally.check(abs(got - bytes_rate) <= 1e-9 * got, "decode: bandwidth over bytes", (got, bytes_rate))
    tally.finish()


if __name__ == "__main__":
    main()
