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

// For main: a file that others cut while it is mapped ends the process with SIGBUS at the next read
// behind its new end. After this call it says so first, in one line that names the file where the
// system tells it (Linux does), and exits with 1.
void mapped_file_explain_faults(void);

#endif
