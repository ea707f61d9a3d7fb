// Yours to write. Contract: level1-user/reply.h. Explained: docs/level1/reply.md.
// Red or green: make test EX=reply
//
// From chunk objects to an answer. Absent and null fields mean "nothing new", since servers differ in
// which they send; a field of a wrong type means that this is not the API we think it is.
#include "level1-user/reply.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/exercise.h"
#include "level1-user/answer_json.h"

// One element of "choices": its text, refusal and finish reason. position: its place in the list.
// message: the field that holds what was said, "delta" in a stream, "message" in a whole answer.
static enum status take_choice(struct reply *r, const json_t *choice, size_t position,
                               const char *message, int64_t now_ns, struct error *err) {
    EXERCISE("reply.choices");
}

// usage: an object.
static void take_usage(struct reply_usage *u, const json_t *usage) {
    EXERCISE("reply.usage");
}

// error: anything but null. {"message": "..."}, and what some servers make of it: a mere string.
static void take_error(struct reply *r, const json_t *error) {
    EXERCISE("reply.error");
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
