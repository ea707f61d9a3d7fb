// A safetensors file from bytes in memory: a list of tensors in JSON, then their values.
//
//   | n_header u64 | {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...} | data ... |
//   0              8                                                8 + n_header = data_offset
//
// dtype is the type of a value, shape the dimensions, slowest first, data_offsets begin and end, counted
// from the first byte of data. "__metadata__" maps strings to strings, for people.
// Specification: github.com/huggingface/safetensors, README
//
// The bytes are hostile, and there is one way only to lay out a file: the header begins with { and is
// UTF-8, no name stands twice, begin and end agree with type and shape, and the values cover the data
// from its first to its last byte, without a hole and without an overlap. White space may follow the
// header's }. Nothing says that values are aligned: they are read byte by byte (rows.h).
#ifndef LEVEL2_SAFETENSORS_H
#define LEVEL2_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/dtype.h"
#include "common/status.h"

struct safetensors_tensor {
    const char *name;        // in the arena, NUL-terminated
    struct tensor_view view; // data points into the file
    uint64_t begin;          // of its data, counted from data_offset
};

struct safetensors_note { // a pair of __metadata__
    const char *key, *value;
};

struct safetensors {
    const unsigned char *bytes; // the file; borrowed
    uint64_t data_offset;       // where the data begins
    uint64_t n_tensors, n_notes;
    struct safetensors_tensor *tensors; // (n_tensors), as their data lies in the file
    struct safetensors_note *notes;     // (n_notes)
};

// Reads the header of bytes[0 .. n_bytes). Memory comes from arena, and for the time of the call from the
// JSON library, bounded by LIMIT_HF_HEADER_BYTES and LIMIT_JSON_VALUES. bytes must outlive s. file is for
// messages: each names it, the tensor and the byte. ERR_FORMAT; ERR_LIMIT; ERR_UNSUPPORTED: a dtype that
// has no place in enum dtype, or more than LIMIT_TENSOR_DIMS dimensions. On failure *s is zeroed.
enum status safetensors_parse(struct safetensors *s, const unsigned char *bytes,
                              size_t n_bytes, const char *file, struct arena *arena,
                              struct error *err);

#endif
