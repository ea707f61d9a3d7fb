// What the API writes, read back as JSON. A key that is missing fails the test.
#ifndef TESTS_SUPPORT_REPLY_JSON_H
#define TESTS_SUPPORT_REPLY_JSON_H

#include <jansson.h>

#include "level2-operator/api/api_reply.h"

// 10 tokens of prompt, 4 of them from the cache; 3 of answer.
extern const struct api_usage usage;

struct reply {
    struct tokenizer tokenizer; // of pieces.h
    struct api_reply r;
    struct buffer out;
};

void open_reply(struct reply *f, enum route route);

struct api_piece piece_of(const char *text, const char *finish_reason);

json_t *at(json_t *value, const char *key);
const char *string_at(json_t *value, const char *key);
json_t *first_choice(json_t *body);

// The data of event i of what was written; checks the framing of all of it on the way.
json_t *event_at(const struct buffer *out, int i);

// u says what usage says.
void assert_usage(json_t *u);

#endif
