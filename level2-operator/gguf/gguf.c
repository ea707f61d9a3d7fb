// Yours to write. Contract: level2-operator/gguf/gguf.h. Explained: docs/level2/gguf.md.
// Red or green: make test EX=gguf
//
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

#include "common/exercise.h"
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

enum status gguf_read_keys(struct gguf_reader *r, struct gguf *g, struct arena *arena) {
    EXERCISE("gguf.keys");
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

enum status gguf_read_tensors(struct gguf_reader *r, struct gguf *g, struct arena *arena) {
    EXERCISE("gguf.tensors");
}

// Data lies in the order of the table, so a tensor overlaps if it begins before the last
// one ended.
enum status gguf_place_tensors(struct gguf_reader *r, struct gguf *g) {
    EXERCISE("gguf.place");
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
