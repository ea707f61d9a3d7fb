// Reading safetensors. The header is JSON; each entry is checked for itself, then all are laid in the
// order of their data, where the end of one must be the beginning of the next.
//
//   length ─▶ JSON ─▶ entries (type, shape, size) ─▶ sorted ─▶ covered exactly
#include "level2-operator/files/safetensors.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_json.h"
#include "level2-operator/gguf/cursor.h"

enum {
    LENGTH_BYTES = 8,
    SHOWN_BYTES = 64 // of a name
};

struct reader {
    struct safetensors *s;
    const char *file;
    struct arena *arena;
    struct error *err;
    size_t n_header, n_data; // bytes
    // the place
    const char *name; // of the tensor
};

// ---- messages -----------------------------------------------------------------------------------

// Where the header spells the name; where the header begins, if it spells it with escapes.
static size_t place_of(const struct reader *r) {
    const char *header = (const char *)r->s->bytes + LENGTH_BYTES;
    size_t n = strlen(r->name);

    for (size_t i = 1; i + n < r->n_header; i++)
        if (header[i - 1] == '"' && header[i + n] == '"' &&
            memcmp(header + i, r->name, n) == 0)
            return LENGTH_BYTES + i;
    return LENGTH_BYTES;
}

static enum status refuse(const struct reader *r, enum status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// "model.safetensors: tensor model.norm.weight at byte 61: what is wrong"
static enum status refuse(const struct reader *r, enum status code, const char *format,
                          ...) {
    char what[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return error_set_param(r->err, code, r->name, "%s: tensor %.*s at byte %zu: %s",
                           r->file, SHOWN_BYTES, r->name, place_of(r), what);
}

static enum status no_memory(const struct reader *r, size_t n, const char *what) {
    return error_set(r->err, ERR_MEMORY, "%s: no memory for %zu %s", r->file, n, what);
}

// ---- header -------------------------------------------------------------------------------------

static enum status read_length(struct reader *r, size_t n_bytes) {
    static const char field[] = "header length";
    struct cursor at = {r->s->bytes, n_bytes, 0};
    uint64_t n;

    if (!cursor_u64(&at, &n))
        return error_set_param(r->err, ERR_FORMAT, field,
                               "%s: header length at byte 0: too small, %zu bytes", r->file,
                               n_bytes);
    if (n > cursor_left(&at))
        return error_set_param(r->err, ERR_FORMAT, field,
                               "%s: header length %" PRIu64 " at byte 0: only %zu bytes "
                               "follow; no safetensors file, or cut",
                               r->file, n, cursor_left(&at));
    if (n > LIMIT_HF_HEADER_BYTES)
        return error_set_param(r->err, ERR_LIMIT, field,
                               "%s: header length %" PRIu64 " at byte 0: the limit is %d",
                               r->file, n, LIMIT_HF_HEADER_BYTES);
    r->n_header = (size_t)n;
    r->s->data_offset = LENGTH_BYTES + n;
    r->n_data = cursor_left(&at) - r->n_header;
    return OK;
}

// ---- entries ------------------------------------------------------------------------------------

// Types of the format. Those without a place in enum dtype cannot even be listed.
static enum status read_dtype(const struct reader *r, const json_t *entry,
                              struct tensor_view *view) {
    static const struct {
        const char *name;
        enum dtype dtype;
    } types[] = {
        {"F32",  DTYPE_F32  },
        {"F16",  DTYPE_F16  },
        {"BF16", DTYPE_BF16 },
        {"F64",  DTYPE_F64  },
        {"I64",  DTYPE_I64  },
        {"I32",  DTYPE_I32  },
        {"I16",  DTYPE_I16  },
        {"I8",   DTYPE_I8   },
        {"U64",  DTYPE_COUNT},
        {"U32",  DTYPE_COUNT},
        {"U16",  DTYPE_COUNT},
        {"U8",   DTYPE_COUNT},
        {"BOOL", DTYPE_COUNT},
        {"C64",  DTYPE_COUNT},
    };
    const char *name = json_string_value(json_object_get(entry, "dtype"));

    if (!name) return refuse(r, ERR_FORMAT, "dtype must be a string");
    bool is_known = name[0] == 'F' && name[1] && strchr("468", name[1]); // F8_E4M3 ...
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(name, types[i].name) != 0) continue;
        view->dtype = types[i].dtype;
        if (types[i].dtype != DTYPE_COUNT) return OK;
        is_known = true;
    }
    if (!is_known) return refuse(r, ERR_FORMAT, "unknown dtype %.16s", name);
    return refuse(r, ERR_UNSUPPORTED, "dtype %.16s is not read; F32, F16 and BF16 are",
                  name);
}

