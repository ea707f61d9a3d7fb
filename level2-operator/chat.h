// Messages to the text that the model was trained on. The template in the file is recognised by
// its text; one we do not know is refused by name, never guessed.
#ifndef LEVEL2_CHAT_H
#define LEVEL2_CHAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"
#include "level2-operator/gguf.h"
#include "level2-operator/tokenizer.h"

struct chat_message {
    const char *role;    // "system", "user", ...: borrowed, NUL-terminated
    const char *content; // not terminated
    size_t n_content;
};

enum chat_template {
    CHAT_NONE,   // the file has none
    CHAT_SMOLLM, // ChatML with SmolLM2's default system message
    CHAT_UNKNOWN
};

struct chat_text {
    char *text; // in the arena
    size_t n_bytes;
    struct markup *markup; // (n_markup): the template's own special tokens
    int n_markup;
};

// Which template the file carries.
enum chat_template chat_template_find(const struct gguf *g);

// Byte-equal to what jinja2 makes of the file's own template. ERR_UNSUPPORTED for CHAT_NONE and
// CHAT_UNKNOWN, ERR_INPUT for no messages or a role that the template has no rule for (SmolLM2's takes
// any role), ERR_LIMIT for more than LIMIT_MESSAGES.
enum status chat_render(struct chat_text *out, enum chat_template kind,
                        const struct chat_message *messages, int n_messages,
                        bool add_generation_prompt, struct arena *arena, struct error *err);

#endif
