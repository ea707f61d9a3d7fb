// Reading GGUF. One cursor walks the header and the two tables; what it finds stays where
// it is, as views. Only then are the tensors placed: their offsets count from the end of
// the tables.
//
//   header ─▶ keys ─▶ alignment, split ─▶ tensors ─▶ placed in the data
//
// Nobody above this file checks a length again, so no length leaves it unchecked.
// read_header shows the manner: enter a place, read, refuse.
#include "level2-operator/gguf/gguf.h"

#include <inttypes.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/cursor.h"
#include "level2-operator/gguf/gguf_reader.h"
#include "level2-operator/gguf/gguf_value.h"

enum {
    DEFAULT_ALIGNMENT = 32,
    MIN_KEY_BYTES = 8 + 4 + 1,           // length of the name, type, a u8
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8 // length of the name, one dimension, type, offset
};

// ---- header -------------------------------------------------------------------------------------

// A count that the rest of the file cannot hold is a lie; believing it would cost memory.
static enum status read_count(struct gguf_reader *r, const char *kind, size_t min_bytes,
                              uint64_t limit, uint64_t *count) {
    gguf_enter(r, kind, 0);
    if (!cursor_u64(&r->at, count)) return gguf_refuse_cut(r);
    r->number = *count;
    if (*count > cursor_left(&r->at) / min_bytes)
        return gguf_refuse(r, ERR_FORMAT, "more than fit in the %zu bytes that follow",
                           cursor_left(&r->at));
    if (*count > limit) return gguf_refuse(r, ERR_LIMIT, "the limit is %" PRIu64, limit);
    return OK;
}

static enum status read_header(struct gguf_reader *r, struct gguf *g) {
    enum status st;
    const unsigned char *magic;

    gguf_enter(r, "magic", 0);
    if (!cursor_take(&r->at, 4, &magic) || memcmp(magic, "GGUF", 4) != 0)
        return gguf_refuse_magic(r);

    gguf_enter(r, "version", 0);
    if (!cursor_u32(&r->at, &g->version)) return gguf_refuse_cut(r);
    r->number = g->version;
    if (g->version != 2 && g->version != 3) return gguf_refuse_version(r);

    st = read_count(r, "n_tensors", MIN_TENSOR_BYTES, LIMIT_GGUF_TENSORS, &g->n_tensors);
    if (st != OK) return st;
    return read_count(r, "n_keys", MIN_KEY_BYTES, LIMIT_GGUF_KEYS, &g->n_keys);
}

// ---- keys ---------------------------------------------------------------------------------------

// [exercise gguf.keys drop]
// Moves past n items. Every string or array has a length field of its own, so the loop is
// bounded by the file and not by n.
static enum status skip_items(struct gguf_reader *r, enum gguf_type type, uint64_t n,
                              int depth) {
    size_t width = (size_t)gguf_type_bytes(type);
    const unsigned char *skipped;
    struct gguf_string string;
    enum gguf_type item_type = GGUF_U8;
    uint64_t n_items;
    enum status st;

    if (depth > LIMIT_GGUF_ARRAY_DEPTH)
        return gguf_refuse(r, ERR_LIMIT, "arrays in arrays, more than %d deep",
                           LIMIT_GGUF_ARRAY_DEPTH);
    if (width) {
        if (n > cursor_left(&r->at) / width) return gguf_refuse_cut(r);
        return cursor_take(&r->at, n * width, &skipped) ? OK : gguf_refuse_cut(r);
    }
    for (uint64_t i = 0; i < n; i++) {
        if (type == GGUF_STRING) {
            if (!gguf_take_string(&r->at, &string)) return gguf_refuse_cut(r);
            continue;
        }
        if ((st = gguf_read_type(r, &item_type)) != OK) return st;
        if (!cursor_u64(&r->at, &n_items)) return gguf_refuse_cut(r);
        if ((st = skip_items(r, item_type, n_items, depth + 1)) != OK) return st;
    }
    return OK;
}

static enum status read_value(struct gguf_reader *r, struct gguf_value *v) {
    enum status st = gguf_read_type(r, &v->type);
    if (st != OK) return st;

