#!/usr/bin/env python3
"""Writes one tiny model in every container that the engine opens, with the same numbers in all:

    tools/tiny_containers.py --arch qwen2 --out DIR

    DIR/tiny.gguf                        one GGUF file
    DIR/split-00001-of-00003.gguf ...    the same in three parts
    DIR/folder/                          safetensors, with the JSON beside
    DIR/sharded/                         the same in two files and an index

A folder keeps the original order of Q and K rows and leaves out the 1 of Gemma's norms, so both are
undone here, exactly. The tests of model files read these. Options are those of tools/tiny_model.py.
Standard library.
"""
import json
import os
import struct
from pathlib import Path

import tiny_model
from tiny_arch import STRETCHED_FROM

N_PARTS, N_SHARDS = 3, 2
FLOATS = {0: ("F32", 4), 1: ("F16", 2), 30: ("BF16", 2)}  # type number of a GGUF file

NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}
GEMMA_NAMES = {"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
               "post_ffw_norm": "post_feedforward_layernorm"}


# ---- GGUF in parts ------------------------------------------------------------------------------
def split_files(keys, tensors):
    """The bytes of each part. All keys are in the first."""
    size = -(-len(tensors) // N_PARTS)
    parts = []
    for i in range(N_PARTS):
        own = [("split.no", tiny_model.U32, i), ("split.count", tiny_model.U32, N_PARTS),
               ("split.tensors.count", tiny_model.I32, len(tensors))]
        parts.append(tiny_model.file_bytes((keys if i == 0 else []) + own, tensors[i * size:(i + 1) * size]))
    return parts


# ---- safetensors --------------------------------------------------------------------------------
def hf_name(name, is_gemma):
    *front, part, end = name.split(".")
    table = {**NAMES, **(GEMMA_NAMES if is_gemma else {})}
    layer = f"model.layers.{front[1]}." if front else ""
    return f"{layer}{table[part]}.{end}"


def in_halves(content, n_heads):
    """Rows 0, 2, 4, ... of each head, then 1, 3, 5, ...: what a converter to GGUF has interleaved."""
    n = len(content) // n_heads
    return lambda d_head: b"".join(
        content[h * n + i * n // d_head:h * n + (i + 1) * n // d_head]
        for h in range(n_heads) for i in [*range(0, d_head, 2), *range(1, d_head, 2)])


def without_one(content):
    """Exact, since the values lie between 0.5 and 2 (Sterbenz)."""
    n = len(content) // 4
    return struct.pack(f"<{n}f", *(x - 1 for x in struct.unpack(f"<{n}f", content)))


def hf_tensors(arch, tensors):
    """(name, dtype, shape, bytes) as a folder has them."""
    is_gemma = arch.name == "gemma3"
    for name, dims, number, content in tensors:
        if name == "rope_freqs.weight":
            continue
        part = name.split(".")[-2]
        if arch.name == "llama" and part in ("attn_q", "attn_k"):
            heads = arch.shape.n_heads if part == "attn_q" else arch.shape.n_kv_heads
            content = in_halves(content, heads)(arch.shape.d_head)
        if is_gemma and part.endswith("norm"):
            content = without_one(content)
        yield hf_name(name, is_gemma), FLOATS[number][0], dims[::-1], content


def safetensors_bytes(tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * ((2 - len(text)) % 4 + 1)  # data at an odd byte: nobody promises more
    return struct.pack("<Q", len(text)) + text + data


def config_json(arch, options, n_vocab):
    shape = arch.shape
    config = {
        "model_type": "gemma3_text" if arch.name == "gemma3" else arch.name,
        "num_hidden_layers": shape.n_layers, "hidden_size": shape.d_model, "intermediate_size": shape.d_ff,
        "num_attention_heads": shape.n_heads, "num_key_value_heads": shape.n_kv_heads, "head_dim": shape.d_head,
        "max_position_embeddings": options.context, "rms_norm_eps": 1e-5, "rope_theta": arch.rope_base,
        "vocab_size": n_vocab, "tie_word_embeddings": not options.untied, "bos_token_id": 1, "eos_token_id": 2,
        "torch_dtype": "bfloat16", "rope_scaling": None,
    }
    if arch.name == "gemma3":
        config.update(hidden_activation="gelu_pytorch_tanh", rope_local_base_freq=10000.0, sliding_window_pattern=6,
                      query_pre_attn_scalar=shape.d_head)
    else:
        config["hidden_act"] = "silu"
    if arch.window:
        config["sliding_window"] = arch.window
    if options.rope_scaling:
        config["rope_scaling"] = {"rope_type": options.rope_scaling, "factor": 4.0,
                                  "original_max_position_embeddings": STRETCHED_FROM}
    return config


def tokenizer_json(tokens, types, merges):
    control = [i for i, kind in enumerate(types) if kind == tiny_model.TOKEN_CONTROL]
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": tokens[i], "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True} for i in control],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}]},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "unk_token": tokens[0], "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges},
    }


def folder_files(arch, options, tensors, n_shards):
    """Name -> bytes of each file of a model folder."""
    tokens, types, merges = tiny_model.make_tokenizer()
    files = {
        "config.json": config_json(arch, options, len(tokens)),
        "generation_config.json": {"eos_token_id": [2, 0], "temperature": 0.6, "top_k": 20},
        "tokenizer.json": tokenizer_json(tokens, types, merges),
        "tokenizer_config.json": {"chat_template": tiny_model.CHAT_TEMPLATE, "add_bos_token": False},
    }
    files = {name: json.dumps(content, indent=1).encode() for name, content in files.items()}
    theirs = list(hf_tensors(arch, tensors))
    if n_shards == 1:
        return {**files, "model.safetensors": safetensors_bytes(theirs)}
    weight_map, size = {}, -(-len(theirs) // n_shards)
    for i in range(n_shards):
        name = f"model-{i + 1:05}-of-{n_shards:05}.safetensors"
        shard = theirs[i * size:(i + 1) * size]
        files[name] = safetensors_bytes(shard)
        weight_map.update({tensor[0]: name for tensor in shard})
    index = {"metadata": {"total_size": sum(len(t[3]) for t in theirs)}, "weight_map": weight_map}
    return {**files, "model.safetensors.index.json": json.dumps(index).encode()}


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        Path(folder, name).write_bytes(content)


def write_all(folder, options):
    """Every container, into one folder."""
    options.floats = True
    arch, keys, tensors = tiny_model.make_model(options)
    parts = split_files(keys, tensors)
    names = [f"split-{i + 1:05}-of-{N_PARTS:05}.gguf" for i in range(N_PARTS)]
    write(folder, {"tiny.gguf": tiny_model.file_bytes(keys, tensors), **dict(zip(names, parts))})
    write(Path(folder, "folder"), folder_files(arch, options, tensors, 1))
    write(Path(folder, "sharded"), folder_files(arch, options, tensors, N_SHARDS))


def main():
    options = tiny_model.parse_options(None)
    write_all(options.out, options)


if __name__ == "__main__":
    main()
