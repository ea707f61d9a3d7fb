// Four dialects of one thing.
#include "level1-user/usage_record.h"

#include <jansson.h>

static const json_int_t MAX_TOKENS = ((json_int_t)1 << 53) - 1;

static bool is_told(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return value && !json_is_null(value);
}

// *n: 0 when the field is absent or null.
static enum status read_count(int64_t *n, const json_t *object, const char *field,
                              struct error *err) {
    const json_t *value = json_object_get(object, field);
    *n = 0;
    if (!is_told(object, field)) return OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > MAX_TOKENS)
        return error_set_param(err, ERR_FORMAT, field,
                               "%s must be a whole number from 0 to 2^53 - 1", field);
    *n = json_integer_value(value);
    return OK;
}

static enum status read_told(int64_t *n, const json_t *object, const char *field,
                             struct error *err) {
    if (!is_told(object, field))
        return error_set_param(err, ERR_FORMAT, field, "%s is not told", field);
    return read_count(n, object, field, err);
}

// cached_tokens inside an object of details, which may be absent.
static enum status read_details(int64_t *cached, const json_t *usage, const char *field,
                                struct error *err) {
    const json_t *details = json_object_get(usage, field);
    if (is_told(usage, field) && !json_is_object(details))
        return error_set_param(err, ERR_FORMAT, field, "%s must be an object", field);
    return read_count(cached, details, "cached_tokens", err);
}

static bool tells_tokens(const json_t *usage, const char *field) {
    const json_t *value = json_object_get(usage, field);
    if (json_is_object(value)) value = json_object_get(value, "cached_tokens");
    bool is_zero = json_is_integer(value) && json_integer_value(value) == 0;
    return value && !json_is_null(value) && !is_zero;
}

// What the cache did, in the words of an API that is not the one of the other counts: passing it over
// would make a wrong bill. foreign: ends with NULL.
static enum status refuse_foreign(const json_t *usage, const char *const *foreign,
                                  struct error *err) {
    for (; *foreign; foreign++) {
        if (tells_tokens(usage, *foreign))
            return error_set_param(err, ERR_FORMAT, *foreign,
                                   "has the words of two APIs: %s is not one of them here",
                                   *foreign);
    }
    return OK;
}

static enum status read_chat(struct invoice_usage *used, const json_t *usage,
                             struct error *err) {
    static const char *const foreign[] = {"input_tokens_details", "cache_read_input_tokens",
                                          "cache_creation_input_tokens", NULL};
    const json_t *details = json_object_get(usage, "prompt_tokens_details");
    int64_t hit = 0, miss = 0;
    bool is_split = is_told(usage, "prompt_cache_miss_tokens");
    enum status st = refuse_foreign(usage, foreign, err);
    if (st == OK) st = read_told(&used->input, usage, "prompt_tokens", err);
    if (st == OK) st = read_told(&used->output, usage, "completion_tokens", err);
    if (st == OK) st = read_details(&used->cached, usage, "prompt_tokens_details", err);
    if (st == OK) st = read_count(&hit, usage, "prompt_cache_hit_tokens", err);
    if (st == OK) st = read_count(&miss, usage, "prompt_cache_miss_tokens", err);
    if (st != OK) return st;

    if (is_split && hit + miss != used->input)
        return error_set(err, ERR_FORMAT, "cache hit and miss are not prompt_tokens");
    if (is_told(usage, "prompt_cache_hit_tokens") && is_told(details, "cached_tokens") &&
        hit != used->cached)
        return error_set(err, ERR_FORMAT,
                         "cached_tokens and prompt_cache_hit_tokens differ");
    if (hit) used->cached = hit;
    return OK;
}

static enum status read_parts(struct invoice_usage *used, const json_t *usage,
                              struct error *err) {
    static const char *const foreign[] = {
        "prompt_tokens_details", "prompt_cache_hit_tokens", "input_tokens_details", NULL};
    int64_t rest = 0;
    enum status st = refuse_foreign(usage, foreign, err);
    if (st == OK) st = read_told(&rest, usage, "input_tokens", err);
    if (st == OK) st = read_told(&used->output, usage, "output_tokens", err);
    if (st == OK) st = read_count(&used->cached, usage, "cache_read_input_tokens", err);
    if (st == OK)
        st = read_count(&used->cache_write, usage, "cache_creation_input_tokens", err);
    // Three numbers below 2^53: no sum of them is too large.
    used->input = rest + used->cached + used->cache_write;
    return st;
}

static enum status read_responses(struct invoice_usage *used, const json_t *usage,
                                  struct error *err) {
    static const char *const foreign[] = {"prompt_tokens_details",
                                          "prompt_cache_hit_tokens", NULL};
    enum status st = refuse_foreign(usage, foreign, err);
    if (st == OK) st = read_told(&used->input, usage, "input_tokens", err);
    if (st == OK) st = read_told(&used->output, usage, "output_tokens", err);
    return st == OK ? read_details(&used->cached, usage, "input_tokens_details", err) : st;
}

static enum status read_usage(struct invoice_usage *used, const json_t *usage,
                              struct error *err) {
    bool is_chat = is_told(usage, "prompt_tokens"),
         is_parts = is_told(usage, "cache_read_input_tokens") ||
                    is_told(usage, "cache_creation_input_tokens");
    if (!is_chat && !is_told(usage, "input_tokens"))
        return error_set(err, ERR_FORMAT, "no usage in it: what it cost is not known");
    if (is_chat && is_told(usage, "input_tokens"))
        return error_set(err, ERR_FORMAT, "has both prompt_tokens and input_tokens");
    return is_chat    ? read_chat(used, usage, err)
           : is_parts ? read_parts(used, usage, err)
                      : read_responses(used, usage, err);
}

enum status usage_record_parse(struct invoice_usage *used, const char *bytes,
                               size_t n_bytes, struct error *err) {
    json_error_t at;
    *used = (struct invoice_usage){0};
    json_t *root = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, &at);
    // Without memory, jansson falls silent, or blames the text: then so do we.
    if (!root && (!*at.text || json_error_code(&at) == json_error_out_of_memory))
        return error_set(err, ERR_MEMORY, "no memory for it");
    if (!root) return error_set(err, ERR_FORMAT, "not a JSON object: %s", at.text);

    const json_t *inside = json_object_get(root, "usage");
    enum status st = read_usage(used, inside ? inside : root, err);
    if (st == OK && invoice_usage_check(used, err) != OK) st = ERR_FORMAT;
    if (st == ERR_FORMAT && err) err->code = st;
    json_decref(root);
    return st;
}
