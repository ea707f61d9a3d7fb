"""What the tiny model of each architecture has: its shape, and the tensors and keys beyond llama's.
Written from the published configurations; the engine's own table (level2-operator/gguf/arch.c) is not used.
"""
import collections

Shape = collections.namedtuple("Shape", "d_model d_head n_heads n_kv_heads d_ff n_layers")
SMALL = Shape(d_model=64, d_head=16, n_heads=4, n_kv_heads=2, d_ff=96, n_layers=3)
WIDE = Shape(d_model=256, d_head=64, n_heads=4, n_kv_heads=2, d_ff=256, n_layers=1)  # rows of whole K blocks

Arch = collections.namedtuple("Arch", "name shape rope_base window has_qkv_bias has_head_norms has_post_norms "
                                      "scales_embedding mix")
MIX = ["F32", "F16", "Q4_0", "Q4_1", "Q8_0", "BF16"]  # the types of the matrices, in turn
SMALL_TYPES = ["Q4_0", "Q8_0", "Q4_1", "F16"]  # a file with more values stays small, too
ARCHS = {
    "llama": Arch("llama", SMALL, 10000.0, 0, False, False, False, False, MIX),
    "qwen2": Arch("qwen2", SMALL, 1000000.0, 0, True, False, False, False, MIX),
    # heads of 32, though 64 / 4 is 16
    "qwen3": Arch("qwen3", SMALL._replace(d_head=32), 1000000.0, 0, False, True, False, False, SMALL_TYPES),
    # layer 5 reads all keys, the others a window; layer 6 shows that it goes on so. One KV head for all
    "gemma3": Arch("gemma3", Shape(d_model=64, d_head=24, n_heads=4, n_kv_heads=1, d_ff=32, n_layers=7),
                   1000000.0, 24, False, True, True, True, SMALL_TYPES),
}

STRETCHED_FROM = 64  # positions before the rope scaling
U32, F32, STRING = 4, 6, 8


def variant(name, wide_heads=False, window=None):
    """An architecture, with heads twice as wide, or with another window (0: none), if asked for."""
    arch = ARCHS[name]
    if wide_heads:
        arch = arch._replace(shape=arch.shape._replace(d_head=2 * arch.shape.d_head))
    return arch if window is None else arch._replace(window=window)


def keys_of(arch, rope_scaling):
    """(suffix, kind, value) of the keys that not every architecture has."""
    keys = []
    if arch.shape.d_head * arch.shape.n_heads != arch.shape.d_model:
        keys += [("attention.key_length", U32, arch.shape.d_head),
                 ("attention.value_length", U32, arch.shape.d_head)]
    if arch.name == "gemma3" or arch.window:
        keys.append(("attention.sliding_window", U32, arch.window))
    if rope_scaling:
        keys += [("rope.scaling.type", STRING, rope_scaling), ("rope.scaling.factor", F32, 4.0)]
    if rope_scaling == "yarn":
        keys.append(("rope.scaling.original_context_length", U32, STRETCHED_FROM))
    return keys


def rope_factors(d_head):
    """Divisors of the frequencies as Llama 3.x has them: 1 for fast pairs, 8 for slow ones."""
    n = d_head // 2
    return [min(8.0, 2.0 ** max(0, i - n // 4)) for i in range(n)]
