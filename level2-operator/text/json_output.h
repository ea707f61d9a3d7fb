// JSON into a buffer. Small values are made with jansson; what may be large is written around them,
// so that an answer never stands in memory a second time as a tree.
#ifndef LEVEL2_JSON_OUTPUT_H
#define LEVEL2_JSON_OUTPUT_H

#include <jansson.h>

#include "level2-operator/text/buffer.h"

// Appends the value and takes its reference. NULL, a failed allocation, fails the buffer.
void json_output(struct buffer *out, json_t *value);

// The same for an object with members, but leaves it open: more can follow after a comma, and the
// caller writes the closing brace.
void json_output_open(struct buffer *out, json_t *object);

// A string that may be no UTF-8 (wrong bytes become U+FFFD) and may hold NUL. NULL: no memory.
json_t *json_output_text(const char *bytes, size_t n_bytes);

#endif
