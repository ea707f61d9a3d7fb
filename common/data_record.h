// One entry of a list in a data file that anyone may have edited: its fields are checked as they are
// read, and each error says where it stands: "rules.json: rules[2].step_tokens must be ...".
//
//   {"about": "...", "rules": [{"provider": "DeepSeek", ...}, ...]}
//                     list      record 0
#ifndef COMMON_DATA_RECORD_H
#define COMMON_DATA_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct data_record {
    const char *file, *list; // how errors call them
    size_t i;
    const json_t *object; // borrowed
};

// The document of a file. *root is the caller's to json_decref; NULL on failure. ERR_LIMIT: above
// max_bytes. ERR_FORMAT: not JSON, or a key stands twice. ERR_MEMORY.
enum status data_document(json_t **root, const char *bytes, size_t n_bytes,
                          size_t max_bytes, const char *file, struct error *err);

// The same for a file that is not open yet; errors call it error_path(path). Besides: ERR_IO.
enum status data_document_open(json_t **root, const char *path, size_t max_bytes,
                               struct error *err);

// The list of a document. *n: its records, at least one. ERR_FORMAT: there is no such list.
// ERR_LIMIT: more than max_records.
enum status data_list(const json_t **records, size_t *n, const json_t *root,
                      const char *list, size_t max_records, const char *file,
                      struct error *err);

// ERR_FORMAT, with the place in front of what; err->param is field.
enum status data_refuse(const struct data_record *r, const char *field, const char *what,
                        struct error *err);

// ERR_FORMAT: it is no object, or has a field that is not in known: " a b c ", a space around each.
// what: "is not a field of a price".
enum status data_check_fields(const struct data_record *r, const char *known,
                              const char *what, struct error *err);

// *text: "" when the field is absent or null; printable; lives as long as the document.
enum status data_text(const char **text, const struct data_record *r, const char *field,
                      struct error *err);

// The same, and it is a date: "2025", "2025-02" or "2025-02-28".
enum status data_date(const char **date, const struct data_record *r, const char *field,
                      struct error *err);

// A whole number from low to high; *number stays as it is when the field is absent or null.
enum status data_number(int64_t *number, const struct data_record *r, const char *field,
                        int64_t low, int64_t high, struct error *err);

// true or false; *flag stays as it is when the field is absent or null.
enum status data_flag(bool *flag, const struct data_record *r, const char *field,
                      struct error *err);

// A name: lower-case letters, digits, '-' and '.', at least one.
enum status data_name(const char **name, const struct data_record *r, const char *field,
                      struct error *err);

enum { DATE_BYTES = 11 };

// "2025-02" to "2025-02-01", so that dates compare as texts. false: not a date.
bool date_in_full(char full[DATE_BYTES], const char *text);

#endif
