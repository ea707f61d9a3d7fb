// Messages to the text that the model was trained on, by the template that comes with the model.
#ifndef LEVEL2_CHAT_H
#define LEVEL2_CHAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"
#include "level2-operator/gguf/gguf.h"
#include "level2-operator/template/template.h"
#include "level2-operator/tokenizer/tokenizer.h"

// What a template sees of a message: the fields of its JSON, with role and content as given here.
struct chat_message {
    // borrowed
    const char *role;    // "system", "user", ...; NULL: what fields says
    const char *content; // (n_content), not terminated; NULL: what fields says, else ""
    size_t n_content;
    const json_t *fields; // an object, or NULL
};

struct chat_request {
    // borrowed
    const struct chat_message *messages; // (n_messages)
    int n_messages;
    bool add_generation_prompt; // end with the beginning of an answer
    const json_t *tools;        // NULL: none
    const json_t *variables; // an object of more variables, as enable_thinking; NULL: none
    size_t n_bytes;          // of the request: they justify the memory of a rendering
    int64_t now_s;           // unix time, for templates that write a date
};

struct chat_template { // all-zero: the model has none
    // in the arena of chat_template_init, as is its program
    struct text bos, eos, unknown; // what bos_token and so on stand for; "": undefined
    struct template program;
    bool is_there;    // an empty one is none
    enum status st;   // why it cannot be used, if it is there
    struct error why; // of st
};

struct chat_text {
    char *text; // in the arena
    size_t n_bytes;
    struct markup *markup; // (n_markup): the stretches that the template wrote itself
    int n_markup;
};

// source: the model's own template; NULL: none. One that is not understood is kept with the reason, for
// a model is good for completions without it; so this fails for lack of memory only.
enum status chat_template_init(struct chat_template *t, const char *source, size_t n_bytes,
                               const struct tokenizer *tokenizer, struct arena *arena,
                               struct error *err);

// choice: a built-in name (chat_builtin.h), or a file with a template in it; one that is not there or
// not understood fails. NULL: the file's own, as above.
enum status chat_template_read(struct chat_template *t, const struct gguf *g,
                               const char *choice, const struct tokenizer *tokenizer,
                               struct arena *arena, struct error *err);

// OK if messages can be rendered at all. ERR_UNSUPPORTED: there is no template, and err offers others; else
// why it is not understood.
enum status chat_template_check(const struct chat_template *t, struct error *err);

// Byte-equal to what jinja2 makes of the template. ERR_UNSUPPORTED: no template; ERR_INPUT: no messages,
// or the template refused them; ERR_LIMIT: more than LIMIT_MESSAGES, or more than a template may take;
// else what template.h says.
enum status chat_render(struct chat_text *out, const struct chat_template *t,
                        const struct chat_request *request, struct arena *arena,
                        struct error *err);

#endif
