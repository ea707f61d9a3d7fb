// A conversation as budget.h counts it: the instructions, each question with its answer, and the new
// question.
//
//   system │ user assistant │ user assistant │ ... │ question
//   turn 0 │ turn 1         │ turn 2         │     │ turn n_turns - 1
//   pinned
//
// Tokens are estimated from bytes, and the estimate is set right by what the server counted last: our
// prompt of n_estimated tokens had n_told for it.
#ifndef LEVEL1_CONVERSATION_TURNS_H
#define LEVEL1_CONVERSATION_TURNS_H

#include <stdint.h>

#include "common/status.h"
#include "level1-user/budget.h"
#include "level1-user/conversation.h"
#include "level1-user/token_meter.h"

struct turn_scale {
    struct token_estimate estimate;
    int64_t n_estimated, n_told; // of one and the same prompt; 0: nothing was told yet
};

struct conversation_turns {
    struct budget_turn *turns; // owned, (n_turns)
    int n_turns;
    int64_t n_tokens;    // of all of them
    int64_t n_estimated; // the same before the estimate was set right
};

// A turn begins with each message of the user; what stands in front of the first one is a turn, too.
// A scale above 16 or below 1/16 is taken for a server's mistake, and goes no further. ERR_MEMORY.
enum status conversation_turns_init(struct conversation_turns *t, const char *system,
                                    const struct conversation *said, const char *question,
                                    const struct turn_scale *scale, struct error *err);
void conversation_turns_free(struct conversation_turns *t);

// How many messages stand in front of a turn: 1 .. n_turns - 1.
int conversation_turn_begin(const struct conversation *said, int turn);

#endif
