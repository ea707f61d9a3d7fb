// One number of a model's metadata at a time, with the words for what is wrong with it. Most keys begin
// with the architecture: suffix "block_count" means key "llama.block_count".
#ifndef LEVEL2_CONFIG_READER_H
#define LEVEL2_CONFIG_READER_H

#include "common/status.h"
#include "level2-operator/gguf/gguf.h"

enum { CONFIG_KEY_BYTES = 96 };

struct config_reader {
    // borrowed
    const struct gguf *g;
    const char *file; // for messages
    struct error *err;
    // what the keys need
    const char *arch;
    int n_layers; // once known: length of an array with one item per layer
};

// "m.gguf: key llama.block_count at byte 230: what is wrong". Returns code.
enum status config_refuse(const struct config_reader *r, enum status code, const char *key,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

// The value, or NULL; key (CONFIG_KEY_BYTES) gets the whole name either way.
const struct gguf_value *config_find(const struct config_reader *r, char *key,
                                     const char *suffix);

// A whole number of 1 .. high, or one per layer, all equal. *out keeps its value when the key is not
// there; 0 says that it must be.
enum status config_read_int(const struct config_reader *r, const char *suffix, int high,
                            int *out);

// The same for a positive real number.
enum status config_read_real(const struct config_reader *r, const char *suffix, float *out);

// A key that changes the arithmetic. Only the value that changes nothing is accepted.
enum status config_refuse_unless(const struct config_reader *r, const char *suffix,
                                 double neutral);

#endif
