// A copy of what tools/tiny_containers.py writes (build/test/containers, beside the tiny model), in a
// folder of its own that a test may spoil.
#ifndef TESTS_SUPPORT_MODEL_FOLDER_H
#define TESTS_SUPPORT_MODEL_FOLDER_H

#include "tests/support/gguf_file.h"

enum { FOLDER_PATH = 512 };

struct model_folder {
    char path[FOLDER_PATH];
};

// kind: "folder", "sharded" or "." (the GGUF files).
struct model_folder folder_copy(const char *kind);
void folder_remove(struct model_folder *f); // all of it, from the disk

// The path of a file in it. Lives until the next call.
const char *folder_path(const struct model_folder *f, const char *file);

struct bytes folder_read(const struct model_folder *f, const char *file);
void folder_write(const struct model_folder *f, const char *file, const void *bytes,
                  size_t n);
void folder_drop(const struct model_folder *f, const char *file);
void folder_swap(const struct model_folder *f, const char *file, const char *other);

// The first `old` in a file becomes `new`. Fails the test if there is none.
void folder_replace(const struct model_folder *f, const char *file, const char *old,
                    const char *new);

#endif