    enum gguf_type type = v->type;
    v->n_items = 1;
    if (type == GGUF_ARRAY) {
        if ((st = gguf_read_type(r, &v->item_type)) != OK) return st;
        if (!cursor_u64(&r->at, &v->n_items)) return gguf_refuse_cut(r);
        type = v->item_type;
    }
    size_t begin = r->at.pos;
    if ((st = skip_items(r, type, v->n_items, 1)) != OK) return st;
    v->bytes = r->at.bytes + begin;
    v->n_bytes = r->at.pos - begin;
    return OK;
}

// [end]
enum status gguf_read_keys(struct gguf_reader *r, struct gguf *g, struct arena *arena) {
    // [exercise gguf.keys]
    g->keys = ARENA_NEW(arena, struct gguf_key, g->n_keys);
    if (!g->keys) return gguf_refuse_memory(r, g->n_keys, "keys");
    enum status st = table_init(&g->key_table, arena, (size_t)g->n_keys, r->err);

    for (uint32_t i = 0; st == OK && i < g->n_keys; i++) {
        struct gguf_key *key = &g->keys[i];
        gguf_enter(r, "key", i);
        if ((st = gguf_read_name(r, &key->name)) != OK) break;
        if (!table_put(&g->key_table, key->name.bytes, key->name.n_bytes, i))
            return gguf_refuse(r, ERR_FORMAT, "the same key stands in the file twice");
        st = read_value(r, &key->value);
    }
    return st;
    // [end]
}

// ---- what the keys say about the file itself ----------------------------------------------------

static enum status read_alignment(struct gguf_reader *r, struct gguf *g) {
    const struct gguf_value *v = gguf_enter_key(r, g, "general.alignment");
    uint64_t n = DEFAULT_ALIGNMENT;

    if (v && !gguf_get_u64(v, &n))
        return gguf_refuse(r, ERR_FORMAT, "must be a whole number");
    if (n == 0 || n > UINT32_MAX || (n & (n - 1)) != 0)
        return gguf_refuse(r, ERR_FORMAT, "%" PRIu64 " is not a power of two in 32 bits",
                           n);
    g->alignment = (uint32_t)n;
    return OK;
}

// ---- tensors ------------------------------------------------------------------------------------

// [exercise gguf.tensors drop]
static enum status read_dims(struct gguf_reader *r, struct tensor_view *view,
                             uint64_t *n_values) {
    uint32_t n_dims;

    if (!cursor_u32(&r->at, &n_dims)) return gguf_refuse_cut(r);
    if (n_dims < 1 || n_dims > LIMIT_TENSOR_DIMS)
        return gguf_refuse(r, ERR_FORMAT, "%" PRIu32 " dimensions, must be 1 to %d", n_dims,
                           LIMIT_TENSOR_DIMS);
    view->n_dims = (int)n_dims;
    *n_values = 1;
    for (int i = 0; i < LIMIT_TENSOR_DIMS; i++) {
        view->dim[i] = 1;
        if (i >= view->n_dims) continue;
        if (!cursor_u64(&r->at, &view->dim[i])) return gguf_refuse_cut(r);
        if (view->dim[i] == 0) return gguf_refuse(r, ERR_FORMAT, "dimension %d is 0", i);
        if (*n_values > UINT64_MAX / view->dim[i])
            return gguf_refuse(r, ERR_FORMAT,
                               "larger than any file: dimension %d is %" PRIu64, i,
                               view->dim[i]);
        *n_values *= view->dim[i];
    }
    return OK;
}

static enum status read_dtype(struct gguf_reader *r, struct tensor_view *view,
                              uint64_t n_values) {
    uint32_t type;

    if (!cursor_u32(&r->at, &type)) return gguf_refuse_cut(r);
    if (!dtype_from_gguf(type, &view->dtype)) return gguf_refuse_type(r, type);
    const struct dtype_info *info = dtype_info(view->dtype);
    if (view->dim[0] % (uint64_t)info->block_len != 0)
        return gguf_refuse(r, ERR_FORMAT,
                           "rows of %" PRIu64 " values are no whole %s blocks of %d",
                           view->dim[0], info->name, info->block_len);
    if (!dtype_bytes(view->dtype, n_values, &view->n_bytes))
        return gguf_refuse(r, ERR_FORMAT, "larger than any file: %" PRIu64 " values",
                           n_values);
    return OK;
}

