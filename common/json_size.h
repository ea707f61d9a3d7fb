// How large a JSON text from a stranger would be once it is parsed: asked before a library, which
// recurses and allocates, sees a byte of it. A list takes three bytes of text and over a hundred of
// memory, so a limit of bytes alone does not hold.
#ifndef COMMON_JSON_SIZE_H
#define COMMON_JSON_SIZE_H

#include <stddef.h>

enum json_size {
    JSON_FITS,
    JSON_TOO_DEEP, // nests deeper than LIMIT_JSON_DEPTH
    JSON_TOO_MANY  // holds more values than it may
};

// Counts brackets and commas outside of strings. Whether they match is the library's question.
enum json_size json_size_of(const char *bytes, size_t n_bytes); // LIMIT_JSON_VALUES
enum json_size json_size_within(const char *bytes, size_t n_bytes, size_t max_values);

#endif
