// What the suite of the reply shares. A name says which call was made, and with what.
#include "tests/support/reply_rig.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

struct reply reply;
struct error err;
char json[2048];          // the last one that was taken in,
static const char *taker; // and by whom
static char name[256];    // what an assertion judges

void reply_rig_open(void) {
    reply_init(&reply);
    memset(&err, 0, sizeof(err));
}

void reply_rig_close(void) {
    reply_free(&reply);
}

const char *after(const char *field) {
    snprintf(name, sizeof(name), "after %s(%.150s): %s", taker, json, field);
    for (char *c = name; *c; c++) *c = (char)(*c == '"' ? '\'' : *c);
    return name;
}

size_t quote(const char *data) {
    taker = "reply_push";
    snprintf(json, sizeof(json), "%s", data);
    for (char *c = json; *c; c++) *c = (char)(*c == '\'' ? '"' : *c);
    return strlen(json);
}

enum status push_at(const char *data, int64_t now_ns) {
    return reply_push(&reply, json, quote(data), now_ns, &err);
}

enum status whole_at(const char *data, int64_t now_ns) {
    size_t n_body = quote(data);
    taker = "reply_whole";
    return reply_whole(&reply, json, n_body, now_ns, &err);
}

void assert_returned(enum status got, enum status want) {
    assert_status(after("status"), got, want);
}

void push(const char *data) {
    assert_returned(push_at(data, 1), OK);
}

void assert_choice(int i, const char *text, const char *finish_reason) {
    char field[48];
    snprintf(field, sizeof(field), "n_choices > %d", i);
    assert_number(after(field), reply.n_choices > i, 1);
    snprintf(field, sizeof(field), "choices[%d].text", i);
    assert_text(after(field), text_string(&reply.choices[i].text), text);
    snprintf(field, sizeof(field), "choices[%d].finish_reason", i);
    assert_text(after(field), reply.choices[i].finish_reason, finish_reason);
}

void assert_times(int64_t first_ns, int64_t last_ns) {
    assert_number(after("first_token_ns"), reply.first_token_ns, first_ns);
    assert_number(after("last_token_ns"), reply.last_token_ns, last_ns);
}

void assert_told(int64_t prompt, int64_t cached, int64_t completion) {
    assert_number(after("usage.prompt_tokens"), reply.usage.prompt_tokens, prompt);
    assert_number(after("usage.cached_tokens"), reply.usage.cached_tokens, cached);
    assert_number(after("usage.completion_tokens"), reply.usage.completion_tokens,
                  completion);
}

void assert_error(const char *message) {
    assert_number(after("has_error"), reply.has_error, 1);
    assert_text(after("error_message"), reply.error_message, message);
    assert_number(after("is_done"), reply.is_done, 0);
}