// A whole number that is not negative.
static bool read_u64(const json_t *number, uint64_t *out) {
    if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
    *out = (uint64_t)json_integer_value(number);
    return true;
}

// A single number has no dimensions, and takes the place of one value. A dimension of 0 is a tensor
// without values; the format allows it.
static enum status read_shape(const struct reader *r, const json_t *entry,
                              struct tensor_view *view) {
    const json_t *shape = json_object_get(entry, "shape");
    size_t n = json_array_size(shape);
    uint64_t n_values = 1;

    if (!json_is_array(shape)) return refuse(r, ERR_FORMAT, "shape must be a list");
    if (n > LIMIT_TENSOR_DIMS)
        return refuse(r, ERR_UNSUPPORTED, "%zu dimensions, at most %d are read", n,
                      LIMIT_TENSOR_DIMS);
    for (int i = 0; i < LIMIT_TENSOR_DIMS; i++) view->dim[i] = 1;
    view->n_dims = n ? (int)n : 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t *dim = &view->dim[n - 1 - i];
        if (!read_u64(json_array_get(shape, i), dim))
            return refuse(r, ERR_FORMAT, "dimension %zu is no whole number", i);
        if (*dim && n_values > UINT64_MAX / *dim)
            return refuse(r, ERR_FORMAT, "larger than any file: dimension %zu is %" PRIu64,
                          i, *dim);
        n_values *= *dim;
    }
    if (!dtype_bytes(view->dtype, n_values, &view->n_bytes))
        return refuse(r, ERR_FORMAT, "larger than any file: %" PRIu64 " values", n_values);
    return OK;
}

static enum status read_offsets(const struct reader *r, const json_t *entry,
                                struct safetensors_tensor *t) {
    const json_t *offsets = json_object_get(entry, "data_offsets");
    uint64_t end;

    if (json_array_size(offsets) != 2 || !read_u64(json_array_get(offsets, 0), &t->begin) ||
        !read_u64(json_array_get(offsets, 1), &end) || end < t->begin)
        return refuse(r, ERR_FORMAT, "data_offsets must be [begin, end]");
    if (end > r->n_data)
        return refuse(r, ERR_FORMAT,
                      "its data ends at %" PRIu64 ", but the file has %zu bytes of data; "
                      "download it again",
                      end, r->n_data);
    if (end - t->begin != t->view.n_bytes)
        return refuse(r, ERR_FORMAT,
                      "%" PRIu64 " bytes by its data_offsets, %" PRIu64 " by its shape",
                      end - t->begin, t->view.n_bytes);
    t->view.data = r->s->bytes + r->s->data_offset + t->begin;
    return OK;
}

static enum status read_entry(struct reader *r, const char *name, const json_t *entry,
                              struct safetensors_tensor *t) {
    r->name = name;
    if (!json_is_object(entry) || json_object_size(entry) != 3)
        return refuse(r, ERR_FORMAT, "must have dtype, shape and data_offsets, no more");
    if (strlen(name) > LIMIT_GGUF_NAME_BYTES)
        return refuse(r, ERR_LIMIT, "its name has %zu bytes, the limit is %d", strlen(name),
                      LIMIT_GGUF_NAME_BYTES);
    t->name = arena_copy(r->arena, name, strlen(name));
    if (!t->name) return no_memory(r, strlen(name), "bytes of a name");
    r->name = t->name; // lives longer
    enum status st = read_dtype(r, entry, &t->view);
    if (st == OK) st = read_shape(r, entry, &t->view);
    return st == OK ? read_offsets(r, entry, t) : st;
}

static enum status read_notes(struct reader *r, json_t *notes) {
    const char *key;
    json_t *value;

