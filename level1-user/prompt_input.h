// What a prompt is made of: parts that each promise how often they change, the history of
// the conversation, and the question.
#ifndef LEVEL1_PROMPT_INPUT_H
#define LEVEL1_PROMPT_INPUT_H

#include <stddef.h>

#include "common/status.h"
#include "level1-user/message.h"

// How often the text of a part changes: the caller's promise.
enum prompt_change {
    PROMPT_NEVER,            // the same in all requests
    PROMPT_PER_USER,         // the same in all requests of one user
    PROMPT_PER_CONVERSATION, // the same in all requests of one conversation
    PROMPT_PER_TURN,         // perhaps another in each request
    PROMPT_CHANGE_COUNT
};

struct prompt_part {
    const char *name; // for warnings and errors: "rules"
    const char *role; // "system", "user" or "assistant"
    enum prompt_change change;
    const char *text; // UTF-8, NUL-terminated; "": not there this time
};

// All that one request says. Everything is borrowed.
struct prompt_input {
    const struct prompt_part *parts; // (n_parts), in any order
    int n_parts;
    const struct chat_message *history; // (n_history): what was said before, oldest first
    int n_history;
    const char *question; // what the user says now
};

// ERR_INPUT: a role is none of the three, a change is none of the four, or the question is
// empty; err->param is the name of the part, "history" or "question".
// ERR_LIMIT: more than LIMIT_PROMPT_PARTS parts; more than LIMIT_MESSAGES texts (parts,
// turns, question); or more than LIMIT_BODY_BYTES in all of them.
enum status prompt_input_check(const struct prompt_input *in, struct error *err);

// Two requests whose parts may be compared. shared says what the two have in common.
// ERR_INPUT and ERR_LIMIT: prompt_input_check refuses one of them; the lists of parts
// differ in number (err->param "parts"), or at one place in name, role or change (its name
// in now); shared is PROMPT_PER_TURN or no change at all ("shared").
enum status prompt_input_check_pair(const struct prompt_input *before,
                                    const struct prompt_input *now,
                                    enum prompt_change shared, struct error *err);

// How much memory the messages may need, at most, for an input that has passed the check: how many
// there may be (parts, turns and question), and the bytes of all texts, with 3 more for each.
size_t prompt_input_texts(const struct prompt_input *in);
size_t prompt_input_bytes(const struct prompt_input *in);

#endif
