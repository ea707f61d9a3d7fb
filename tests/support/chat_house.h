// The tiny model's vocabulary and a chat template, the file's own or another, without an engine.
#ifndef TESTS_SUPPORT_CHAT_HOUSE_H
#define TESTS_SUPPORT_CHAT_HOUSE_H

#include "level2-operator/template/chat.h"
#include "tests/support/gguf_file.h"

struct chat_house {
    struct gguf_file file;
    struct bytes bytes;
    struct arena arena;
    struct gguf gguf;
    struct tokenizer tokenizer;
    struct chat_template chat;
    struct error err; // of the last call
};

#define CHAT_KEY "tokenizer.chat_template"

// change: what is to be different in the file; NULL: nothing. choice: see chat_template_read, whose
// result comes back. All else must be well.
enum status chat_house_open(struct chat_house *h, void (*change)(struct gguf_file *f),
                            const char *choice);
// The same, with this template.
void chat_house_open_with(struct chat_house *h, const char *source);
void chat_house_close(struct chat_house *h);

// prompt: the answer is opened.
enum status chat_house_render(struct chat_house *h, struct chat_text *chat,
                              const struct chat_message *messages, int n_messages,
                              bool prompt);

void assert_chat(const char *name, const struct chat_text *chat, const char *want);

#endif
