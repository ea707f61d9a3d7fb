// Fields of a file that anyone may have edited.
#include "common/data_record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_size.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/utf8.h"

// ---- documents ----------------------------------------------------------------------------------

enum status data_document(json_t **root, const char *bytes, size_t n_bytes,
                          size_t max_bytes, const char *file, struct error *err) {
    json_error_t at;
    *root = NULL;
    if (n_bytes > max_bytes)
        return error_set(err, ERR_LIMIT, "%s: above %zu bytes", file, max_bytes);
    if (json_size_of(bytes, n_bytes) != JSON_FITS)
        return error_set(err, ERR_LIMIT,
                         "%s: more than %d values, or deeper than %d levels", file,
                         LIMIT_JSON_VALUES, LIMIT_JSON_DEPTH);

    *root = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, &at);
    if (*root) return OK;
    // Without memory, jansson falls silent, or blames the text: then so do we.
    if (!*at.text || json_error_code(&at) == json_error_out_of_memory)
        return error_set(err, ERR_MEMORY, "%s: no memory for it", file);
    return error_set(err, ERR_FORMAT, "%s:%d: not JSON: %s", file, at.line, at.text);
}

enum status data_document_open(json_t **root, const char *path, size_t max_bytes,
                               struct error *err) {
    struct mapped_file file;
    *root = NULL;
    enum status st = mapped_file_open(&file, path, err);
    if (st != OK) return st;
    st = data_document(root, file.bytes ? (const char *)file.bytes : "", file.n_bytes,
                       max_bytes, error_path(path), err);
    mapped_file_close(&file);
    return st;
}

enum status data_list(const json_t **records, size_t *n, const json_t *root,
                      const char *list, size_t max_records, const char *file,
                      struct error *err) {
    *records = json_object_get(root, list);
    *n = json_array_size(*records);
    if (!json_is_array(*records) || *n == 0)
        return error_set(err, ERR_FORMAT, "%s: has no list \"%s\"", file, list);
    if (*n > max_records)
        return error_set(err, ERR_LIMIT, "%s: more than %zu %s", file, max_records, list);
    return OK;
}

// ---- fields -------------------------------------------------------------------------------------

enum status data_refuse(const struct data_record *r, const char *field, const char *what,
                        struct error *err) {
    return error_set_param(err, ERR_FORMAT, field, "%s: %s[%zu].%s %s", r->file, r->list,
                           r->i, field, what);
}

enum status data_check_fields(const struct data_record *r, const char *known,
                              const char *what, struct error *err) {
    const char *field;
    json_t *value;
    if (!json_is_object(r->object))
        return error_set(err, ERR_FORMAT, "%s: %s[%zu] is not an object", r->file, r->list,
                         r->i);
    json_object_foreach((json_t *)r->object, field, value) {
        char word[24];
        int n = snprintf(word, sizeof(word), " %s ", field);
        if (n >= (int)sizeof(word) || !strstr(known, word))
            return data_refuse(r, field, what, err);
    }
    return OK;
}

static bool is_printable(const char *text, size_t n_bytes) {
    size_t n_used;
    for (size_t i = 0; i < n_bytes; i += n_used) {
        if (utf8_is_control(utf8_next(text + i, n_bytes - i, &n_used))) return false;
    }
    return true;
}

enum status data_text(const char **text, const struct data_record *r, const char *field,
                      struct error *err) {
    const json_t *value = json_object_get(r->object, field);
    *text = "";
    if (!value || json_is_null(value)) return OK;
    if (!json_is_string(value))
        return data_refuse(r, field, "must be a string or null", err);
    if (!is_printable(json_string_value(value), json_string_length(value)))
        return data_refuse(r, field, "holds control characters", err);
    *text = json_string_value(value);
    return OK;
}

enum status data_date(const char **date, const struct data_record *r, const char *field,
                      struct error *err) {
    char full[DATE_BYTES];
    enum status st = data_text(date, r, field, err);
    if (st == OK && **date && !date_in_full(full, *date))
        st = data_refuse(r, field, "must be a date such as \"2025-02\" or \"2025-02-28\"",
                         err);
    return st;
}

enum status data_number(int64_t *number, const struct data_record *r, const char *field,
                        int64_t low, int64_t high, struct error *err) {
    const json_t *value = json_object_get(r->object, field);
    char what[80];
    if (!value || json_is_null(value)) return OK;
    snprintf(what, sizeof(what),
             "must be a whole number from %" PRId64 " to %" PRId64 ", or null", low, high);
    if (!json_is_integer(value) || json_integer_value(value) < low ||
        json_integer_value(value) > high)
        return data_refuse(r, field, what, err);
    *number = json_integer_value(value);
    return OK;
}

enum status data_flag(bool *flag, const struct data_record *r, const char *field,
                      struct error *err) {
    const json_t *value = json_object_get(r->object, field);
    if (!value || json_is_null(value)) return OK;
    if (!json_is_boolean(value)) return data_refuse(r, field, "must be true or false", err);
    *flag = json_is_true(value);
    return OK;
}

enum status data_name(const char **name, const struct data_record *r, const char *field,
                      struct error *err) {
    enum status st = data_text(name, r, field, err);
    if (st != OK) return st;
    size_t n_plain = strspn(*name, "abcdefghijklmnopqrstuvwxyz0123456789-.");
    if (**name && !(*name)[n_plain]) return OK;
    return data_refuse(r, field, "must be lower-case letters, digits, '-' and '.'", err);
}

// ---- dates --------------------------------------------------------------------------------------

static bool has_shape(const char *text, const char *shape) { // '0': any digit
    for (; *text && *shape; text++, shape++) {
        bool fits = *shape == '0' ? isdigit((unsigned char)*text) : *text == *shape;
        if (!fits) return false;
    }
    return !*text && !*shape;
}

bool date_in_full(char full[DATE_BYTES], const char *text) {
    static const char rest[] = "0000-01-01";
    bool fits = has_shape(text, "0000") || has_shape(text, "0000-00") ||
                has_shape(text, "0000-00-00");
    if (!fits) return false;
    snprintf(full, DATE_BYTES, "%s%s", text, rest + strlen(text));
    int month = atoi(full + 5), day = atoi(full + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
