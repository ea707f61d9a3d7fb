"""What one token asks of each stage of a forward pass: bytes read and operations, of the default model. Shapes are
those of data/models.json; how the file stores its numbers, build/bin/inspect says of it."""
import json

MODEL = "smollm2-135m"
Q4_1, Q8_0, F32 = 20 / 32, 34 / 32, 4.0  # bytes of a number: layers, embedding and head, norms and KV
MULTIPLY_ADD = 2


def shape_of(root):
    models = json.loads((root / "data/models.json").read_text(encoding="utf-8"))["models"]
    return next(model for model in models if model["name"] == MODEL)


def layer_stages(m):
    """(stage, shapes, weights, norm values): the four of a layer that read weights."""
    d, ff, q, kv = m["d_model"], m["d_ff"], m["heads"] * m["d_head"], m["kv_heads"] * m["d_head"]
    return [("`norm_qkv_store`", f"{d} → q {q}, k {kv}, v {kv}", d * (q + 2 * kv), d),
            ("`out_add`", f"{q} → {d}", q * d, 0),
            ("`norm_gate_up`", f"{d} → 2 x {ff} → {ff}", 2 * d * ff, d),
            ("`down_add`", f"{ff} → {d}", ff * d, 0)]


def kv_bytes(m):
    """K and V of one token in one layer, as the plain engine stores them."""
    return 2 * m["kv_heads"] * m["d_head"] * F32


def key_operations(m):
    """Of one row and one key in one layer: q.k, then the weight times v."""
    return 2 * MULTIPLY_ADD * m["heads"] * m["d_head"]


def layer_weights(m):
    return sum(weights for _, _, weights, _ in layer_stages(m))


def weight_bytes(m):
    """All that a step with one row of logits reads of the file, but its rows of the embedding."""
    layer = layer_weights(m) * Q4_1 + 2 * m["d_model"] * F32
    return m["layers"] * layer + m["d_model"] * (m["vocab"] * Q8_0 + F32)


def row(name, shapes, times, n_bytes, operations):
    return f"| {name} | {shapes} | {times} | {times * n_bytes:,.0f} | {times * operations:,.0f} |"


def stages(root):
    m = shape_of(root)
    n, d, head = m["layers"], m["d_model"], m["d_model"] * m["vocab"]
    rows = ["| stage | one token | times | bytes read | operations |", "|---|---|---|---|---|",
            row("`embed`", f"id → {d}", 1, d * Q8_0, 0)]
    rows += [row(name, shapes, n, weights * Q4_1 + norms * F32, MULTIPLY_ADD * weights)
             for name, shapes, weights, norms in layer_stages(m)]
    rows += [row("`logits`", f"{d} → {m['vocab']:,}", 1, head * Q8_0 + d * F32, MULTIPLY_ADD * head),
             f"| **all weights** | | | **{weight_bytes(m) + d * Q8_0:,.0f}** | "
             f"**{MULTIPLY_ADD * (n * layer_weights(m) + head):,}** |"]
    return rows + [row(f"`attend`, {name}", f"q {d}, K, V → {d}", n, keys * kv_bytes(m), keys * key_operations(m))
                   for name, keys in (("each key", 1), ("1,000 keys", 1000), ("8,000 keys", 8000))]


def step(name, m, n_rows, n_before):
    """As common/cost.h counts it: weights once, keys read once, own keys written; the last row wants logits."""
    n_bytes = weight_bytes(m) + m["layers"] * kv_bytes(m) * (n_before + n_rows)
    pairs = sum(n_before + i + 1 for i in range(n_rows))
    operations = (MULTIPLY_ADD * (n_rows * m["layers"] * layer_weights(m) + m["d_model"] * m["vocab"])
                  + m["layers"] * key_operations(m) * pairs)
    return (f"| {name} | {n_bytes / 1e6:,.1f} MB | {operations / 1e6:,.0f} million | {n_bytes / n_rows / 1e6:,.1f} MB | "
            f"{operations / n_bytes:,.1f} |")


def steps(root):
    m = shape_of(root)
    return ["| a step of | bytes moved | operations | bytes a token | operations for each byte |", "|---|---|---|---|---|",
            step("the first 64 tokens of a prompt", m, 64, 0), step("one token behind 64", m, 1, 64),
            step("one token behind 1,000", m, 1, 1000), step("one token behind 8,000", m, 1, 8000)]
