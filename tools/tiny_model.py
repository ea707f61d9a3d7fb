#!/usr/bin/env python3
"""Writes a tiny model as GGUF v3: random weights, a real tokenizer, the same bytes for a seed.

It is what the tests load: a llama unless told otherwise, in which six stored types occur, every key
that the engine reads is there, and greedy text wanders instead of repeating one token. It cannot
answer anything.

    tools/tiny_model.py --out build/test/tiny.gguf
    tools/tiny_model.py --arch gemma3 --window 8 --out gemma3.gguf

Other containers: tools/tiny_containers.py.
"""
import argparse
import collections
import functools
import math
import random
import re
import struct
import sys

from number_types import DTYPES, K_BLOCK
from tiny_arch import ARCHS, WIDE, keys_of, rope_factors, variant

N_CTX, N_MERGES = 512, 320
FLOATS = ["F32", "F16", "BF16"]  # what every container can hold
ALIGNMENT = 32

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOKEN_NORMAL, TOKEN_CONTROL, TOKEN_BYTE = 1, 3, 6

# The template of SmolLM2-135M-Instruct, to the letter: the engine knows it by its text.
CHAT_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# What the merges are learnt from.
TEXT = """
The user asks a question and the assistant gives an answer. What is the capital of France? The
capital of France is Paris. What is the weather like today? It is sunny and warm, with a little
wind from the north. Hello, how are you? I am here to help you with that. Write a short story
about the sea. Once upon a time there was a small boat that went out to find the end of the world.
The captain had a map, a lamp and a cat. They were not afraid of the dark, because the stars were
bright. When the morning came, the water was still and they could see the land. You should read
the system message first, then the user message, and then think before you speak. There are many
things that we can do together: count the words, sort the numbers, explain the code. For example,
a function takes an input and returns an output. This is the reason why the model should be small
and the test should be fast. Can you tell me more about your work? Of course, that would be great.
One, two, three, four, five, six, seven, eight, nine, ten. Thank you for the question, have a nice
day, and please come back when you have another one. The quick brown fox jumps over the lazy dog.
int main(void) { return 0; }  for (int i = 0; i < n; i++) { sum = sum + values[i]; }
"""


# ---- tokenizer ----------------------------------------------------------------------------------
def byte_symbols():
    """Byte -> printable character, as GPT-2 does: printable bytes stand for themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    symbols = {b: chr(b) for b in printable}
    symbols.update({b: chr(256 + i) for i, b in enumerate(others)})
    return symbols


def learn_merges(text, symbols, n_merges):
    """The usual byte-pair training: join the most frequent neighbours, again and again."""
    words = collections.Counter(re.findall(r" ?[A-Za-z]+| ?[^\sA-Za-z0-9]+|\s+", text))
    words = [([symbols[b] for b in word.encode()], n) for word, n in words.items()]
    merges = []
    while len(merges) < n_merges:
        pairs = collections.Counter()
        for parts, n in words:
            for pair in zip(parts, parts[1:]):
                pairs[pair] += n
        if not pairs:
            sys.exit(f"the text gives only {len(merges)} merges")
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        for parts, _ in words:
            i = 0
            while i + 1 < len(parts):
                if (parts[i], parts[i + 1]) == best:
                    parts[i : i + 2] = [best[0] + best[1]]
                i += 1
    return merges


@functools.lru_cache(maxsize=None)  # who writes many models learns the merges once
def make_tokenizer():
    symbols = byte_symbols()
    merges = learn_merges(TEXT, symbols, N_MERGES)
    joined = list(dict.fromkeys(a + b for a, b in merges))  # two pairs may join to one token
    tokens = CONTROL_TOKENS + sorted(symbols.values()) + joined
    n_normal = len(tokens) - len(CONTROL_TOKENS)
    types = [TOKEN_CONTROL] * len(CONTROL_TOKENS) + [TOKEN_NORMAL] * n_normal
    return tokens, types, [f"{a} {b}" for a, b in merges]


@functools.lru_cache(maxsize=None)
def make_spm_tokenizer():
    """SentencePiece's: characters in place of bytes, a score for each token in place of the list of merges."""
    symbols = {**{b: chr(b) for b in range(128)}, ord(" "): "▁"}
    joined = dict.fromkeys(a + b for a, b in learn_merges(TEXT, symbols, N_MERGES))
    pieces = [piece for piece in [*sorted({symbols[b] for b in TEXT.encode()}), *joined] if "\n" not in piece]
    tokens = CONTROL_TOKENS + [f"<0x{b:02X}>" for b in range(256)] + pieces
    types = [TOKEN_CONTROL] * len(CONTROL_TOKENS) + [TOKEN_BYTE] * 256 + [TOKEN_NORMAL] * len(pieces)
    return tokens, types, [0.0] * (len(tokens) - len(pieces)) + [-1.0 - i for i in range(len(pieces))]


