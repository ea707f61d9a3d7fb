#include "tests/support/chat_house.h"

#include <string.h>

#include "level2-operator/tokenizer/tokenizer_gguf.h"
#include "tests/support/suite.h"

enum status chat_house_open(struct chat_house *h, void (*change)(struct gguf_file *f),
                            const char *choice) {
    memset(h, 0, sizeof(*h));
    file_load(&h->file, tiny_model_path());
    if (change) change(&h->file);
    h->bytes = file_bytes(&h->file);
    arena_init(&h->arena, 64 << 20);
    ck_assert_int_eq(
        gguf_parse(&h->gguf, h->bytes.data, h->bytes.n, "t", &h->arena, &h->err), OK);
    ck_assert_int_eq(
        tokenizer_from_gguf(&h->tokenizer, &h->gguf, NULL, "t", &h->arena, &h->err), OK);
    return chat_template_read(&h->chat, &h->gguf, choice, &h->tokenizer, &h->arena,
                              &h->err);
}

void chat_house_open_with(struct chat_house *h, const char *source) {
    ck_assert_int_eq(chat_house_open(h, NULL, NULL), OK);
    ck_assert_int_eq(chat_template_init(&h->chat, source, strlen(source), &h->tokenizer,
                                        &h->arena, &h->err),
                     OK);
    ck_assert_msg(h->chat.st == OK, "%s", h->chat.why.text);
}

void chat_house_close(struct chat_house *h) {
    arena_free(&h->arena);
    bytes_free(&h->bytes);
    file_free(&h->file);
}

enum status chat_house_render(struct chat_house *h, struct chat_text *chat,
                              const struct chat_message *messages, int n_messages,
                              bool prompt) {
    const struct chat_request request = {.messages = messages,
                                         .n_messages = n_messages,
                                         .add_generation_prompt = prompt,
                                         .n_bytes = 1000};
    return chat_render(chat, &h->chat, &request, &h->arena, &h->err);
}

void assert_chat(const char *name, const struct chat_text *chat, const char *want) {
    bool is_same =
        chat->n_bytes == strlen(want) && memcmp(chat->text, want, chat->n_bytes) == 0;
    ck_assert_msg(is_same, "%s: got\n%.*s\nwant\n%s", name, (int)chat->n_bytes, chat->text,
                  want);
}
