// A request as a whole: the fields that chat and completions share, and the order of the checks.
#include "level2-operator/api/api_request.h"

#include <stdio.h>
#include <string.h>

static enum status read_model(struct api_request *r, const struct json_input *in,
                              struct error *err) {
    size_t n_bytes;
    enum status st = json_input_string(&r->model, &n_bytes, in, "model", err);
    if (!st && !r->model) {
        st = json_input_refuse(in, "model", ERR_INPUT, "must be given", err);
    }
    return st;
}

// best_of draws more answers than it returns; as many as n is no wish at all.
static enum status read_best_of(const struct api_request *r, const struct json_input *in,
                                struct error *err) {
    int64_t best_of = 0;
    enum status st = json_input_int(&best_of, in, "best_of", 0, LIMIT_CHOICES, err);
    if (!st && best_of > r->n) {
        st = json_input_refuse(in, "best_of", ERR_UNSUPPORTED,
                               "above n asks for something that this server does not offer",
                               err);
    }
    return st;
}

static enum status read_n(struct api_request *r, const struct json_input *in,
                          struct error *err) {
    int64_t n = 1;
    enum status st = json_input_int(&n, in, "n", 1, LIMIT_CHOICES, err);
    if (st) return st;

    int64_t n_answers = n * (r->n_prompts > 0 ? r->n_prompts : 1);
    if (n_answers > LIMIT_CHOICES) {
        char what[96];
        snprintf(what, sizeof(what), "asks for %d answers in all; the limit is %d",
                 (int)n_answers, LIMIT_CHOICES);
        return json_input_refuse(in, r->n_prompts > 1 ? "prompt" : "n", ERR_LIMIT, what,
                                 err);
    }
    r->n = (int)n;
    return read_best_of(r, in, err);
}

static enum status read_stream(struct api_request *r, const struct json_input *in,
                               struct error *err) {
    struct json_input options = {json_input_find(in, "stream_options"), "stream_options."};

    enum status st = json_input_bool(&r->stream, in, "stream", err);
    if (st || !options.object) return st;
    if (!json_is_object(options.object)) {
        return json_input_refuse(in, "stream_options", ERR_INPUT, "must be an object", err);
    }
    return json_input_bool(&r->include_usage, &options, "include_usage", err);
}

static enum status read_cache_salt(struct api_request *r, const struct json_input *in,
                                   struct error *err) {
    size_t n_bytes;
    return json_input_string(&r->cache_salt, &n_bytes, in, "cache_salt", err);
}

enum status api_request_parse(struct api_request *r, enum route route, const char *bytes,
                              size_t n_bytes, const struct api_model *model,
                              const struct log *log, struct arena *arena,
                              struct error *err) {
    memset(r, 0, sizeof(*r));
    r->route = route;
    enum status st = json_input_parse(&r->body, bytes, n_bytes, err);
    if (st) return st;

    struct json_input in = {r->body, ""};
    st = read_model(r, &in, err);
    if (!st && route == ROUTE_CHAT) st = api_chat_read(r, &in, arena, err);
    if (!st && route == ROUTE_COMPLETIONS) {
        st = api_completions_read(r, &in, model->n_vocab, arena, err);
    }
    if (!st) st = api_sampling_read(r, &in, model, arena, err);
    if (!st) st = read_n(r, &in, err);
    if (!st) st = read_stream(r, &in, err);
    if (!st) st = read_cache_salt(r, &in, err);
    if (!st) st = api_fields_check(&in, log, err);
    if (st) api_request_free(r);
    return st;
}

void api_request_free(struct api_request *r) {
    json_decref(r->body);
    memset(r, 0, sizeof(*r));
}
