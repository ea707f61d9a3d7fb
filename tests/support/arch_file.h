// The tiny llama file as a file of another architecture: keys renamed, tensors added, values drawn. For
// tests of what differs; tools/tiny_model.py writes such files for programs.
#ifndef TESTS_SUPPORT_ARCH_FILE_H
#define TESTS_SUPPORT_ARCH_FILE_H

#include "level2-operator/gguf/arch.h"
#include "level2-operator/model/config.h"
#include "tests/support/gguf_file.h"
#include "tests/support/suite.h"

enum {
    GEMMA_LAYERS = 7, // the last of six reads all keys; one more begins anew
    GEMMA_WINDOW = 9,
    WIDE_HEAD = 32 // of qwen3: 4 heads of 32 on a width of 64
};

// f has just been loaded from tiny_model_path().
void file_become(struct gguf_file *f, enum arch arch, struct draw *d);

// A tensor of floats, low .. high, in place of the one of that name. n_out 1: a vector.
void file_draw_tensor(struct gguf_file *f, const char *name, int n_out, int n_in, float low,
                      float high, struct draw *d);

// What config_read says of the file as it stands now, which is called test.gguf.
enum status file_config(const struct gguf_file *f, struct config *c, struct error *err);

// "blk.LAYER.PART"; the text lives in buffer.
const char *layer_name(char buffer[64], int layer, const char *part);

#endif
