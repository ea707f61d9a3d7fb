// Where a parse of GGUF stands, what a message calls that place, and how it refuses. So
// that every error has the same shape:
//
//   FILE: KIND NAME-OR-NUMBER at byte OFFSET: what is wrong
//   m.gguf: key general.name at byte 91: stands in the file twice
//   m.gguf: n_tensors 5000000000 at byte 8: more than fit in the 8 bytes that follow
#ifndef LEVEL2_GGUF_READER_H
#define LEVEL2_GGUF_READER_H

#include "common/status.h"
#include "level2-operator/gguf/cursor.h"
#include "level2-operator/gguf/gguf.h"

struct gguf_reader {
    struct cursor at;
    // borrowed
    const char *file;  // name for messages
    struct error *err; // may be NULL
    // the place
    const char *kind;        // "key", "tensor", or a field of the header
    uint64_t number;         // which key or tensor; the field's value
    struct gguf_string name; // once it is known
    size_t begin;            // its first byte
};

// A length and that many bytes. false, and nothing moves, when too little is left.
static inline bool gguf_take_string(struct cursor *c, struct gguf_string *s) {
    struct cursor ahead = *c;
    const unsigned char *bytes;
    uint64_t n_bytes;
    if (!cursor_u64(&ahead, &n_bytes) || !cursor_take(&ahead, n_bytes, &bytes))
        return false;
    *s = (struct gguf_string){(const char *)bytes, n_bytes};
    *c = ahead;
    return true;
}

// A new place begins at the cursor; its name is not known yet.
void gguf_enter(struct gguf_reader *r, const char *kind, uint64_t number);

// A place that was read before. name is the view that was found there.
void gguf_enter_again(struct gguf_reader *r, const char *kind, struct gguf_string name);

// The same for a key, by name; gives its value. No such key: NULL, and nothing happens.
const struct gguf_value *gguf_enter_key(struct gguf_reader *r, const struct gguf *g,
                                        const char *name);

// Reads the name of the entry that was entered last: from here on, messages call it so.
// ERR_LIMIT: more than LIMIT_GGUF_NAME_BYTES.
enum status gguf_read_name(struct gguf_reader *r, struct gguf_string *name);

// Reads the type of a value, or of the items of an array. ERR_FORMAT: not one of enum
// gguf_type.
enum status gguf_read_type(struct gguf_reader *r, enum gguf_type *type);

// Writes r->err in the shape above; returns code.
enum status gguf_refuse(const struct gguf_reader *r, enum status code, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

// The file ends in the middle of this place.
enum status gguf_refuse_cut(const struct gguf_reader *r);

// The arena has no room for n of these ("keys"): ERR_MEMORY, and names the file only.
enum status gguf_refuse_memory(const struct gguf_reader *r, uint64_t n, const char *what);

// The file begins with something else: says what it looks like.
enum status gguf_refuse_magic(const struct gguf_reader *r);

// r->number is no version that we read: 1, a later one, or bytes in the other order.
enum status gguf_refuse_version(const struct gguf_reader *r);

// A tensor type without a dtype: ERR_UNSUPPORTED if the format has it, else ERR_FORMAT.
enum status gguf_refuse_type(const struct gguf_reader *r, uint32_t number);

// Which part of a split model this file is, by its keys split.no and split.count, into g->part and
// g->n_parts. ERR_FORMAT: no whole numbers, a part behind the last; ERR_LIMIT: too many parts.
enum status gguf_read_split(struct gguf_reader *r, struct gguf *g);

#endif
