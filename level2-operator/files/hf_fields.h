// One field of a model folder's JSON at a time: looked up, checked for its type, and given a key's name.
#ifndef LEVEL2_HF_FIELDS_H
#define LEVEL2_HF_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/status.h"
#include "level2-operator/gguf/key_list.h"

enum { HF_KEY_BYTES = 96 };

struct hf_fields {
    struct key_list *keys;
    // borrowed
    const char *folder, *file; // for messages
    const char *arch;          // GGUF's name; in front of most keys
    const json_t *object;
    struct error *err;
};

// The value; NULL when it is absent or null.
const json_t *hf_field(const struct hf_fields *f, const char *field);

// A number becomes the key "ARCH.suffix". Absent and not needed: no key.
enum status hf_field_int(const struct hf_fields *f, const char *field, const char *suffix,
                         bool is_needed);
enum status hf_field_real(const struct hf_fields *f, const char *field, const char *suffix,
                          bool is_needed);

// The key's name, and how the folder spells it.
void hf_field_names(const struct hf_fields *f, const char *field, const char *suffix,
                    char name[HF_KEY_BYTES], char spelled[HF_KEY_BYTES]);

// "folder/config.json: field: what is wrong". Returns code.
enum status hf_field_refuse(const struct hf_fields *f, enum status code, const char *field,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
