// GGUF files that are each wrong in one way, and what the reader must say.
#ifndef TESTS_SUPPORT_WRONG_GGUF_H
#define TESTS_SUPPORT_WRONG_GGUF_H

#include "common/status.h"
#include "tests/support/gguf_file.h"

struct wrong_gguf {
    const char *name; // with the public case that it is
    void (*build)(struct bytes *b);
    enum status want;
    const char *says[3]; // parts of the message
};

enum { N_WRONG_GGUFS = 44 };
extern const struct wrong_gguf wrong_ggufs[N_WRONG_GGUFS];

#endif
