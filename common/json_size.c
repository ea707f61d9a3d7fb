// One pass over the bytes, nothing kept.
#include "common/json_size.h"

#include <stdbool.h>

#include "common/limits.h"

enum json_size json_size_within(const char *bytes, size_t n_bytes, size_t max_values) {
    int depth = 0;
    size_t n_values = 1;
    bool in_string = false;

    for (size_t i = 0; i < n_bytes; i++) {
        char c = bytes[i];
        if (in_string) {
            if (c == '\\') i++; // whatever it escapes does not end the string
            if (c == '"') in_string = false;
            continue;
        }
        if (c == '"') in_string = true;
        if (c == '[' || c == '{') depth++;
        if (c == ']' || c == '}') depth--;
        if (c == '[' || c == '{' || c == ',') n_values++;
        if (depth > LIMIT_JSON_DEPTH) return JSON_TOO_DEEP;
    }
    return n_values > max_values ? JSON_TOO_MANY : JSON_FITS;
}

enum json_size json_size_of(const char *bytes, size_t n_bytes) {
    return json_size_within(bytes, n_bytes, LIMIT_JSON_VALUES);
}
