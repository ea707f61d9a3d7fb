// From chunk objects to an answer. Absent and null fields mean "nothing new", since servers differ in
// which they send; a field of a wrong type means that this is not the API we think it is.
#include "level1-user/reply.h"

#include <jansson.h>
// [exercise reply.error drop]
#include <stdio.h>
// [end]
#include <stdlib.h>
#include <string.h>

#include "level1-user/answer_json.h"

// [exercise reply.choices drop]
static enum status add_text(struct reply *r, struct text *where, const json_t *said,
                            const char *name, int64_t now_ns, struct error *err) {
    const json_t *string;
    enum status st = answer_json_string(&string, said, name, err);
    size_t n = string ? json_string_length(string) : 0;

    if (st != OK || n == 0) return st;
    if (n > LIMIT_REPLY_BYTES - r->n_bytes) {
        return error_set(err, ERR_LIMIT, "the server's answer is above %d bytes",
                         LIMIT_REPLY_BYTES);
    }
    if (!text_append(where, json_string_value(string), n)) {
        return error_set(err, ERR_MEMORY, "no memory for the server's answer");
    }
    r->n_bytes += n;
    if (r->first_token_ns == 0) r->first_token_ns = now_ns;
    r->last_token_ns = now_ns;
    return OK;
}

static enum status find_choice(struct reply_choice **choice, struct reply *r,
                               json_int_t index, struct error *err) {
    if (index < 0 || index >= LIMIT_CHOICES) {
        return error_set(err, ERR_LIMIT, "the server's answer: choice %lld is not 0 to %d",
                         (long long)index, LIMIT_CHOICES - 1);
    }
    if (index >= r->n_choices) {
        size_t n = (size_t)index + 1;
        struct reply_choice *grown = realloc(r->choices, n * sizeof(*grown));
        if (!grown) return error_set(err, ERR_MEMORY, "no memory for the server's answer");

        memset(grown + r->n_choices, 0, (n - (size_t)r->n_choices) * sizeof(*grown));
        r->choices = grown;
        r->n_choices = (int)n;
    }
    *choice = &r->choices[index];
    return OK;
}
// [end]

// One element of "choices": its text, refusal and finish reason. position: its place in the list.
// message: the field that holds what was said, "delta" in a stream, "message" in a whole answer.
static enum status take_choice(struct reply *r, const json_t *choice, size_t position,
                               const char *message, int64_t now_ns, struct error *err) {
    // [exercise reply.choices]
    const json_t *index = json_object_get(choice, "index");
    const json_t *said = json_object_get(choice, message);
    struct reply_choice *c = NULL;

    if (json_is_null(index)) index = NULL;
    if (!json_is_object(choice) || (index && !json_is_integer(index)) ||
        (said && !json_is_object(said) && !json_is_null(said))) {
        return error_set(err, ERR_FORMAT, "the server's answer: a choice without shape");
    }
    enum status st =
        find_choice(&c, r, index ? json_integer_value(index) : (json_int_t)position, err);
    if (st == OK) st = add_text(r, &c->text, said, "content", now_ns, err);
    if (st == OK) st = add_text(r, &c->refusal, said, "refusal", now_ns, err);
    if (st != OK) return st;
    return answer_json_copy(c->finish_reason, sizeof(c->finish_reason), choice,
                            "finish_reason", err);
    // [end]
}

// [exercise reply.usage drop]
static void take_count(int64_t *count, const json_t *object, const char *name) {
    const json_t *n = json_object_get(object, name);
    if (json_is_integer(n) && json_integer_value(n) >= 0) *count = json_integer_value(n);
}
// [end]

// usage: an object.
static void take_usage(struct reply_usage *u, const json_t *usage) {
    // [exercise reply.usage]
    take_count(&u->prompt_tokens, usage, "prompt_tokens");
    take_count(&u->completion_tokens, usage, "completion_tokens");
    take_count(&u->cached_tokens, json_object_get(usage, "prompt_tokens_details"),
               "cached_tokens");
    // [end]
}

// error: anything but null. {"message": "..."}, and what some servers make of it: a mere string.
static void take_error(struct reply *r, const json_t *error) {
    // [exercise reply.error]
    const json_t *message =
        json_is_string(error) ? error : json_object_get(error, "message");

    r->has_error = true;
    snprintf(r->error_message, sizeof(r->error_message), "%s",
             json_is_string(message) ? json_string_value(message) : "no reason given");
    // [end]
}

static enum status take_choices(struct reply *r, const json_t *choices, const char *message,
                                int64_t now_ns, struct error *err) {
    size_t i;
    const json_t *choice;

    if (!json_is_array(choices)) {
        return error_set(err, ERR_FORMAT, "the server's answer: \"choices\" is not a list");
    }
    json_array_foreach(choices, i, choice) {
        enum status st = take_choice(r, choice, i, message, now_ns, err);
        if (st != OK) return st;
    }
    return OK;
}

static enum status take_object(struct reply *r, const json_t *root, const char *message,
                               int64_t now_ns, struct error *err) {
    const json_t *error = json_object_get(root, "error");
    const json_t *usage = json_object_get(root, "usage");
    const json_t *choices = json_object_get(root, "choices");

    if (!json_is_object(root)) {
        return error_set(err, ERR_FORMAT, "the server's answer is not a JSON object");
    }
    if (error && !json_is_null(error)) {
        take_error(r, error);
        return OK;
    }
    enum status st = answer_json_copy(r->id, sizeof(r->id), root, "id", err);
    if (st == OK) st = answer_json_copy(r->model, sizeof(r->model), root, "model", err);
    if (json_is_null(choices)) choices = NULL;
    if (st == OK && (choices || !json_is_object(usage))) {
        st = take_choices(r, choices, message, now_ns, err);
    }
    if (st == OK && json_is_object(usage)) take_usage(&r->usage, usage);
    return st;
}

static enum status take_json(struct reply *r, const char *bytes, size_t n_bytes,
                             const char *message, int64_t now_ns, struct error *err) {
    json_t *root;
    enum status st = answer_json_parse(&root, bytes, n_bytes, err);
    if (st == OK) st = take_object(r, root, message, now_ns, err);
    json_decref(root);
    return st;
}

void reply_init(struct reply *r) {
    *r = (struct reply){
        .usage = {-1, -1, -1}
    };
}

void reply_free(struct reply *r) {
    for (int i = 0; i < r->n_choices; i++) {
        text_free(&r->choices[i].text);
        text_free(&r->choices[i].refusal);
    }
    free(r->choices);
    reply_init(r);
}

enum status reply_push(struct reply *r, const char *data, size_t n_data, int64_t now_ns,
                       struct error *err) {
    static const char done[] = "[DONE]";
    if (n_data == strlen(done) && memcmp(data, done, n_data) == 0) {
        r->is_done = true;
        return OK;
    }
    return take_json(r, data, n_data, "delta", now_ns, err);
}

enum status reply_whole(struct reply *r, const char *body, size_t n_body, int64_t now_ns,
                        struct error *err) {
    enum status st = take_json(r, body, n_body, "message", now_ns, err);
    if (st != OK || r->has_error) return st;
    if (r->n_choices == 0)
        return error_set(err, ERR_FORMAT, "the server's answer is empty");
    r->is_done = true;
    return OK;
}

const char *reply_text(const struct reply *r) {
    return r->n_choices > 0 ? text_string(&r->choices[0].text) : "";
}
