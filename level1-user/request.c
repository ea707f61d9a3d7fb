// Only what was asked for is sent: a server's own default is better than our copy of it.
#include "level1-user/request.h"

#include <jansson.h>
#include <string.h>

#include "common/utf8.h"

static enum status check_text(const char *text, const char *what, struct error *err) {
    if (utf8_valid(text, strlen(text))) return OK;
    return error_set(err, ERR_INPUT, "the text of the %s is not UTF-8", what);
}

static enum status check_texts(const struct chat_request *r, struct error *err) {
    enum status st = check_text(r->model, "model", err);
    for (int i = 0; st == OK && i < r->n_messages; i++) {
        st = check_text(r->messages[i].text, r->messages[i].role, err);
    }
    return st;
}

// Jansson passes a failure on: a NULL value makes the call that takes it fail.
static json_t *messages_json(const struct chat_request *r) {
    json_t *messages = json_array();
    bool is_whole = messages != NULL;

    for (int i = 0; is_whole && i < r->n_messages; i++) {
        const struct chat_message *m = &r->messages[i];
        json_t *message = json_pack("{s:s, s:s}", "role", m->role, "content", m->text);
        is_whole = json_array_append_new(messages, message) == 0;
    }
    if (is_whole) return messages;
    json_decref(messages);
    return NULL;
}

static bool set_fields(json_t *root, const struct chat_request *r) {
    int failed = json_object_set_new(root, "model", json_string(r->model));
    failed |= json_object_set_new(root, "messages", messages_json(r));
    failed |= json_object_set_new(root, "stream", json_boolean(r->stream));
    if (r->stream) {
        failed |= json_object_set_new(root, "stream_options",
                                      json_pack("{s:b}", "include_usage", 1));
    }
    if (r->max_tokens > 0) {
        const char *name = r->is_completion_bound ? "max_completion_tokens" : "max_tokens";
        failed |= json_object_set_new(root, name, json_integer(r->max_tokens));
    }
    if (r->has_temperature) {
        failed |= json_object_set_new(root, "temperature", json_real(r->temperature));
    }
    if (r->has_seed) {
        failed |= json_object_set_new(root, "seed", json_integer((json_int_t)r->seed));
    }
    return failed == 0;
}

enum status chat_request_body(char **body, const struct chat_request *r,
                              struct error *err) {
    *body = NULL;
    enum status st = check_texts(r, err);
    if (st != OK) return st;

    json_t *root = json_object();
    if (root && set_fields(root, r)) *body = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *body ? OK : error_set(err, ERR_MEMORY, "no memory for the request");
}
