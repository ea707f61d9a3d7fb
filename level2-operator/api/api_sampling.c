// The fields that say how tokens are drawn and when an answer ends.
#include "level2-operator/api/api_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// OpenAI's rules for /v1/completions.
enum { LEGACY_MAX_TOKENS = 16, LEGACY_TOP_LOGPROBS = 5 };

// A field of struct sampling with its range in the API.
static enum status read_floats(struct sampling *s, const struct json_input *in,
                               struct error *err) {
    const struct {
        const char *name;
        float *value;
        double low, high;
    } fields[] = {
        {"temperature",        &s->temperature,        0,    2  },
        {"top_p",              &s->top_p,              0,    1  },
        {"min_p",              &s->min_p,              0,    1  },
        {"frequency_penalty",  &s->frequency_penalty,  -2,   2  },
        {"presence_penalty",   &s->presence_penalty,   -2,   2  },
        {"repetition_penalty", &s->repetition_penalty, 0.01, 100},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        double value = (double)*fields[i].value;
        enum status st = json_input_double(&value, in, fields[i].name, fields[i].low,
                                           fields[i].high, err);
        if (st) return st;
        *fields[i].value = (float)value;
    }
    return OK;
}

// "191222" -> id. Strict, so that no id can come twice under two spellings.
static bool read_id(token_id *id, const char *text, int n_vocab) {
    char again[16];
    long value = strtol(text, NULL, 10);

    if (value < 0 || value >= n_vocab) return false;
    snprintf(again, sizeof(again), "%ld", value);
    *id = (token_id)value;
    return strcmp(again, text) == 0;
}

static enum status read_bias(struct sampling *s, const struct json_input *in, int n_vocab,
                             struct arena *arena, struct error *err) {
    const json_t *map = json_input_find(in, "logit_bias");
    const char *key;
    json_t *value;
    char what[96];
    int n = 0;

    if (!map) return OK;
    if (!json_is_object(map) || json_object_size(map) > LIMIT_LOGIT_BIAS) {
        snprintf(what, sizeof(what), "must be an object of at most %d token ids",
                 LIMIT_LOGIT_BIAS);
        return json_input_refuse(in, "logit_bias", ERR_INPUT, what, err);
    }
    struct logit_bias *bias = ARENA_NEW(arena, struct logit_bias, json_object_size(map));
    if (!bias) return error_set(err, ERR_MEMORY, "no memory for logit_bias");

    json_object_foreach((json_t *)map, key, value) { // only reads
        double number = json_number_value(value);
        if (!read_id(&bias[n].token, key, n_vocab)) {
            snprintf(what, sizeof(what), "must name token ids from 0 to %d", n_vocab - 1);
            return json_input_refuse(in, "logit_bias", ERR_INPUT, what, err);
        }
        if (!json_is_number(value) || number < -100 || number > 100) {
            return json_input_refuse(in, "logit_bias", ERR_INPUT,
                                     "must hold numbers from -100 to 100", err);
        }
        bias[n++].bias = (float)number;
    }
    s->bias = bias;
    s->n_bias = n;
    return OK;
}

static enum status read_seed(struct api_request *r, const struct json_input *in,
                             struct error *err) {
    int64_t seed = 0;
    r->has_seed = json_input_find(in, "seed") != NULL;
    enum status st = json_input_int(&seed, in, "seed", INT64_MIN, INT64_MAX, err);
    r->params.sampling.seed = (uint64_t)seed;
    return st;
}

// max_completion_tokens is the newer name and wins. Above what the context leaves is no error: the
// engine cuts it and the answer ends with "length".
static enum status read_counts(struct api_request *r, const struct json_input *in,
                               struct error *err) {
    int64_t max = r->route == ROUTE_COMPLETIONS ? LEGACY_MAX_TOKENS : 0;
    int64_t min = 0, top_k = r->params.sampling.top_k;

    enum status st = json_input_int(&max, in, "max_tokens", 1, LIMIT_CONTEXT, err);
    if (!st) st = json_input_int(&max, in, "max_completion_tokens", 1, LIMIT_CONTEXT, err);
    if (!st) st = json_input_int(&min, in, "min_tokens", 0, LIMIT_CONTEXT, err);
    if (!st) st = json_input_int(&top_k, in, "top_k", -1, INT32_MAX, err);
    if (st) return st;
    if (max && min > max) {
        return json_input_refuse(in, "min_tokens", ERR_INPUT,
                                 "must not be above max_tokens", err);
    }
    r->params.max_tokens = (int)max;
    r->params.min_tokens = (int)min;
    r->params.sampling.top_k = top_k < 0 ? 0 : (int)top_k; // some clients say -1 for off
    return OK;
}

