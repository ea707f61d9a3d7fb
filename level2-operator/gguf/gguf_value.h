// What a parsed GGUF file says, by name and as C numbers. gguf_parse has checked every length; what is
// asked here is whether a value is there, of the wanted kind and in range.
#ifndef LEVEL2_GGUF_VALUE_H
#define LEVEL2_GGUF_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "level2-operator/gguf/gguf.h"

// NULL when there is none.
const struct gguf_key *gguf_find_key(const struct gguf *g, const char *key);
const struct gguf_value *gguf_find(const struct gguf *g, const char *key);
const struct gguf_tensor *gguf_find_tensor(const struct gguf *g, const char *name);

// One value as the wanted kind. false: NULL, not of that kind or out of its range. Integers of any
// width convert; a float does not become an integer.
bool gguf_get_u64(const struct gguf_value *v, uint64_t *out);
bool gguf_get_f64(const struct gguf_value *v, double *out); // F32, F64 and integers
bool gguf_get_bool(const struct gguf_value *v, bool *out);
bool gguf_get_string(const struct gguf_value *v, struct gguf_string *out);

bool gguf_string_is(struct gguf_string s, const char *text);

// Item i of an array, as a value of its own. false: not an array, or i is past the end. Strings
// have no fixed width: walk them with gguf_next_string.
bool gguf_item(const struct gguf_value *array, uint64_t i, struct gguf_value *item);

// Walks an array of strings: *pos starts at 0. false at the end.
bool gguf_next_string(const struct gguf_value *array, uint64_t *pos,
                      struct gguf_string *out);

const char *gguf_type_name(enum gguf_type t);
int gguf_type_bytes(enum gguf_type t); // of one item; 0: no fixed width (strings, arrays)

#endif