static enum status read_tensor(struct gguf_reader *r, struct gguf_tensor *t) {
    uint64_t n_values = 0;
    enum status st = read_dims(r, &t->view, &n_values);
    if (st != OK) return st;
    if ((st = read_dtype(r, &t->view, n_values)) != OK) return st;
    return cursor_u64(&r->at, &t->offset) ? OK : gguf_refuse_cut(r);
}

// [end]
enum status gguf_read_tensors(struct gguf_reader *r, struct gguf *g, struct arena *arena) {
    // [exercise gguf.tensors]
    g->tensors = ARENA_NEW(arena, struct gguf_tensor, g->n_tensors);
    if (!g->tensors) return gguf_refuse_memory(r, g->n_tensors, "tensors");
    enum status st = table_init(&g->tensor_table, arena, (size_t)g->n_tensors, r->err);

    for (uint32_t i = 0; st == OK && i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i];
        gguf_enter(r, "tensor", i);
        if ((st = gguf_read_name(r, &t->name)) != OK) break;
        if (!table_put(&g->tensor_table, t->name.bytes, t->name.n_bytes, i))
            return gguf_refuse(r, ERR_FORMAT, "the same tensor stands in the file twice");
        st = read_tensor(r, t);
    }
    return st;
    // [end]
}

// Data lies in the order of the table, so a tensor overlaps if it begins before the last
// one ended.
enum status gguf_place_tensors(struct gguf_reader *r, struct gguf *g) {
    // [exercise gguf.place]
    size_t n_padding = (size_t)(-(uint64_t)r->at.pos & (g->alignment - 1));
    size_t n_left = cursor_left(&r->at);
    size_t n_data = n_left > n_padding ? n_left - n_padding : 0;
    uint64_t end = 0;

    g->data_offset = (uint64_t)r->at.pos + n_padding;
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        struct gguf_tensor *t = &g->tensors[i];
        gguf_enter_again(r, "tensor", t->name);
        if (t->offset & (g->alignment - 1))
            return gguf_refuse(r, ERR_FORMAT,
                               "offset %" PRIu64 " is not a multiple of %" PRIu32,
                               t->offset, g->alignment);
        if (t->offset < end)
            return gguf_refuse(r, ERR_FORMAT,
                               "offset %" PRIu64 " overlaps the tensor before it",
                               t->offset);
        if (t->offset > n_data || t->view.n_bytes > n_data - t->offset)
            return gguf_refuse(r, ERR_FORMAT,
                               "its %" PRIu64 " bytes at offset %" PRIu64
                               " do not fit in %zu bytes of data; download it again",
                               t->view.n_bytes, t->offset, n_data);
        t->view.data = r->at.bytes + g->data_offset + t->offset;
        end = t->offset + t->view.n_bytes;
    }
    return OK;
    // [end]
}

// ---- all of it ----------------------------------------------------------------------------------

enum status gguf_parse(struct gguf *g, const unsigned char *bytes, size_t n_bytes,
                       const char *name, struct arena *arena, struct error *err) {
    struct gguf_reader r = {.file = name, .err = err};

    r.at = (struct cursor){bytes, n_bytes, 0};
    *g = (struct gguf){.bytes = bytes};
    enum status st = read_header(&r, g);
    if (st == OK) st = gguf_read_keys(&r, g, arena);
    if (st == OK) st = read_alignment(&r, g);
    if (st == OK) st = gguf_read_split(&r, g);
    if (st == OK) st = gguf_read_tensors(&r, g, arena);
    if (st == OK) st = gguf_place_tensors(&r, g);
    if (st != OK) memset(g, 0, sizeof(*g));
    return st;
}
