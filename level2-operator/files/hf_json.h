// JSON files of a model folder. They come from strangers like the weights: size, nesting and number of
// values are bounded before the library sees a byte, no key may stand twice, and every message names the
// file and, for text that is no JSON, the byte.
#ifndef LEVEL2_HF_JSON_H
#define LEVEL2_HF_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/limits.h"
#include "common/status.h"

// bytes must be one object. file is for messages; at is where the text begins in it. *root is the
// caller's to decref; NULL after a failure.
enum status hf_json_parse(json_t **root, const char *bytes, size_t n_bytes,
                          size_t max_values, const char *file, size_t at,
                          struct error *err);

// "folder/name". ERR_LIMIT: too long.
enum status hf_path(char path[LIMIT_PATH_BYTES], const char *folder, const char *name,
                    struct error *err);

// The file of that name in a folder. *root is NULL, and the status OK, when it is not there and need not
// be.
enum status hf_json_open(json_t **root, const char *folder, const char *name,
                         size_t max_bytes, size_t max_values, bool is_needed,
                         struct error *err);

// "folder/config.json: num_heads: must be a whole number". Returns code.
enum status hf_json_refuse(struct error *err, enum status code, const char *file,
                           const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
