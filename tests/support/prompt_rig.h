// Prompts built and compared, and what is judged of them: each assertion names the call with its parts.
#ifndef TESTS_SUPPORT_PROMPT_RIG_H
#define TESTS_SUPPORT_PROMPT_RIG_H

#include "level1-user/prompt.h"
#include "tests/support/suite.h"

// "prompt_build(clock per turn, rules never; 2 turns): FIELD". Valid until the next call.
const char *built_from(const struct prompt_input *in, const char *field);

// These messages come out of prompt_build, and no others.
void assert_built(const struct prompt_input *in, const struct chat_message *want,
                  int n_want);

// prompt_build refuses, and names the culprit.
void assert_build_refused(const struct prompt_input *in, enum status want,
                          const char *param);

// Two requests, what they share, and what prompt_compare says of them.
struct pair {
    struct prompt_input before, now;
    enum prompt_change shared;
};
void assert_warning(const struct pair *pair, const struct prompt_warning *want);

#endif
