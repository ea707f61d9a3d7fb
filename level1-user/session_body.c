// The messages are needed no longer once the body is written.
#include "level1-user/session_body.h"

#include "common/arena.h"
#include "common/limits.h"
#include "level1-user/prompt.h"

enum status session_body(char **body, const struct session *s,
                         const struct chat_request *request, int n_messages,
                         const char *question, struct error *err) {
    const struct prompt_part system = {"system", "system", PROMPT_NEVER,
                                       text_string(&s->system)};
    const struct prompt_input input = {
        .parts = &system, // an empty text is left out
        .n_parts = 1,
        .history = s->conversation.messages,
        .n_history = n_messages,
        .question = question,
    };
    struct chat_request whole = *request;
    struct prompt prompt;
    struct arena arena;

    *body = NULL;
    arena_init(&arena, 2 * LIMIT_BODY_BYTES);
    enum status st = prompt_build(&prompt, &input, &arena, err);
    if (st == OK) {
        whole.messages = prompt.messages;
        whole.n_messages = prompt.n_messages;
        st = chat_request_body(body, &whole, err);
    }
    arena_free(&arena);
    return st;
}
