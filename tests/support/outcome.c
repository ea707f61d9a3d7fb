// What an exchange got, and what a client would read in it.
#include "tests/support/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

static void read_usage(struct reading *r, json_t *usage) {
    json_t *details = json_object_get(usage, "prompt_tokens_details");
    if (!json_is_object(usage)) return;
    r->has_usage = true;
    r->n_prompt = json_integer_value(json_object_get(usage, "prompt_tokens"));
    r->n_completion = json_integer_value(json_object_get(usage, "completion_tokens"));
    r->n_total = json_integer_value(json_object_get(usage, "total_tokens"));
    r->n_cached = json_integer_value(json_object_get(details, "cached_tokens"));
}

// A model may draw a zero byte. It stands as \x01 here, so that a C string holds the whole text.
static void add_text(char *whole, const json_t *text) {
    size_t n = strlen(whole), n_text = json_string_length(text);
    ck_assert(utf8_valid(json_string_value(text), n_text));
    ck_assert_uint_lt(n + n_text, MAX_TEXT);
    memcpy(whole + n, json_string_value(text), n_text);
    for (size_t i = n; i < n + n_text; i++) {
        if (whole[i] == '\0') whole[i] = '\x01';
    }
    whole[n + n_text] = '\0';
}

static void read_choice(struct reading *r, json_t *choice) {
    int i = (int)json_integer_value(json_object_get(choice, "index"));
    json_t *finish = json_object_get(choice, "finish_reason");
    json_t *message = json_object_get(choice, "message");
    json_t *text = json_object_get(choice, "text");

    if (!message) message = json_object_get(choice, "delta");
    if (json_object_get(message, "role")) r->n_roles++;
    if (!text) text = json_object_get(message, "content");
    ck_assert_int_lt(i, MAX_CHOICES);
    if (i >= r->n_choices) r->n_choices = i + 1;
    if (text) add_text(r->text[i], text);
    if (json_is_string(finish)) strcpy(r->finish[i], json_string_value(finish));
}

static void read_object(struct reading *r, json_t *object) {
    size_t i;
    json_t *choice;
    json_array_foreach(json_object_get(object, "choices"), i, choice)
        read_choice(r, choice);
    read_usage(r, json_object_get(object, "usage"));
}

void outcome_take(struct outcome *o, struct delivery *d) {
    ck_assert(o->n_ends == 0 && o->n_replies == 0); // nothing comes after the end
    o->n_heads += d->kind == DELIVER_HEAD;
    o->n_data += d->kind == DELIVER_DATA;
    o->n_replies += d->kind == DELIVER_REPLY;
    o->n_ends += d->kind == DELIVER_END;
    o->n_used += d->kind == DELIVER_USED;
    if (d->kind == DELIVER_USED) o->key_scope = d->cache_scope;
    if (d->kind == DELIVER_DATA) ck_assert(o->n_heads == 1 && d->n_bytes > 0);
    if (d->kind == DELIVER_REPLY) {
        o->http_status = d->http_status;
        o->retry_after_s = d->retry_after_s;
    }
    if (d->n_bytes) {
        o->bytes = realloc(o->bytes, o->n_bytes + d->n_bytes + 1);
        memcpy(o->bytes + o->n_bytes, d->bytes, d->n_bytes);
        o->n_bytes += d->n_bytes;
        o->bytes[o->n_bytes] = '\0';
    }
    o->n_prompt = d->n_prompt;
    o->n_cached = d->n_cached;
    o->queue_ns = d->queue_ns;
    o->n_completion = d->n_completion;
    free(d->bytes);
}

void outcome_free(struct outcome *o) {
    free(o->bytes);
    *o = (struct outcome){0};
}

struct reading outcome_read_body(const struct outcome *o) {
    struct reading r = {0};
    ck_assert_int_eq(o->n_replies, 1);
    json_t *body = json_loadb(o->bytes, o->n_bytes, JSON_ALLOW_NUL, NULL);
    ck_assert_msg(body != NULL, "%s", o->bytes);
    read_object(&r, body);
    json_decref(body);
    return r;
}

struct reading outcome_read_stream(const struct outcome *o) {
    struct reading r = {0};
    const char *at = o->bytes;
    ck_assert(o->n_heads == 1 && o->n_ends == 1 && o->n_replies == 0);
    while (strcmp(at, "data: [DONE]\n\n") != 0) {
        const char *end = strstr(at, "\n\n");
        ck_assert_msg(end && strncmp(at, "data: {", 7) == 0, "%.40s", at);
        json_t *chunk = json_loadb(at + 6, (size_t)(end - at) - 6, JSON_ALLOW_NUL, NULL);
        ck_assert_msg(chunk != NULL, "%.80s", at);
        bool is_usage = json_array_size(json_object_get(chunk, "choices")) == 0;
        ck_assert(!r.has_usage &&
                  is_usage == json_is_object(json_object_get(chunk, "usage")));
        read_object(&r, chunk);
        json_decref(chunk);
        at = end + 2;
    }
    return r;
}

static json_t *error_of(const struct outcome *o) {
    json_t *body = json_loadb(o->bytes, o->n_bytes, 0, NULL);
    ck_assert_msg(body != NULL, "%s", o->bytes);
    ck_assert_uint_eq(json_object_size(json_object_get(body, "error")), 4);
    return body;
}

void outcome_assert_refused(const struct outcome *o, int http_status, const char *param,
                            const char *code) {
    ck_assert(o->n_replies == 1 && o->n_heads == 0);
    ck_assert_msg(o->http_status == http_status, "%d: %s", o->http_status, o->bytes);
    json_t *body = error_of(o), *error = json_object_get(body, "error");
    const char *got_param = json_string_value(json_object_get(error, "param"));
    const char *got_code = json_string_value(json_object_get(error, "code"));
    ck_assert_msg(param ? got_param && !strcmp(got_param, param) : !got_param, "%s",
                  o->bytes);
    ck_assert_msg(code ? got_code && !strcmp(got_code, code) : !got_code, "%s", o->bytes);
    json_decref(body);
}
