// One row for each field; the rows drive reading, checking and printing.
#include "level2-operator/model/sampling_defaults.h"

#include <math.h>
#include <stdio.h>

#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/config_reader.h"

static const struct {
    const char *name, *key;
    double low, high; // as in a request
    bool is_whole;
} fields[SAMPLING_FIELDS] = {
    [SAMPLING_TEMPERATURE] = {"temperature",        "general.sampling.temp",           0,    2,         false},
    [SAMPLING_TOP_K] = {"top_k",              "general.sampling.top_k",          -1,   INT32_MAX, true },
    [SAMPLING_TOP_P] = {"top_p",              "general.sampling.top_p",          0,    1,         false},
    [SAMPLING_MIN_P] = {"min_p",              "general.sampling.min_p",          0,    1,         false},
    [SAMPLING_REPETITION] = {"repetition_penalty", "general.sampling.penalty_repeat", 0.01,
                              100,                                                                      false},
};

void sampling_defaults_init(struct sampling_defaults *d) {
    struct sampling api;
    sampling_init(&api);
    *d = (struct sampling_defaults){
        .value = {[SAMPLING_TEMPERATURE] = (double)api.temperature,
                  [SAMPLING_TOP_K] = api.top_k,
                  [SAMPLING_TOP_P] = (double)api.top_p,
                  [SAMPLING_MIN_P] = (double)api.min_p,
                  [SAMPLING_REPETITION] = (double)api.repetition_penalty}
    };
}

static enum status read_field(struct sampling_defaults *d, const struct config_reader *r,
                              enum sampling_field i) {
    const struct gguf_key *key = gguf_find_key(r->g, fields[i].key);
    double number;

    if (!key) return OK;
    if (!gguf_get_f64(&key->value, &number))
        return config_refuse(r, ERR_FORMAT, fields[i].key, "must be a number");
    if (fields[i].is_whole && number != floor(number))
        return config_refuse(r, ERR_FORMAT, fields[i].key, "%g is no whole number", number);
    if (!(number >= fields[i].low && number <= fields[i].high))
        return config_refuse(r, ERR_FORMAT, fields[i].key, "%g is not in %g .. %.10g",
                             number, fields[i].low, fields[i].high);
    d->value[i] = i == SAMPLING_TOP_K && number < 0 ? 0 : number; // two ways to say off
    d->from[i] = key->spelled ? key->spelled : fields[i].key;
    return OK;
}

enum status sampling_defaults_read(struct sampling_defaults *d, const struct gguf *g,
                                   const char *file, struct error *err) {
    const struct config_reader r = {.g = g, .file = file, .err = err};
    enum status st = OK;

    sampling_defaults_init(d);
    for (int i = 0; st == OK && i < SAMPLING_FIELDS; i++)
        st = read_field(d, &r, (enum sampling_field)i);
    return st;
}

bool sampling_defaults_differ(const struct sampling_defaults *d) {
    for (int i = 0; i < SAMPLING_FIELDS; i++)
        if (d->from[i]) return true;
    return false;
}

void sampling_defaults_apply(const struct sampling_defaults *d, struct sampling *s) {
    s->temperature = (float)d->value[SAMPLING_TEMPERATURE];
    s->top_k = (int)d->value[SAMPLING_TOP_K];
    s->top_p = (float)d->value[SAMPLING_TOP_P];
    s->min_p = (float)d->value[SAMPLING_MIN_P];
    s->repetition_penalty = (float)d->value[SAMPLING_REPETITION];
}

const char *sampling_field_name(enum sampling_field field) {
    return fields[field].name;
}

const char *sampling_defaults_text(const struct sampling_defaults *d,
                                   char text[SAMPLING_TEXT_BYTES]) {
    size_t n = 0;
    for (int i = 0; i < SAMPLING_FIELDS && n < SAMPLING_TEXT_BYTES; i++)
        n += (size_t)snprintf(text + n, SAMPLING_TEXT_BYTES - n, "%s%s=%g", i ? " " : "",
                              fields[i].name, d->value[i]);
    return text;
}
