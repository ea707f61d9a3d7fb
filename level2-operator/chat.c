// Chat templates, written out by hand. A jinja interpreter would be larger than the tokenizer; the
// few templates of the models that we serve are a dozen lines each.
//
// The text is made twice by the same code: once to count, once to write.
#include "level2-operator/chat.h"

#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf_value.h"

// What the file holds under tokenizer.chat_template, byte for byte. Whoever changes the rendering
// below changes it for exactly this text.
static const char smollm_template[] =
    "{% for message in messages %}"
    "{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by "
    "Hugging Face<|im_end|>\n' }}"
    "{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

static const char smollm_system[] =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

// Counts while text is NULL, writes when it is not.
struct writer {
    char *text;
    size_t n_bytes;
    struct markup *markup;
    int n_markup;
};

static void write_bytes(struct writer *w, const char *bytes, size_t n_bytes) {
    if (w->text && n_bytes > 0) memcpy(w->text + w->n_bytes, bytes, n_bytes);
    w->n_bytes += n_bytes;
}

static void write_string(struct writer *w, const char *string) {
    write_bytes(w, string, strlen(string));
}

// The only text in which a special token may be found.
static void write_special(struct writer *w, const char *token) {
    size_t begin = w->n_bytes;
    write_string(w, token);
    if (w->markup) w->markup[w->n_markup] = (struct markup){begin, w->n_bytes};
    w->n_markup++;
}

static void write_turn(struct writer *w, const char *role, const char *content,
                       size_t n_content) {
    write_special(w, "<|im_start|>");
    write_string(w, role);
    write_string(w, "\n");
    write_bytes(w, content, n_content);
    write_special(w, "<|im_end|>");
    write_string(w, "\n");
}

static void render_smollm(struct writer *w, const struct chat_message *messages,
                          int n_messages, bool add_generation_prompt) {
    if (strcmp(messages[0].role, "system") != 0)
        write_turn(w, "system", smollm_system, strlen(smollm_system));
    for (int i = 0; i < n_messages; i++)
        write_turn(w, messages[i].role, messages[i].content, messages[i].n_content);
    if (!add_generation_prompt) return;
    write_special(w, "<|im_start|>");
    write_string(w, "assistant\n");
}

enum chat_template chat_template_find(const struct gguf *g) {
    const struct gguf_value *value = gguf_find(g, "tokenizer.chat_template");
    struct gguf_string text;
    if (!value) return CHAT_NONE;
    if (!gguf_get_string(value, &text)) return CHAT_UNKNOWN;
    bool is_smollm = text.n_bytes == strlen(smollm_template) &&
                     memcmp(text.bytes, smollm_template, strlen(smollm_template)) == 0;
    return is_smollm ? CHAT_SMOLLM : CHAT_UNKNOWN;
}

enum status chat_render(struct chat_text *out, enum chat_template kind,
                        const struct chat_message *messages, int n_messages,
                        bool add_generation_prompt, struct arena *arena,
                        struct error *err) {
    *out = (struct chat_text){0};
    if (kind == CHAT_NONE)
        return error_set(err, ERR_UNSUPPORTED,
                         "the model file has no chat template: it is a base model; use "
                         "/v1/completions");
    if (kind != CHAT_SMOLLM)
        return error_set(
            err, ERR_UNSUPPORTED,
            "the model file's chat template is not one that is built here; use "
            "/v1/completions");
    if (n_messages < 1)
        return error_set_param(err, ERR_INPUT, "messages",
                               "messages is empty; send at least one message");
    if (n_messages > LIMIT_MESSAGES)
        return error_set_param(err, ERR_LIMIT, "messages",
                               "%d messages, at most %d are allowed", n_messages,
                               LIMIT_MESSAGES);

    struct writer count = {0};
    render_smollm(&count, messages, n_messages, add_generation_prompt);
    struct writer w = {.text = ARENA_NEW(arena, char, count.n_bytes + 1),
                       .markup = ARENA_NEW(arena, struct markup, count.n_markup)};
    if (!w.text || !w.markup)
        return error_set(err, ERR_MEMORY, "no memory for a chat text of %zu bytes",
                         count.n_bytes);
    render_smollm(&w, messages, n_messages, add_generation_prompt);
    *out = (struct chat_text){w.text, w.n_bytes, w.markup, w.n_markup};
    return OK;
}
