// A GGUF file made by hand, and the stages of gguf_parse, each called alone on it: with what the stages
// before it would have found.
#ifndef TESTS_SUPPORT_GGUF_RIG_H
#define TESTS_SUPPORT_GGUF_RIG_H

#include "level2-operator/gguf/gguf.h"
#include "level2-operator/gguf/gguf_reader.h"
#include "tests/support/gguf_file.h"
#include "tests/support/wrong_gguf.h"

enum { HEADER_BYTES = 24, NAME_SPACE = 24 };

struct gguf_rig {
    struct bytes file; // what to read; the test writes it
    struct arena arena;
    // of the last call
    struct gguf gguf;
    struct gguf_reader reader;
    struct error err;
};

void rig_init(struct gguf_rig *rig);
void rig_free(struct gguf_rig *rig);

// Starts over, with the reader at byte pos and alignment 32.
void rig_stand_at(struct gguf_rig *rig, size_t pos);

// Each starts over. The first two begin behind the header and believe its counts.
typedef enum status rig_stage_fn(struct gguf_rig *rig);
rig_stage_fn rig_read_keys;    // of a file without tensors
rig_stage_fn rig_read_tensors; // of a file without keys
rig_stage_fn rig_parse;        // all stages: gguf_parse

// The call was a success. What it found, as "call: [i].field".
void assert_read(const char *call, const struct gguf_rig *rig, enum status st);
void assert_field(const char *call, int i, const char *field, uint64_t got, uint64_t want);

// The call failed and says where: place is what err.text calls it, "key odd at byte 24".
void assert_refused(const char *call, const struct gguf_rig *rig, enum status st,
                    enum status want, const char *place);

// The same for wrong file i of a part, which becomes the rig's.
void assert_refuses_wrong(const char *function, struct gguf_rig *rig, rig_stage_fn *stage,
                          enum wrong_part part, int i);

// The file is read, and refused when it is cut anywhere from n_kept bytes on.
void assert_refuses_cuts(const char *call, struct gguf_rig *rig, rig_stage_fn *stage,
                         size_t n_kept);

// Every name, value and tensor that was found lies inside the file.
void assert_views_inside(const char *call, const struct gguf_rig *rig);

// With an arena that is too small, by whatever it is, the answer is ERR_MEMORY.
void assert_asks_for_memory(const char *call, struct gguf_rig *rig, rig_stage_fn *stage);

#endif