# ---- weights ------------------------------------------------------------------------------------
class Weights:
    """Draws tensors one after another. Only random() and exact arithmetic: same bytes anywhere."""

    def __init__(self, seed, mix):
        self.rng = random.Random(seed)
        self.mix = mix
        self.tensors = []  # (name, dims fastest first, type number, bytes)

    def add(self, name, dims, dtype, values):
        self.tensors.append((name, dims, DTYPES[dtype].number, DTYPES[dtype].encode(values)))

    def uniform(self, n, low, high):
        return [low + (high - low) * self.rng.random() for _ in range(n)]

    def norm(self, name, n):
        self.add(name, [n], "F32", self.uniform(n, 0.5, 1.5))

    def bias(self, name, n):
        self.add(name, [n], "F32", self.uniform(n, -0.5, 0.5))

    def matrix(self, name, n_out, n_in, gain):
        """Inputs of variance 1 give outputs of variance gain squared."""
        dtype = self.mix[len(self.tensors) % len(self.mix)]
        a = gain * math.sqrt(3 / n_in)
        self.add(name, [n_in, n_out], dtype, self.uniform(n_out * n_in, -a, a))

    def vocabulary(self, name, tokens, d_model, scale, dtype):
        """Small beside what the layers add, or a tied model would repeat its input. Control tokens
        and bytes that are no letters are fainter, so that greedy text is mostly readable."""
        values = []
        for token in tokens:
            faint = token in CONTROL_TOKENS or (len(token) == 1 and not "!" <= token <= "~")
            a = (0.25 if faint else 0.5) * scale
            values += self.uniform(d_model, -a, a)
        self.add(name, [d_model, len(tokens)], dtype, values)


def add_layer(w, p, arch):
    shape = arch.shape
    d_q, d_kv = shape.n_heads * shape.d_head, shape.n_kv_heads * shape.d_head
    w.norm(p + "attn_norm.weight", shape.d_model)
    for name, n_out, gain in [("attn_q", d_q, 1.5), ("attn_k", d_kv, 1.5), ("attn_v", d_kv, 1.0)]:
        w.matrix(f"{p}{name}.weight", n_out, shape.d_model, gain)
        if arch.has_qkv_bias:
            w.bias(f"{p}{name}.bias", n_out)
    if arch.has_head_norms:
        w.norm(p + "attn_q_norm.weight", shape.d_head)
        w.norm(p + "attn_k_norm.weight", shape.d_head)
    w.matrix(p + "attn_output.weight", shape.d_model, d_q, 1.5)
    if arch.has_post_norms:
        w.norm(p + "post_attention_norm.weight", shape.d_model)
    w.norm(p + "ffn_norm.weight", shape.d_model)
    w.matrix(p + "ffn_gate.weight", shape.d_ff, shape.d_model, 1.5)
    w.matrix(p + "ffn_up.weight", shape.d_ff, shape.d_model, 1.5)
    w.matrix(p + "ffn_down.weight", shape.d_model, shape.d_ff, 1.5)
    if arch.has_post_norms:
        w.norm(p + "post_ffw_norm.weight", shape.d_model)