    r->name = "__metadata__";
    if (!json_is_object(notes)) return refuse(r, ERR_FORMAT, "must be an object");
    r->s->notes = ARENA_NEW(r->arena, struct safetensors_note, json_object_size(notes));
    if (!r->s->notes) return no_memory(r, json_object_size(notes), "notes");
    json_object_foreach(notes, key, value) {
        struct safetensors_note *note = &r->s->notes[r->s->n_notes++];
        if (!json_is_string(value))
            return refuse(r, ERR_FORMAT, "its values must be strings");
        note->key = arena_copy(r->arena, key, strlen(key));
        note->value =
            arena_copy(r->arena, json_string_value(value), json_string_length(value));
        if (!note->key || !note->value) return no_memory(r, r->n_header, "bytes of notes");
    }
    return OK;
}

static enum status read_entries(struct reader *r, json_t *header) {
    struct safetensors *s = r->s;
    json_t *notes = json_object_get(header, "__metadata__");
    size_t n = json_object_size(header) - (notes ? 1 : 0);
    enum status st = OK;
    const char *name;
    json_t *entry;

    if (n > LIMIT_GGUF_TENSORS)
        return error_set(r->err, ERR_LIMIT, "%s: %zu tensors, the limit is %d", r->file, n,
                         LIMIT_GGUF_TENSORS);
    s->tensors = ARENA_NEW(r->arena, struct safetensors_tensor, n);
    if (!s->tensors) return no_memory(r, n, "tensors");
    json_object_foreach(header, name, entry) {
        if (entry == notes) {
            st = read_notes(r, notes);
        } else {
            st = read_entry(r, name, entry, &s->tensors[s->n_tensors++]);
        }
        if (st != OK) return st;
    }
    return OK;
}

// ---- data ---------------------------------------------------------------------------------------

// Tensors without values stand in front of the one that begins at the same place.
static int by_place(const void *a, const void *b) {
    const struct safetensors_tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->view.n_bytes != y->view.n_bytes)
        return x->view.n_bytes < y->view.n_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static enum status check_cover(struct reader *r) {
    struct safetensors *s = r->s;
    uint64_t end = 0;

    if (s->n_tensors)
        qsort(s->tensors, (size_t)s->n_tensors, sizeof(*s->tensors), by_place);
    for (uint64_t i = 0; i < s->n_tensors; i++) {
        const struct safetensors_tensor *t = &s->tensors[i];
        r->name = t->name;
        if (t->begin < end)
            return refuse(r, ERR_FORMAT,
                          "its data begins at %" PRIu64 ", inside that of another",
                          t->begin);
        if (t->begin > end)
            return refuse(r, ERR_FORMAT,
                          "its data begins at %" PRIu64 ", after a hole of %" PRIu64
                          " bytes",
                          t->begin, t->begin - end);
        end += t->view.n_bytes;
    }
    if (end == r->n_data) return OK;
    return error_set_param(r->err, ERR_FORMAT, "data",
                           "%s: data at byte %" PRIu64 ": %" PRIu64
                           " bytes that are no tensor's",
                           r->file, s->data_offset + end, r->n_data - end);
}

// ---- all of it ----------------------------------------------------------------------------------

enum status safetensors_parse(struct safetensors *s, const unsigned char *bytes,
                              size_t n_bytes, const char *file, struct arena *arena,
                              struct error *err) {
    struct reader r = {.s = s, .file = file, .arena = arena, .err = err, .name = ""};
    json_t *header = NULL;

    *s = (struct safetensors){.bytes = bytes};
    enum status st = read_length(&r, n_bytes);
    if (st == OK)
        st = hf_json_parse(&header, (const char *)bytes + LENGTH_BYTES, r.n_header,
                           LIMIT_JSON_VALUES, file, LENGTH_BYTES, err);
    if (st == OK && bytes[LENGTH_BYTES] != '{')
        st = error_set(err, ERR_FORMAT, "%s: header at byte 8: must begin with {", file);
    if (st == OK) st = read_entries(&r, header);
    if (st == OK) st = check_cover(&r);
    json_decref(header);
    if (st != OK) *s = (struct safetensors){0};
    return st;
}
