// Absent and null are the same; every other type than the wanted one is refused by the field's name.
#include "level2-operator/files/hf_fields.h"

#include <stdarg.h>
#include <stdio.h>

#include "level2-operator/files/hf_json.h"

enum { FILE_BYTES = 160 };

enum status hf_field_refuse(const struct hf_fields *f, enum status code, const char *field,
                            const char *format, ...) {
    char what[128], file[FILE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    snprintf(file, sizeof(file), "%s/%s", f->folder, f->file);
    return hf_json_refuse(f->err, code, file, field, "%s", what);
}

const json_t *hf_field(const struct hf_fields *f, const char *field) {
    const json_t *value = json_object_get(f->object, field);
    return json_is_null(value) ? NULL : value;
}

void hf_field_names(const struct hf_fields *f, const char *field, const char *suffix,
                    char name[HF_KEY_BYTES], char spelled[HF_KEY_BYTES]) {
    snprintf(name, HF_KEY_BYTES, "%s.%s", f->arch, suffix);
    snprintf(spelled, HF_KEY_BYTES, "%s: %s", f->file, field);
}

enum status hf_field_int(const struct hf_fields *f, const char *field, const char *suffix,
                         bool is_needed) {
    const json_t *value = hf_field(f, field);
    char name[HF_KEY_BYTES], spelled[HF_KEY_BYTES];

    if (!value && !is_needed) return OK;
    if (!value) return hf_field_refuse(f, ERR_FORMAT, field, "missing");
    if (json_is_array(value))
        return hf_field_refuse(
            f, ERR_UNSUPPORTED, field,
            "one number for each layer is not supported; one for all is");
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return hf_field_refuse(f, ERR_FORMAT, field, "must be a whole number");
    hf_field_names(f, field, suffix, name, spelled);
    key_list_u64(f->keys, name, (uint64_t)json_integer_value(value), spelled);
    return OK;
}

enum status hf_field_real(const struct hf_fields *f, const char *field, const char *suffix,
                          bool is_needed) {
    const json_t *value = hf_field(f, field);
    char name[HF_KEY_BYTES], spelled[HF_KEY_BYTES];

    if (!value && !is_needed) return OK;
    if (!value) return hf_field_refuse(f, ERR_FORMAT, field, "missing");
    if (!json_is_number(value))
        return hf_field_refuse(f, ERR_FORMAT, field, "must be a number");
    hf_field_names(f, field, suffix, name, spelled);
    key_list_f64(f->keys, name, json_number_value(value), spelled);
    return OK;
}
