#include "tests/support/reply_json.h"

#include <string.h>

#include "tests/support/pieces.h"
#include "tests/support/suite.h"

const struct api_usage usage = {10, 4, 3};

void open_reply(struct reply *f, enum route route) {
    f->tokenizer = pieces_tokenizer();
    api_reply_init(&f->r, route, 7, 1700000000, "tiny", &f->tokenizer);
    buffer_init(&f->out, 1 << 20);
}

struct api_piece piece_of(const char *text, const char *finish_reason) {
    return (struct api_piece){
        .text = text, .n_text = strlen(text), .finish_reason = finish_reason};
}

json_t *at(json_t *value, const char *key) {
    json_t *member = json_object_get(value, key);
    ck_assert_msg(member != NULL, "no %s", key);
    return member;
}

const char *string_at(json_t *value, const char *key) {
    ck_assert_msg(json_is_string(at(value, key)), "%s is no string", key);
    return json_string_value(at(value, key));
}

json_t *first_choice(json_t *body) {
    json_t *choice = json_array_get(at(body, "choices"), 0);
    ck_assert_ptr_nonnull(choice);
    return choice;
}

json_t *event_at(const struct buffer *out, int i) {
    const char *at_byte = out->bytes, *end = out->bytes + out->n_bytes;
    for (; at_byte < end; i--) {
        ck_assert_msg(strncmp(at_byte, "data: {", 7) == 0, "%.20s", at_byte);
        const char *line_end = memchr(at_byte, '\n', (size_t)(end - at_byte));
        ck_assert(line_end && line_end + 1 < end && line_end[1] == '\n');
        if (i == 0) {
            json_t *data = json_loadb(at_byte + 6, (size_t)(line_end - at_byte) - 6,
                                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
            ck_assert_ptr_nonnull(data);
            return data;
        }
        at_byte = line_end + 2;
    }
    return NULL;
}

void assert_usage(json_t *u) {
    ck_assert_int_eq(json_integer_value(at(u, "prompt_tokens")), 10);
    ck_assert_int_eq(json_integer_value(at(u, "completion_tokens")), 3);
    ck_assert_int_eq(json_integer_value(at(u, "total_tokens")), 13);
    json_t *cached = at(at(u, "prompt_tokens_details"), "cached_tokens");
    ck_assert(json_is_integer(cached) && json_integer_value(cached) == 4);
    ck_assert(json_is_integer(at(at(u, "completion_tokens_details"), "reasoning_tokens")));
}
