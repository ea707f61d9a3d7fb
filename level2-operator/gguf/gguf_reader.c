// What gguf.c reads the same way everywhere, and how it refuses: one shape for every message.
#include "level2-operator/gguf/gguf_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"

enum { SHOWN_BYTES = 60 }; // of a name

void gguf_enter(struct gguf_reader *r, const char *kind, uint64_t number) {
    r->kind = kind;
    r->number = number;
    r->name = (struct gguf_string){0};
    r->begin = r->at.pos;
}

void gguf_enter_again(struct gguf_reader *r, const char *kind, struct gguf_string name) {
    r->kind = kind;
    r->number = 0;
    r->name = name;
    r->begin = (size_t)((const unsigned char *)name.bytes - r->at.bytes) - sizeof(uint64_t);
}

const struct gguf_value *gguf_enter_key(struct gguf_reader *r, const struct gguf *g,
                                        const char *name) {
    const struct gguf_key *key = gguf_find_key(g, name);
    if (!key) return NULL;
    gguf_enter_again(r, "key", key->name);
    return &key->value;
}

enum status gguf_read_name(struct gguf_reader *r, struct gguf_string *name) {
    if (!gguf_take_string(&r->at, name)) return gguf_refuse_cut(r);
    r->name = *name;
    if (name->n_bytes > LIMIT_GGUF_NAME_BYTES)
        return gguf_refuse(r, ERR_LIMIT, "its name has %" PRIu64 " bytes, the limit is %d",
                           name->n_bytes, LIMIT_GGUF_NAME_BYTES);
    return OK;
}

enum status gguf_read_type(struct gguf_reader *r, enum gguf_type *type) {
    uint32_t number;
    if (!cursor_u32(&r->at, &number)) return gguf_refuse_cut(r);
    if (number >= GGUF_TYPE_COUNT)
        return gguf_refuse(r, ERR_FORMAT, "unknown value type %" PRIu32, number);
    *type = (enum gguf_type)number;
    return OK;
}

enum status gguf_refuse(const struct gguf_reader *r, enum status code, const char *format,
                        ...) {
    char what[160], place[SHOWN_BYTES + 1];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (r->name.n_bytes) {
        int n = r->name.n_bytes < SHOWN_BYTES ? (int)r->name.n_bytes : SHOWN_BYTES;
        snprintf(place, sizeof(place), "%.*s", n, r->name.bytes);
    } else {
        snprintf(place, sizeof(place), "%" PRIu64, r->number);
    }
    return error_set_param(r->err, code, r->name.n_bytes ? place : r->kind,
                           "%s: %s %s at byte %zu: %s", r->file, r->kind, place, r->begin,
                           what);
}

enum status gguf_refuse_cut(const struct gguf_reader *r) {
    return gguf_refuse(r, ERR_FORMAT, "the file ends in the middle of it, at byte %zu",
                       r->at.n_bytes);
}

enum status gguf_refuse_memory(const struct gguf_reader *r, uint64_t n, const char *what) {
    return error_set(r->err, ERR_MEMORY, "%s: no memory for %" PRIu64 " %s", r->file, n,
                     what);
}

// What people save by mistake.
static const struct {
    const char *begin; // in any case
    const char *looks_like;
} lookalikes[] = {
    {"<!doctype",               "looks like an HTML page, not a model; download the file itself"},
    {"<html",                   "looks like an HTML page, not a model; download the file itself"},
    {"version https://git-lfs",
     "looks like a Git LFS pointer, not a model; run git lfs pull"                              },
    {"PK\x03\x04",              "looks like a zip archive, not a model; unpack it first"        },
};

enum status gguf_refuse_magic(const struct gguf_reader *r) {
    const char *what = "not a GGUF file: it does not begin with the letters GGUF";

    if (r->at.n_bytes == 0) what = "the file is empty; download it again";
    for (size_t i = 0; i < sizeof(lookalikes) / sizeof(lookalikes[0]); i++) {
        size_t n = strlen(lookalikes[i].begin);
        if (r->at.n_bytes < n) continue;
        if (strncasecmp((const char *)r->at.bytes, lookalikes[i].begin, n) == 0)
            what = lookalikes[i].looks_like;
    }
    return error_set_param(r->err, ERR_FORMAT, "magic", "%s: magic at byte 0: %s", r->file,
                           what);
}

enum status gguf_refuse_version(const struct gguf_reader *r) {
    if (r->number == 2u << 24 || r->number == 3u << 24)
        return gguf_refuse(r, ERR_UNSUPPORTED,
                           "a big-endian file; only little-endian is read");
    return gguf_refuse(r, ERR_UNSUPPORTED,
                       "only versions 2 and 3 are read; convert the model again");
}

enum status gguf_refuse_type(const struct gguf_reader *r, uint32_t number) {
    const char *name = number == 9 ? "Q8_1" : number == 15 ? "Q8_K" : NULL;
    if (name)
        return gguf_refuse(r, ERR_UNSUPPORTED,
                           "type %s is for activations, not for a file; convert it again",
                           name);
    return gguf_refuse(r, ERR_FORMAT, "unknown tensor type %" PRIu32, number);
}

// A key that may be absent; the number then keeps its value.
static enum status read_split_key(struct gguf_reader *r, const struct gguf *g,
                                  const char *name, uint64_t *number) {
    const struct gguf_value *v = gguf_enter_key(r, g, name);
    if (!v || gguf_get_u64(v, number)) return OK;
    return gguf_refuse(r, ERR_FORMAT, "must be a whole number, not negative");
}

enum status gguf_read_split(struct gguf_reader *r, struct gguf *g) {
    uint64_t part = 0, n_parts = 0;
    enum status st = read_split_key(r, g, "split.count", &n_parts);

    if (st == OK && n_parts > LIMIT_MODEL_FILES)
        return gguf_refuse(r, ERR_LIMIT, "%" PRIu64 " parts, the limit is %d", n_parts,
                           LIMIT_MODEL_FILES);
    if (st == OK) st = read_split_key(r, g, "split.no", &part);
    if (st != OK) return st;
    if (n_parts == 0) n_parts = 1;
    if (part >= n_parts)
        return gguf_refuse(r, ERR_FORMAT, "%" PRIu64 ", but there are %" PRIu64 " parts",
                           part, n_parts);
    g->part = (uint32_t)part;
    g->n_parts = (uint32_t)n_parts;
    return OK;
}
