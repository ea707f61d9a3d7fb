// Kind and range of a value are one table away: its types.
#include "level2-operator/gguf/gguf_value.h"

#include <string.h>

#include "level2-operator/gguf/cursor.h"
#include "level2-operator/gguf/gguf_reader.h"

// clang-format off
static const struct {
    const char *name;
    int n_bytes; // 0: no fixed width
} types[GGUF_TYPE_COUNT] = {
    [GGUF_U8]     = {"u8", 1},
    [GGUF_I8]     = {"i8", 1},
    [GGUF_U16]    = {"u16", 2},
    [GGUF_I16]    = {"i16", 2},
    [GGUF_U32]    = {"u32", 4},
    [GGUF_I32]    = {"i32", 4},
    [GGUF_F32]    = {"f32", 4},
    [GGUF_BOOL]   = {"bool", 1},
    [GGUF_STRING] = {"string", 0},
    [GGUF_ARRAY]  = {"array", 0},
    [GGUF_U64]    = {"u64", 8},
    [GGUF_I64]    = {"i64", 8},
    [GGUF_F64]    = {"f64", 8},
};
// clang-format on

static bool is_signed(enum gguf_type t) {
    return t == GGUF_I8 || t == GGUF_I16 || t == GGUF_I32 || t == GGUF_I64;
}

static bool is_integer(enum gguf_type t) {
    return is_signed(t) || t == GGUF_U8 || t == GGUF_U16 || t == GGUF_U32 || t == GGUF_U64;
}

static uint64_t bits(const struct gguf_value *v) {
    return load_le(v->bytes, types[v->type].n_bytes);
}

static bool is_negative(const struct gguf_value *v) {
    return is_signed(v->type) && bits(v) >> (8 * types[v->type].n_bytes - 1);
}

const struct gguf_key *gguf_find_key(const struct gguf *g, const char *key) {
    uint32_t i;
    return table_get(&g->key_table, key, strlen(key), &i) ? &g->keys[i] : NULL;
}

const struct gguf_value *gguf_find(const struct gguf *g, const char *key) {
    const struct gguf_key *k = gguf_find_key(g, key);
    return k ? &k->value : NULL;
}

const struct gguf_tensor *gguf_find_tensor(const struct gguf *g, const char *name) {
    uint32_t i;
    return table_get(&g->tensor_table, name, strlen(name), &i) ? &g->tensors[i] : NULL;
}

bool gguf_get_u64(const struct gguf_value *v, uint64_t *out) {
    if (!v || !is_integer(v->type) || is_negative(v)) return false;
    *out = bits(v);
    return true;
}

bool gguf_get_f64(const struct gguf_value *v, double *out) {
    if (!v) return false;
    if (v->type == GGUF_F32) {
        uint32_t narrow = (uint32_t)bits(v);
        float f;
        memcpy(&f, &narrow, sizeof(f));
        *out = (double)f;
    } else if (v->type == GGUF_F64) {
        uint64_t wide = bits(v);
        memcpy(out, &wide, sizeof(*out));
    } else if (is_negative(v)) {
        uint64_t sign = UINT64_C(1) << (8 * types[v->type].n_bytes - 1);
        *out = -(double)(sign - (bits(v) - sign)); // two's complement: bits - 2 * sign
    } else if (is_integer(v->type)) {
        *out = (double)bits(v);
    } else {
        return false;
    }
    return true;
}

bool gguf_get_bool(const struct gguf_value *v, bool *out) {
    if (!v || v->type != GGUF_BOOL || v->bytes[0] > 1) return false;
    *out = v->bytes[0] == 1;
    return true;
}

bool gguf_get_string(const struct gguf_value *v, struct gguf_string *out) {
    uint64_t pos = 0;
    if (!v || v->type != GGUF_STRING) return false;
    struct gguf_value as_array = {.type = GGUF_ARRAY,
                                  .item_type = GGUF_STRING,
                                  .bytes = v->bytes,
                                  .n_bytes = v->n_bytes};
    return gguf_next_string(&as_array, &pos, out);
}

bool gguf_string_is(struct gguf_string s, const char *text) {
    return s.n_bytes == strlen(text) && memcmp(s.bytes, text, s.n_bytes) == 0;
}

bool gguf_item(const struct gguf_value *array, uint64_t i, struct gguf_value *item) {
    if (!array || array->type != GGUF_ARRAY || i >= array->n_items) return false;
    size_t width = (size_t)types[array->item_type].n_bytes;
    if (width == 0) return false;
    *item = (struct gguf_value){.type = array->item_type,
                                .n_items = 1,
                                .bytes = array->bytes + i * width,
                                .n_bytes = width};
    return true;
}

bool gguf_next_string(const struct gguf_value *array, uint64_t *pos,
                      struct gguf_string *out) {
    if (!array || array->type != GGUF_ARRAY || array->item_type != GGUF_STRING)
        return false;
    struct cursor c = {array->bytes, (size_t)array->n_bytes, (size_t)*pos};
    if (!gguf_take_string(&c, out)) return false;
    *pos = c.pos;
    return true;
}

const char *gguf_type_name(enum gguf_type t) {
    return (unsigned)t < GGUF_TYPE_COUNT ? types[t].name : "unknown";
}

int gguf_type_bytes(enum gguf_type t) {
    return (unsigned)t < GGUF_TYPE_COUNT ? types[t].n_bytes : 0;
}
