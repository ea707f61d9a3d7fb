// The messages of a chat request, in the order that a provider's cache likes: what changes
// least stands first. A cache finds a prompt again up to the first byte that differs, and
// no further.
//
//   as the caller has it          as it is sent              who shares it
//   clock    per turn  user       system     rules           all requests
//   rules    never     system                profile         those of this user
//   profile  per user  system     user       Hi.        ┐    those of this conversation:
//   history  Hi. Hello Ada.       assistant  Hello Ada. ┘    it only grows at its end
//   question Where is it?         user       clock           nobody
//                                            Where is it?
//
//   10:02  │ rules, profile │ Hi. │ Hello Ada. │ clock, Where is it?
//   10:05  │ rules, profile │ Hi. │ Hello Ada. │ Where is it? │ At sea. │ clock, And now?
//          ├───────── the same bytes ─────────┤
//
// Nothing but the input decides: no clock, no random number, no address. Same input, same
// bytes.
#ifndef LEVEL1_PROMPT_H
#define LEVEL1_PROMPT_H

#include "common/arena.h"
#include "common/status.h"
#include "level1-user/message.h"
#include "level1-user/prompt_input.h"
#include "level1-user/prompt_warning.h"

struct prompt {
    // owned by the arena; the roles are literals or the input's
    struct chat_message *messages; // (n_messages)
    int n_messages;
};

// Puts the messages together.
//   order  parts that change never, per user, per conversation; the history; parts that
//          change per turn; the question. Parts of one kind stay in the caller's order.
//   texts  go in byte for byte, nothing is trimmed. An empty one is left out.
//   roles  each text keeps its own; the question has "user". Texts that now stand side by
//          side and have the same role are one message, an empty line ("\n\n") between
//          them: some chat templates refuse two messages of one role in a row.
// All texts are copied into the arena. After a failure *p means nothing.
// ERR_INPUT, ERR_LIMIT: prompt_input_check refuses the input; err as there.
// ERR_MEMORY: the arena has no more.
enum status prompt_build(struct prompt *p, // out
                         const struct prompt_input *in, struct arena *arena,
                         struct error *err);

// Holds the promises of the parts against two requests. shared says what the two have in
// common: PROMPT_NEVER (any two), PROMPT_PER_USER (one user), PROMPT_PER_CONVERSATION.
//   compared  in this order: parts that change never, per user, per conversation, as far
//             as shared goes, each with its text in before (same place in the list of
//             parts); with PROMPT_PER_CONVERSATION then the turns of the history that
//             both have, the oldest first, by their texts.
//   named     the first text that differs, and only that one. at: its first byte that
//             differs; trouble: prompt_trouble_of says it.
//   spoiled   the longest common end of its two texts, not reaching back over `at` in
//             either; and all of each later text that was compared and is the same.
//   fine      no text differs; or nothing is spoiled, since nothing stable stands behind.
// After a failure *w means nothing. ERR_INPUT, ERR_LIMIT: prompt_input_check_pair refuses.
enum status prompt_compare(struct prompt_warning *w, // out
                           const struct prompt_input *before,
                           const struct prompt_input *now, enum prompt_change shared,
                           struct error *err);

#endif