def make_weights(arch, tokens, options):
    mix = [options.dtype] if options.dtype else FLOATS if options.floats else arch.mix
    w, shape, embd = Weights(options.seed, mix), arch.shape, "F16" if options.floats else "Q8_0"
    scale = 1 / math.sqrt(shape.d_model) if arch.scales_embedding else 1
    w.vocabulary("token_embd.weight", tokens, shape.d_model, scale, options.dtype or embd)
    for layer in range(shape.n_layers):
        add_layer(w, f"blk.{layer}.", arch)
    w.norm("output_norm.weight", shape.d_model)
    if options.untied:
        w.vocabulary("output.weight", tokens, shape.d_model, 1, options.dtype or "F16")
    if options.rope_factors:
        w.add("rope_freqs.weight", [shape.d_head // 2], "F32", rope_factors(shape.d_head))
    return w.tensors


# ---- the file -----------------------------------------------------------------------------------
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
FORMAT = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}


def string_bytes(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, value):
    return string_bytes(value) if kind == STRING else struct.pack(FORMAT[kind], value)


def key_bytes(name, kind, value):
    out = string_bytes(name)
    if not isinstance(value, list):
        return out + struct.pack("<I", kind) + value_bytes(kind, value)
    out += struct.pack("<IIQ", ARRAY, kind, len(value))
    return out + b"".join(value_bytes(kind, item) for item in value)


def padding(n):
    return bytes(-n % ALIGNMENT)


def arch_keys(arch, n_vocab, options):
    shape = arch.shape
    keys = [
        ("block_count", U32, shape.n_layers),
        ("context_length", U32, options.context),
        ("embedding_length", U32, shape.d_model),
        ("feed_forward_length", U32, shape.d_ff),
        ("attention.head_count", U32, shape.n_heads),
        ("attention.head_count_kv", U32, shape.n_kv_heads),
        ("rope.freq_base", F32, arch.rope_base),
        ("attention.layer_norm_rms_epsilon", F32, 1e-5),
        ("vocab_size", U32, n_vocab),
        ("rope.dimension_count", U32, shape.d_head),
    ]
    return [(f"{arch.name}.{suffix}", kind, value)
            for suffix, kind, value in keys + keys_of(arch, options.rope_scaling)]


def make_keys(arch, tokens, types, merges, options):
    return [
        ("general.architecture", STRING, arch.name),
        ("general.name", STRING, "Tiny Ladder"),
        ("general.languages", STRING, ["en"]),
        *arch_keys(arch, len(tokens), options),
        ("tokenizer.ggml.add_space_prefix", BOOL, False),
        ("tokenizer.ggml.add_bos_token", BOOL, False),
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.pre", STRING, "smollm"),
        ("tokenizer.ggml.tokens", STRING, tokens),
        ("tokenizer.ggml.token_type", I32, types),
        ("tokenizer.ggml.merges", STRING, merges),
        ("tokenizer.ggml.bos_token_id", U32, 1),
        ("tokenizer.ggml.eos_token_id", U32, 2),
        ("tokenizer.ggml.unknown_token_id", U32, 0),
        ("tokenizer.ggml.padding_token_id", U32, 2),
        ("tokenizer.chat_template", STRING, CHAT_TEMPLATE),
    ]


def file_bytes(keys, tensors):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(key_bytes(*key) for key in keys)
    data = b""
    for name, dims, number, content in tensors:
        head += string_bytes(name) + struct.pack("<I", len(dims))
        head += struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", number, len(data))
        data += content + padding(len(content))
    return head + padding(len(head)) + data


def spm_keys(keys, scores):
    """The same keys for SentencePiece, which has scores, and a space in front of each text."""
    other = {"tokenizer.ggml.model": ("tokenizer.ggml.model", STRING, "llama"),
             "tokenizer.ggml.merges": ("tokenizer.ggml.scores", F32, scores),
             "tokenizer.ggml.add_space_prefix": ("tokenizer.ggml.add_space_prefix", BOOL, True)}
    return [other.get(key[0], key) for key in keys if key[0] != "tokenizer.ggml.pre"]


def make_model(options):
    """The architecture, the keys and the tensors that the options ask for."""
    arch = variant(options.arch, options.wide_heads, options.window)
    if options.dtype and DTYPES[options.dtype].block_len == K_BLOCK:
        arch = arch._replace(shape=WIDE)
    if options.tokenizer == "spm":
        tokens, types, scores = make_spm_tokenizer()
        keys = spm_keys(make_keys(arch, tokens, types, [], options), scores)
    else:
        tokens, types, merges = make_tokenizer()
        keys = make_keys(arch, tokens, types, merges, options)
    return arch, keys, make_weights(arch, tokens, options)


def make_file(options):
    """All bytes of the GGUF file."""
    return file_bytes(*make_model(options)[1:])


def parse_options(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--arch", choices=ARCHS, default="llama")
    parser.add_argument("--tokenizer", choices=["bpe", "spm"], default="bpe", help="spm: SentencePiece")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--dtype", choices=DTYPES, help="store every matrix as this type")
    parser.add_argument("--floats", action="store_true", help="store no matrix in blocks")
    parser.add_argument("--untied", action="store_true", help="write an output matrix of its own")
    parser.add_argument("--context", type=int, default=N_CTX, metavar="N", help="tokens that fit")
    parser.add_argument("--window", type=int, metavar="N", help="keys that a layer with a window reads")
    parser.add_argument("--wide-heads", action="store_true", help="heads twice as wide as their share")
    parser.add_argument("--rope-factors", action="store_true", help="write the tensor of factors of Llama 3.x")
    parser.add_argument("--rope-scaling", choices=["linear", "yarn"], help="stretch positions by 4")
    return parser.parse_args(words)


def main():
    options = parse_options(None)
    with open(options.out, "wb") as file:
        file.write(make_file(options))


if __name__ == "__main__":
    main()
