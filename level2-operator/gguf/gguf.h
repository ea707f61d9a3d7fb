// A GGUF file, versions 2 and 3, from bytes in memory. The bytes are hostile: every length
// is checked against what is left before it is used, and nothing is allocated that the
// file's own size does not justify. The arrays and strings found are views into the file.
//
//   | "GGUF" | version u32 | n_tensors u64 | n_keys u64 |
//   | key: name string, type u32, value | ... n_keys
//   | tensor: name string, n_dims u32, dims u64..., type u32, offset u64 | ... n_tensors
//   | padding to alignment | tensor data, each at an aligned offset |
//   string = length u64, bytes.   array = item type u32, n_items u64, items.
// All numbers are little-endian.
// Specification: github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// What the values mean as C numbers: gguf_value.h.
#ifndef LEVEL2_GGUF_H
#define LEVEL2_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/dtype.h"
#include "common/status.h"
#include "common/table.h"

enum gguf_type { // numbers of the format
    GGUF_U8 = 0,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPE_COUNT
};

struct gguf_string {
    const char *bytes; // into the file, not terminated
    uint64_t n_bytes;
};

// Items stand as in the file: a string with its length in front, an inner array with its
// item type and its number of items.
struct gguf_value {
    enum gguf_type type;
    enum gguf_type item_type;   // GGUF_ARRAY
    uint64_t n_items;           // GGUF_ARRAY; else 1
    const unsigned char *bytes; // first item, unaligned, into the file
    uint64_t n_bytes;           // of all items
};

struct gguf_key {
    struct gguf_string name;
    struct gguf_value value;
    const char *spelled; // "config.json: hidden_size" where it is no GGUF file; else NULL
};

struct gguf_tensor {
    struct gguf_string name;
    uint64_t offset;         // of its data, counted from data_offset
    struct tensor_view view; // data points into the file
    uint32_t part;           // index into the parts of struct gguf; 0: the only file
    const char *spelled;     // its name in a model that is no GGUF file; else NULL
};

// One of the files that a model lies in.
struct gguf_part {
    const char *name; // for messages
    const unsigned char *bytes;
};

struct gguf {
    const unsigned char *bytes; // the file; borrowed
    uint32_t version;
    uint32_t alignment; // bytes, a power of two
    uint64_t n_keys, n_tensors;
    struct gguf_key *keys;                // (n_keys), file order
    struct gguf_tensor *tensors;          // (n_tensors), file order
    struct table key_table, tensor_table; // name -> index
    uint64_t data_offset;                 // where tensor data begins

    // a part of a split model says which and of how many (gguf_split.h); else 0 of 1
    uint32_t part, n_parts;
    // set by who puts a model together: gguf_split.h, hf_folder.h
    const struct gguf_part *parts; // (n_parts); NULL: one file, at bytes
    bool is_converted; // no GGUF file, but shown under a GGUF file's names: see hf_folder.h
};

// Reads header and tables of bytes[0 .. n_bytes). Memory comes from arena; bytes must
// outlive g. name is for messages only. Every error (ERR_FORMAT, ERR_UNSUPPORTED,
// ERR_LIMIT) names the file, the field and the offset; ERR_MEMORY names the file. Refused
// among others: wrong magic, an HTML page, a key or tensor twice, alignment that is not a
// power of two, a dimension of 0, an unknown type, an offset that is not aligned or
// overlaps, data past the end. A part of a split model is read, too, for what it holds:
// whoever needs the whole asks g->n_parts. On failure *g is zeroed.
enum status gguf_parse(struct gguf *g, const unsigned char *bytes, size_t n_bytes,
                       const char *name, struct arena *arena, struct error *err);

// The stages of gguf_parse, in order. Those that read go on at r->at and leave it behind
// what they read. Each takes an array of entries and their table (name -> index) from
// arena, and nothing else; ERR_MEMORY when there is no room. gguf_enter says that an entry
// begins, "key" or "tensor" with its index, and gguf_read_name reads its name: so every
// error says where it is. A name that was there before is ERR_FORMAT, and so is a file that
// ends too early.
struct gguf_reader; // gguf_reader.h

// g->n_keys keys into g->keys and g->key_table. How wide an item is says gguf_type_bytes;
// strings and arrays bring their own lengths, and each may be a lie. Arrays lie in arrays
// at most LIMIT_GGUF_ARRAY_DEPTH deep, the outermost counted (else ERR_LIMIT).
enum status gguf_read_keys(struct gguf_reader *r, struct gguf *g, struct arena *arena);

// g->n_tensors entries into g->tensors and g->tensor_table. ERR_FORMAT: not 1 to
// LIMIT_TENSOR_DIMS dimensions, a dimension of 0, more values or more bytes than 64 bits
// can count, rows (dim[0] values each) that are no whole blocks. A type that no dtype has:
// gguf_refuse_type. Whether the data is where the offset says is not asked yet, and
// view.data stays NULL.
enum status gguf_read_tensors(struct gguf_reader *r, struct gguf *g, struct arena *arena);

// r->at stands behind the tables. Sets data_offset, the first multiple of g->alignment from
// there on, and every view.data. ERR_FORMAT, naming the tensor (gguf_enter_again): an
// offset that is no multiple of the alignment or lies before the end of the tensor in front
// of it in the table; data that is not all in the file. Gaps are fine. Without tensors the
// padding may be missing.
enum status gguf_place_tensors(struct gguf_reader *r, struct gguf *g);

#endif
