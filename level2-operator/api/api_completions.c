// The prompts of a /v1/completions request: a string, ids, or a list of either.
#include "level2-operator/api/api_request.h"

#include <stdio.h>

static enum status refuse_shape(const struct json_input *in, struct error *err) {
    return json_input_refuse(
        in, "prompt", ERR_INPUT,
        "must be a string, token ids, or a list of either, and not empty", err);
}

enum status api_ids_read(const token_id **ids, int *n_ids, const json_t *array,
                         const struct json_input *in, const char *name, int n_vocab,
                         struct arena *arena, struct error *err) {
    size_t n = json_array_size(array);
    char what[80];

    if (!json_is_array(array)) {
        return json_input_refuse(in, name, ERR_INPUT, "must be an array of token ids", err);
    }
    token_id *all = ARENA_NEW(arena, token_id, n);
    if (!all) return error_set(err, ERR_MEMORY, "no memory for %zu token ids", n);

    for (size_t i = 0; i < n; i++) {
        const json_t *id = json_array_get(array, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) >= n_vocab) {
            snprintf(what, sizeof(what), "must hold token ids from 0 to %d", n_vocab - 1);
            return json_input_refuse(in, name, ERR_INPUT, what, err);
        }
        all[i] = (token_id)json_integer_value(id);
    }
    *ids = all;
    *n_ids = (int)n; // a body holds at most LIMIT_JSON_VALUES
    return OK;
}

// value: a string or a non-empty array of ids.
static enum status read_prompt(struct api_prompt *p, const json_t *value,
                               const struct json_input *in, int n_vocab,
                               struct arena *arena, struct error *err) {
    if (json_is_string(value)) {
        p->text = json_string_value(value);
        p->n_text = json_string_length(value);
        return OK;
    }
    if (json_array_size(value) == 0) return refuse_shape(in, err);
    return api_ids_read(&p->ids, &p->n_ids, value, in, "prompt", n_vocab, arena, err);
}

// Strings and arrays of ids may stand in a list; bare numbers are one prompt.
static bool is_list_of_prompts(const json_t *value) {
    const json_t *first = json_array_get(value, 0);
    return json_is_string(first) || json_is_array(first);
}

enum status api_completions_read(struct api_request *r, const struct json_input *in,
                                 int n_vocab, struct arena *arena, struct error *err) {
    const json_t *value = json_input_find(in, "prompt");
    bool is_list = is_list_of_prompts(value);
    size_t n = is_list ? json_array_size(value) : 1;
    enum status st = OK;

    if (!value) return refuse_shape(in, err);
    if (n > LIMIT_CHOICES)
        return json_input_refuse_count(in, "prompt", n, LIMIT_CHOICES, err);
    r->prompts = ARENA_NEW(arena, struct api_prompt, n);
    if (!r->prompts) return error_set(err, ERR_MEMORY, "no memory for %zu prompts", n);
    r->n_prompts = (int)n;

    for (size_t i = 0; i < n && !st; i++) {
        const json_t *prompt = is_list ? json_array_get(value, i) : value;
        st = read_prompt(&r->prompts[i], prompt, in, n_vocab, arena, err);
    }
    return st;
}
