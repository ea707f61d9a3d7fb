// A whole file as read-only memory. The mapping outlives the descriptor.
#ifndef COMMON_MAPPED_FILE_H
#define COMMON_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct mapped_file {
    const unsigned char *bytes; // NULL when closed or empty
    size_t n_bytes;
    // of the file when it was opened
    uint64_t device, inode;
    int64_t written_s; // unix time of the last change of its bytes
};

// What became of the file behind a mapping.
enum file_fate {
    FILE_SAME,
    FILE_CHANGED, // cut, or written to: the bytes are not those that were there, or end earlier
    FILE_MOVED // its name is gone, or is another file's: the bytes are as they were
};

// Refuses what is not a regular file. On failure *f is closed and err names the path.
enum status mapped_file_open(struct mapped_file *f, const char *path, struct error *err);

// path: under which it was opened. A change within the second of the one before is not seen, unless the
// size is another.
enum file_fate mapped_file_fate(const struct mapped_file *f, const char *path);

// Safe on a zeroed or closed file.
void mapped_file_close(struct mapped_file *f);

// For main: a file that others cut while it is mapped ends the process with SIGBUS at the next read
// behind its new end. After this call it says so first, in one line that names the file where the
// system tells it (Linux does), and exits with 1.
void mapped_file_explain_faults(void);

#endif
