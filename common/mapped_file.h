// A whole file as read-only memory. The mapping outlives the descriptor.
#ifndef COMMON_MAPPED_FILE_H
#define COMMON_MAPPED_FILE_H

#include <stddef.h>

#include "common/status.h"

struct mapped_file {
    const unsigned char *bytes; // NULL when closed or empty
    size_t n_bytes;
};

// Refuses what is not a regular file. On failure *f is closed and err names the path.
enum status mapped_file_open(struct mapped_file *f, const char *path, struct error *err);

// Safe on a zeroed or closed file.
void mapped_file_close(struct mapped_file *f);

#endif
