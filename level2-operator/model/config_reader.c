// The words and the checks that all keys have in common.
#include "level2-operator/model/config_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "level2-operator/gguf/gguf_place.h"
#include "level2-operator/gguf/gguf_value.h"

enum status config_refuse(const struct config_reader *r, enum status code, const char *key,
                          const char *format, ...) {
    char what[128], place[PLACE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    gguf_place_key(place, r->g, r->file, key);
    return error_set_param(r->err, code, key, "%s: %s", place, what);
}

const struct gguf_value *config_find(const struct config_reader *r, char *key,
                                     const char *suffix) {
    snprintf(key, CONFIG_KEY_BYTES, "%s.%s", r->arch, suffix);
    return gguf_find(r->g, key);
}

static enum status read_number(const struct config_reader *r, const char *key,
                               const struct gguf_value *v, uint64_t *number) {
    struct gguf_value item;
    uint64_t other;

    if (gguf_get_u64(v, number)) return OK;
    if (!gguf_item(v, 0, &item) || !gguf_get_u64(&item, number))
        return config_refuse(r, ERR_FORMAT, key, "must be a whole number, not negative");
    if (v->n_items != (uint64_t)r->n_layers)
        return config_refuse(r, ERR_FORMAT, key, "%llu items for %d layers",
                             (unsigned long long)v->n_items, r->n_layers);
    for (uint64_t i = 1; gguf_item(v, i, &item); i++) {
        if (!gguf_get_u64(&item, &other) || other != *number)
            return config_refuse(r, ERR_UNSUPPORTED, key,
                                 "layer %d differs from layer 0; not supported yet",
                                 (int)i);
    }
    return OK;
}

enum status config_read_int(const struct config_reader *r, const char *suffix, int high,
                            int *out) {
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, suffix);
    uint64_t number;
    enum status st;

    if (!v && *out) return OK;
    if (!v) return config_refuse(r, ERR_FORMAT, key, "missing");
    if ((st = read_number(r, key, v, &number)) != OK) return st;
    if (number < 1 || number > (uint64_t)high)
        return config_refuse(r, ERR_FORMAT, key, "%llu is not in 1 .. %d",
                             (unsigned long long)number, high);
    *out = (int)number;
    return OK;
}

enum status config_read_real(const struct config_reader *r, const char *suffix,
                             float *out) {
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, suffix);
    double number;

    if (!v && *out > 0) return OK;
    if (!v) return config_refuse(r, ERR_FORMAT, key, "missing");
    if (!gguf_get_f64(v, &number))
        return config_refuse(r, ERR_FORMAT, key, "must be a number");
    *out = (float)number;
    if (!isfinite(*out) || *out <= 0)
        return config_refuse(r, ERR_FORMAT, key, "%g is not a positive number", number);
    return OK;
}

enum status config_refuse_unless(const struct config_reader *r, const char *suffix,
                                 double neutral) {
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, suffix);
    double number;

    if (!v || (gguf_get_f64(v, &number) && number == neutral)) return OK;
    return config_refuse(r, ERR_UNSUPPORTED, key, "not supported yet; only %g is", neutral);
}
