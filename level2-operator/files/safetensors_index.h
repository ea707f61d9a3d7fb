// model.safetensors.index.json: which of several files a tensor is in.
//
//   {"metadata": {...}, "weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors", ...}}
//
// File names are names in the same folder and nothing else: a path could lead anywhere.
#ifndef LEVEL2_SAFETENSORS_INDEX_H
#define LEVEL2_SAFETENSORS_INDEX_H

#include <jansson.h>

#include "common/arena.h"
#include "common/status.h"
#include "common/table.h"

struct safetensors_index {
    // owned by the arena given at init
    const char **files; // (n_files), in the order in which they are first named
    int n_files;
    struct table file_of; // tensor -> index into files
};

// file is for messages. The names are copied. ERR_FORMAT, ERR_LIMIT, ERR_MEMORY.
enum status safetensors_index_read(struct safetensors_index *x, json_t *index,
                                   const char *file, struct arena *arena,
                                   struct error *err);

#endif
