// What an hour of an accelerator costs to rent, data/gpu-hours.json. data/README.md says what its fields
// mean.
#ifndef LEVEL1_GPU_HOURS_H
#define LEVEL1_GPU_HOURS_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

// All texts are UTF-8 without control characters, "" where the file has none.
struct gpu_offer {
    int64_t low, high;                // micro-dollars an hour, low <= high
    const char *gpu;                  // "h100-sxm"
    const char *listed_as, *offer;    // the name in the source, and whose offer it is
    const char *tag, *source, *notes; // how well it is known, and whence
};

struct gpu_hours {
    // owned
    void *document;          // jansson's: the texts
    struct gpu_offer *items; // (n_items)
    int n_items;
};

// ERR_FORMAT: not JSON, or not a list of offers; says which entry and field. ERR_LIMIT: above
// LIMIT_GPU_BYTES or LIMIT_GPU_OFFERS. ERR_MEMORY; gpu_hours_open also ERR_IO. On failure the list is
// closed. name: how errors call it.
enum status gpu_hours_parse(struct gpu_hours *list, const char *bytes, size_t n_bytes,
                            const char *name, struct error *err);
enum status gpu_hours_open(struct gpu_hours *list, const char *path, struct error *err);
void gpu_hours_close(struct gpu_hours *list); // safe on a zeroed or closed list

// The offers with the lowest low and the highest high, which may be one. ERR_INPUT: there is none; the
// text lists what there is.
enum status gpu_hours_find(const struct gpu_offer **lowest,
                           const struct gpu_offer **highest, const struct gpu_hours *list,
                           const char *gpu, struct error *err);

#endif
