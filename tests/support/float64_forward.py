"""The forward pass of each architecture in float64, written from the papers and not from our C.

Where a paper leaves a choice open, the published code decides: Hugging Face transformers, models/llama,
qwen2, qwen3 and gemma3; for what a GGUF file holds, llama.cpp, conversion/llama.py and gemma.py (llama's
rows of Q and K are reordered so that neighbours turn together; Gemma's norm weights are 1 + w already).
The weights come out of the file through the gguf package.
"""
import gguf
import numpy as np

GEMMA_PERIOD, GEMMA_LOCAL_BASE = 6, 10000.0  # Gemma team 2025, section 2: five local layers, one global
BETA_FAST, BETA_SLOW = 32, 1  # Peng et al. 2023, section 3.2


class Model:
    def __init__(self, path):
        self.reader = gguf.GGUFReader(path)
        self.tensors = {t.name: t for t in self.reader.tensors}
        self.arch = self.value("general.architecture")
        self.n_layers = self.number("block_count")
        self.n_heads = self.number("attention.head_count")
        self.n_kv_heads = self.number("attention.head_count_kv")
        self.d_model = self.number("embedding_length")
        self.d_head = self.number("attention.key_length", self.d_model // self.n_heads)
        self.eps = self.number("attention.layer_norm_rms_epsilon")
        self.n_ctx = self.number("context_length")
        self.window = self.number("attention.sliding_window", 0)
        self.embedding = self.matrix("token_embd.weight", np.float32)
        self.vocab = self.value("tokenizer.ggml.tokens")

    def value(self, key, other=None):
        field = self.reader.fields.get(key)
        if field is None and other is None:
            raise KeyError(key)
        return other if field is None else field.contents()

    def number(self, key, other=None):
        return self.value(f"{self.arch}.{key}", other)

    def matrix(self, name, kind=np.float64):
        tensor = self.tensors[name]
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(kind)

    def layer(self, i):
        """Everything that the file has for a layer, by its short name: "attn_q.weight"."""
        prefix = f"blk.{i}."
        return {name[len(prefix):]: self.matrix(name) for name in self.tensors if name.startswith(prefix)}

    def has_window(self, i):
        if self.arch == "gemma3":
            return self.window > 0 and i % GEMMA_PERIOD != GEMMA_PERIOD - 1
        return self.window > 0


def norm(x, weight, eps):  # Zhang & Sennrich 2019
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


# ---- positions ----------------------------------------------------------------------------------
def yarn(frequencies, base, factor, n_ctx):
    """Peng et al. 2023, section 3.2: fast pairs as they are, slow ones slower, the rest in between."""
    n = len(frequencies)

    def pair_that_turns(times):
        return 2 * n * np.log(n_ctx / (times * 2 * np.pi)) / (2 * np.log(base))

    low = max(np.floor(pair_that_turns(BETA_FAST)), 0)
    high = min(np.ceil(pair_that_turns(BETA_SLOW)), 2 * n - 1)
    share = 1 - np.clip((np.arange(n) - low) / max(high - low, 0.001), 0, 1)
    return frequencies / factor * (1 - share) + frequencies * share


def frequencies_of(model, i_layer):
    """Radians that each pair turns per position, and how much longer queries and keys get."""
    is_local = model.arch == "gemma3" and model.has_window(i_layer)
    base = GEMMA_LOCAL_BASE if is_local else model.number("rope.freq_base")
    frequencies = base ** (-2.0 * np.arange(model.d_head // 2) / model.d_head)
    if is_local:
        return frequencies, 1
    if "rope_freqs.weight" in model.tensors:
        return frequencies / model.matrix("rope_freqs.weight"), 1
    factor, kind = model.number("rope.scaling.factor", 1.0), model.number("rope.scaling.type", "linear")
    if kind == "yarn":
        n_ctx = model.number("rope.scaling.original_context_length")
        return yarn(frequencies, base, factor, n_ctx), 0.1 * np.log(factor) + 1  # section 3.4
    return frequencies / factor, 1


def rotate(x, frequencies, neighbours):
    """Su et al. 2021, eq. 34, as complex numbers."""
    n_tokens, _, d_head = x.shape
    angles = np.outer(np.arange(n_tokens), frequencies)
    first = x[..., 0::2] if neighbours else x[..., : d_head // 2]
    second = x[..., 1::2] if neighbours else x[..., d_head // 2:]
    turned = (first + 1j * second) * np.exp(1j * angles)[:, None, :]
    if neighbours:
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return np.concatenate([turned.real, turned.imag], axis=-1)


# ---- a layer ------------------------------------------------------------------------------------
def attention(q, k, v, scale, window):  # Vaswani et al. 2017, eq. 1, causal; heads share keys in groups
    n_tokens, n_heads, _ = q.shape
    group = n_heads // k.shape[1]
    distance = np.arange(n_tokens)[:, None] - np.arange(n_tokens)[None, :]
    is_seen = (distance >= 0) & ((distance < window) if window else True)
    out = np.empty_like(q)
    for h in range(n_heads):
        scores = np.where(is_seen, q[:, h] @ k[:, h // group].T * scale, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[:, h] = weights / weights.sum(axis=-1, keepdims=True) @ v[:, h // group]
    return out


def linear(w, name, x):
    y = x @ w[name + ".weight"].T
    return y + w[name + ".bias"] if name + ".bias" in w else y


def activation(model, x):
    if model.arch == "gemma3":  # GELU by tanh, Hendrycks & Gimpel 2016, section 2
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / (1 + np.exp(-x))


def layer(model, i_layer, w, x):
    n_tokens = len(x)
    h = norm(x, w["attn_norm.weight"], model.eps)
    q = linear(w, "attn_q", h).reshape(n_tokens, model.n_heads, model.d_head)
    k = linear(w, "attn_k", h).reshape(n_tokens, model.n_kv_heads, model.d_head)
    v = linear(w, "attn_v", h).reshape(n_tokens, model.n_kv_heads, model.d_head)
    if model.arch in ("qwen3", "gemma3"):
        q = norm(q, w["attn_q_norm.weight"], model.eps)
        k = norm(k, w["attn_k_norm.weight"], model.eps)
    frequencies, length = frequencies_of(model, i_layer)
    q = length * rotate(q, frequencies, model.arch == "llama")
    k = length * rotate(k, frequencies, model.arch == "llama")
    window = model.window if model.has_window(i_layer) else 0
    mixed = attention(q, k, v, 1 / np.sqrt(model.d_head), window).reshape(n_tokens, -1)
    added = linear(w, "attn_output", mixed)
    if model.arch == "gemma3":
        added = norm(added, w["post_attention_norm.weight"], model.eps)
    x = x + added

    h = norm(x, w["ffn_norm.weight"], model.eps)
    gated = activation(model, linear(w, "ffn_gate", h)) * linear(w, "ffn_up", h)  # Shazeer 2020
    added = linear(w, "ffn_down", gated)
    if model.arch == "gemma3":
        added = norm(added, w["post_ffw_norm.weight"], model.eps)
    return x + added


def forward(model, prompts):
    """Logits (n_tokens, n_vocab) of each prompt. Layer by layer, so that few weights are held."""
    xs = [model.embedding[ids].astype(np.float64) for ids in prompts]
    if model.arch == "gemma3":
        xs = [x * np.sqrt(model.d_model) for x in xs]
    for i in range(model.n_layers):
        w = model.layer(i)
        xs = [layer(model, i, w, x) for x in xs]
    tied = "output.weight" not in model.tensors
    output = model.embedding.astype(np.float64) if tied else model.matrix("output.weight")
    weight = model.matrix("output_norm.weight")
    return [norm(x, weight, model.eps) @ output.T for x in xs]