// Chat: a switch and a count. Completions: the count alone.
static enum status read_logprobs(struct api_request *r, const struct json_input *in,
                                 struct error *err) {
    bool wanted = false;
    int64_t n_top = -1;
    enum status st;

    r->params.n_top_logprobs = -1;
    if (r->route == ROUTE_COMPLETIONS) {
        st = json_input_int(&n_top, in, "logprobs", 0, LEGACY_TOP_LOGPROBS, err);
        r->params.n_top_logprobs = (int)n_top;
        return st;
    }
    st = json_input_bool(&wanted, in, "logprobs", err);
    if (!st) st = json_input_int(&n_top, in, "top_logprobs", 0, LIMIT_TOP_LOGPROBS, err);
    if (st) return st;
    if (n_top > 0 && !wanted) {
        return json_input_refuse(in, "top_logprobs", ERR_INPUT, "needs logprobs true", err);
    }
    if (wanted) r->params.n_top_logprobs = n_top < 0 ? 0 : (int)n_top;
    return OK;
}

static enum status add_stop(struct api_request *r, const json_t *value,
                            const struct json_input *in, struct error *err) {
    char what[96];

    if (!json_is_string(value) || json_string_length(value) == 0 ||
        json_string_length(value) > LIMIT_STOP_BYTES) {
        snprintf(what, sizeof(what), "must hold strings of 1 to %d bytes",
                 LIMIT_STOP_BYTES);
        return json_input_refuse(in, "stop", ERR_INPUT, what, err);
    }
    r->stops[r->n_stops++] =
        (struct stop_string){json_string_value(value), json_string_length(value)};
    return OK;
}

static enum status read_stops(struct api_request *r, const struct json_input *in,
                              struct error *err) {
    const json_t *value = json_input_find(in, "stop");
    size_t n = json_array_size(value);
    enum status st = OK;
    char what[96];

    if (!value) return OK;
    if (json_is_string(value)) return add_stop(r, value, in, err);
    if (!json_is_array(value) || n > LIMIT_STOP_STRINGS) {
        snprintf(what, sizeof(what), "must be a string or an array of up to %d strings",
                 LIMIT_STOP_STRINGS);
        return json_input_refuse(in, "stop", ERR_INPUT, what, err);
    }
    for (size_t i = 0; i < n && !st; i++)
        st = add_stop(r, json_array_get(value, i), in, err);
    return st;
}

static enum status read_stop_ids(struct api_request *r, const struct json_input *in,
                                 int n_vocab, struct arena *arena, struct error *err) {
    const json_t *ids = json_input_find(in, "stop_token_ids");

    if (!ids) return OK;
    size_t n = json_array_size(ids);
    if (n > LIMIT_STOP_IDS)
        return json_input_refuse_count(in, "stop_token_ids", n, LIMIT_STOP_IDS, err);
    return api_ids_read(&r->params.stop_ids, &r->params.n_stop_ids, ids, in,
                        "stop_token_ids", n_vocab, arena, err);
}

enum status api_sampling_read(struct api_request *r, const struct json_input *in,
                              const struct api_model *model, struct arena *arena,
                              struct error *err) {
    bool skip_special = true;

    engine_params_init(&r->params);
    if (model->sampling) sampling_defaults_apply(model->sampling, &r->params.sampling);
    enum status st = read_floats(&r->params.sampling, in, err);
    if (!st) st = read_bias(&r->params.sampling, in, model->n_vocab, arena, err);
    if (!st) st = read_seed(r, in, err);
    if (!st) st = read_counts(r, in, err);
    if (!st) st = read_logprobs(r, in, err);
    if (!st) st = read_stops(r, in, err);
    if (!st) st = read_stop_ids(r, in, model->n_vocab, arena, err);
    if (!st) st = json_input_bool(&r->params.ignore_eos, in, "ignore_eos", err);
    if (!st) st = json_input_bool(&r->include_stop, in, "include_stop_str_in_output", err);
    if (!st) st = json_input_bool(&skip_special, in, "skip_special_tokens", err);
    r->show_special = !skip_special;
    return st;
}
