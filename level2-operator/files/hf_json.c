// The library behind a door: what it would choke on, or be made to choke on, is refused before.
#include "level2-operator/files/hf_json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/json_size.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/utf8.h"

enum status hf_json_refuse(struct error *err, enum status code, const char *file,
                           const char *field, const char *format, ...) {
    char what[160];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return error_set_param(err, code, field, "%s: %s: %s", file, field, what);
}

// The first byte that is not part of a valid character.
static size_t first_broken(const char *bytes, size_t n_bytes) {
    size_t pos = 0, n_used;
    while (pos < n_bytes && utf8_next(bytes + pos, n_bytes - pos, &n_used) >= 0)
        pos += n_used;
    return pos;
}

static enum status check_text(const char *bytes, size_t n_bytes, size_t max_values,
                              const char *file, size_t at, struct error *err) {
    if (!utf8_valid(bytes, n_bytes))
        return error_set(err, ERR_FORMAT, "%s: not UTF-8 at byte %zu", file,
                         at + first_broken(bytes, n_bytes));
    switch (json_size_within(bytes, n_bytes, max_values)) {
    case JSON_TOO_DEEP:
        return error_set(err, ERR_LIMIT,
                         "%s: JSON at byte %zu: nests deeper than %d levels", file, at,
                         LIMIT_JSON_DEPTH);
    case JSON_TOO_MANY:
        return error_set(err, ERR_LIMIT, "%s: JSON at byte %zu: holds more than %zu values",
                         file, at, max_values);
    default:
        return OK;
    }
}

enum status hf_json_parse(json_t **root, const char *bytes, size_t n_bytes,
                          size_t max_values, const char *file, size_t at,
                          struct error *err) {
    json_error_t why;

    *root = NULL;
    enum status st = check_text(bytes, n_bytes, max_values, file, at, err);
    if (st != OK) return st;
    json_t *json = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, &why);
    if (!json) {
        // the library falls silent where it cannot allocate
        if (!why.text[0] || json_error_code(&why) == json_error_out_of_memory)
            return error_set(err, ERR_MEMORY, "%s: no memory for %zu bytes of JSON", file,
                             n_bytes);
        return error_set(err, ERR_FORMAT, "%s: not valid JSON at byte %zu: %s", file,
                         at + (size_t)(why.position > 0 ? why.position : 0), why.text);
    }
    if (!json_is_object(json)) {
        json_decref(json);
        return error_set(err, ERR_FORMAT, "%s: not a JSON object at byte %zu", file, at);
    }
    *root = json;
    return OK;
}

enum status hf_path(char path[LIMIT_PATH_BYTES], const char *folder, const char *name,
                    struct error *err) {
    if (snprintf(path, LIMIT_PATH_BYTES, "%s/%s", folder, name) < LIMIT_PATH_BYTES)
        return OK;
    return error_set(err, ERR_LIMIT, "%s: the path is too long", error_path(folder));
}

enum status hf_json_open(json_t **root, const char *folder, const char *name,
                         size_t max_bytes, size_t max_values, bool is_needed,
                         struct error *err) {
    struct mapped_file map = {0};
    char path[LIMIT_PATH_BYTES];

    *root = NULL;
    enum status st = hf_path(path, folder, name, err);
    if (st != OK) return st;
    if (!is_needed && access(path, F_OK) != 0 && errno == ENOENT) return OK;
    if ((st = mapped_file_open(&map, path, err)) != OK) return st;
    if (map.n_bytes > max_bytes) {
        st = error_set(err, ERR_LIMIT, "%s: %zu bytes, the limit is %zu", error_path(path),
                       map.n_bytes, max_bytes);
    } else {
        st = hf_json_parse(root, map.bytes ? (const char *)map.bytes : "", map.n_bytes,
                           max_values, error_path(path), 0, err);
    }
    mapped_file_close(&map);
    return st;
}
