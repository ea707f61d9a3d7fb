#!/usr/bin/env python3
"""Our logits against a float64 forward pass in numpy, written from the papers and not from our C.

The weights come out of the file through the gguf package, so our reader and our dequantisation are
judged too. For each prompt: the largest difference, over all positions and tokens, is below 1e-4 of
the largest logit; and wherever the best token leads by more than that, it is our best token too.

    .venv/bin/python tests/reference/forward.py --model FILE --bin build/bin
"""
import argparse
import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np

TOLERANCE = 1e-4  # of the largest logit

# Words are looked up in the vocabulary as they stand; a model that lacks one gets random ids.
SENTENCES = [
    "The capital of France is",
    "Once upon a time there was a small",
    "The sun is a star and the moon is not because it has no light of its own and " * 16,
]
RANDOM_LENGTHS = [1, 2, 9, 65, 300]


class Model:
    def __init__(self, path):
        self.reader = gguf.GGUFReader(path)
        self.tensors = {t.name: t for t in self.reader.tensors}
        self.arch = self.value("general.architecture")
        self.n_layers = self.number("block_count")
        self.n_heads = self.number("attention.head_count")
        self.n_kv_heads = self.number("attention.head_count_kv")
        self.eps = self.number("attention.layer_norm_rms_epsilon")
        self.base = self.number("rope.freq_base")
        self.n_ctx = self.number("context_length")
        self.embedding = self.matrix("token_embd.weight", np.float32)
        self.vocab = self.value("tokenizer.ggml.tokens")

    def value(self, key):
        return self.reader.fields[key].contents()

    def number(self, key):
        return self.value(f"{self.arch}.{key}")

    def matrix(self, name, kind=np.float64):
        tensor = self.tensors[name]
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(kind)


def norm(x, weight, eps):  # Zhang & Sennrich 2019
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def rotate(x, base):
    """Su et al. 2021, eq. 34, as complex numbers: a llama file's pairs are neighbours."""
    n_tokens, _, d_head = x.shape
    angles = np.outer(np.arange(n_tokens), base ** (-2.0 * np.arange(d_head // 2) / d_head))
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)[:, None, :]
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def attention(q, k, v):  # Vaswani et al. 2017, eq. 1, causal; heads share keys in groups
    n_tokens, n_heads, d_head = q.shape
    group = n_heads // k.shape[1]
    mask = np.triu(np.full((n_tokens, n_tokens), -np.inf), 1)
    out = np.empty_like(q)
    for h in range(n_heads):
        scores = q[:, h] @ k[:, h // group].T / np.sqrt(d_head) + mask
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[:, h] = weights / weights.sum(axis=-1, keepdims=True) @ v[:, h // group]
    return out


def layer(model, w, x):
    n_tokens = len(x)
    h = norm(x, w["attn_norm"], model.eps)
    q = rotate((h @ w["attn_q"].T).reshape(n_tokens, model.n_heads, -1), model.base)
    k = rotate((h @ w["attn_k"].T).reshape(n_tokens, model.n_kv_heads, -1), model.base)
    v = (h @ w["attn_v"].T).reshape(n_tokens, model.n_kv_heads, -1)
    x = x + attention(q, k, v).reshape(n_tokens, -1) @ w["attn_output"].T

    h = norm(x, w["ffn_norm"], model.eps)
    gate, up = h @ w["ffn_gate"].T, h @ w["ffn_up"].T
    return x + (gate / (1 + np.exp(-gate)) * up) @ w["ffn_down"].T  # Shazeer 2020


def forward(model, prompts):
    """Logits (n_tokens, n_vocab) of each prompt. Layer by layer, so that few weights are held."""
    names = "attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_gate ffn_up ffn_down".split()
    xs = [model.embedding[ids].astype(np.float64) for ids in prompts]
    for i in range(model.n_layers):
        w = {name: model.matrix(f"blk.{i}.{name}.weight") for name in names}
        xs = [layer(model, w, x) for x in xs]
    tied = "output.weight" not in model.tensors
    output = model.embedding.astype(np.float64) if tied else model.matrix("output.weight")
    weight = model.matrix("output_norm.weight")
    return [norm(x, weight, model.eps) @ output.T for x in xs]


def ours(program, path, ids, n_vocab):
    done = subprocess.run([program, path, *map(str, ids)], capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode(errors="replace"))
    return np.frombuffer(done.stdout, dtype="<f4").reshape(-1, n_vocab).astype(np.float64)


def prompts_for(model):
    """(name, ids) pairs: sentences if the vocabulary has all their words, else random ids."""
    index = {token: i for i, token in enumerate(model.vocab)}
    for sentence in SENTENCES:
        words = ("Ġ" + sentence.strip().replace(" ", " Ġ")).split(" ")
        words[0] = words[0][1:]
        if all(word in index for word in words):
            ids = [index[word] for word in words][: model.n_ctx]
            yield f"{len(ids)} tokens, {sentence[:24]!r}", ids
    if SENTENCES[0].split()[0] in index and len(model.vocab) > 10000:
        return
    rng = np.random.default_rng(1)
    for n in RANDOM_LENGTHS:
        n = min(n, model.n_ctx)
        yield f"{n} random tokens", rng.integers(0, len(model.vocab), n).tolist()


def judge(got, want):
    """None, or what is wrong; and a line of numbers."""
    scale = np.abs(want).max()
    error = np.abs(got - want).max() / scale
    ranked = np.sort(want, axis=-1)
    is_clear = ranked[:, -1] - ranked[:, -2] > TOLERANCE * scale
    is_equal = got.argmax(axis=-1) == want.argmax(axis=-1)
    facts = (f"largest difference {error * scale:.2e} of {scale:.1f} ({error:.1e}), "
             f"best token equal at {is_equal.sum()} of {len(want)}")
    if not error < TOLERANCE:
        return "difference above 1e-4", facts
    if not is_equal[is_clear].all():
        return "another best token", facts
    return None, facts


def main():
    parser = argparse.ArgumentParser(description="our logits against float64 numpy")
    parser.add_argument("--model", required=True)
    parser.add_argument("--bin", default="build/bin")
    args = parser.parse_args()

    model = Model(args.model)
    names, prompts = zip(*prompts_for(model))
    n_failed = 0
    for name, ids, want in zip(names, prompts, forward(model, prompts)):
        got = ours(Path(args.bin) / "logits", args.model, ids, len(model.embedding))
        if got.shape != want.shape:
            trouble, facts = f"{len(got)} rows in place of {len(want)}", ""
        else:
            trouble, facts = judge(got, want)
        n_failed += trouble is not None
        print(f"{'FAILED ' + trouble if trouble else 'ok'}  {name}: {facts}")
    print(f"{len(prompts) - n_failed} passed, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
