// GGUF files that are each wrong in one way, and what the reader must say.
#ifndef TESTS_SUPPORT_WRONG_GGUF_H
#define TESTS_SUPPORT_WRONG_GGUF_H

#include "common/status.h"
#include "tests/support/gguf_file.h"

// What is wrong, and so the stage of gguf_parse that sees it. A file that is wrong in its keys has no
// tensors, one that is wrong in its tensors or their places has no keys.
enum wrong_part { WRONG_HEADER, WRONG_KEYS, WRONG_SETTING, WRONG_TENSORS, WRONG_PLACE };

struct wrong_gguf {
    const char *name; // with the public case that it is
    void (*build)(struct bytes *b);
    enum wrong_part part;
    enum status want;
    const char *place;   // what the message calls it: kind, name or number, offset
    const char *says[2]; // parts of the message
};

enum { N_WRONG_GGUFS = 45 };
extern const struct wrong_gguf wrong_ggufs[N_WRONG_GGUFS];

int wrong_ggufs_in(enum wrong_part part);                            // how many
const struct wrong_gguf *wrong_gguf_in(enum wrong_part part, int i); // 0 <= i < how many

#endif
