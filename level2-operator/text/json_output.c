// JSON into a buffer.
#include "level2-operator/text/json_output.h"

#include <stdlib.h>

#include "common/utf8.h"

// Nine digits give a float back exactly; more would be noise.
enum { STYLE = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) };

enum { REPAIRED_BYTES = 3 }; // U+FFFD for one wrong byte

static int put_bytes(const char *bytes, size_t n_bytes, void *out) {
    return buffer_put(out, bytes, n_bytes) ? 0 : -1;
}

void json_output(struct buffer *out, json_t *value) {
    if (!value || json_dump_callback(value, put_bytes, out, STYLE) != 0) out->failed = true;
    json_decref(value);
}

void json_output_open(struct buffer *out, json_t *object) {
    json_output(out, object);
    if (!out->failed) out->n_bytes--; // the closing brace
}

json_t *json_output_text(const char *bytes, size_t n_bytes) {
    if (n_bytes == 0) return json_string("");
    if (utf8_valid(bytes, n_bytes)) return json_stringn(bytes, n_bytes);

    char *repaired = malloc(REPAIRED_BYTES * n_bytes);
    if (!repaired) return NULL;
    json_t *text = json_stringn(repaired, utf8_repair(repaired, bytes, n_bytes));
    free(repaired);
    return text;
}
