// A string inside a template: its bytes, and for each byte whether the template wrote it itself. Only
// what a template wrote may become a control token; the letters "<|im_end|>" in a user's message stay
// letters, whatever the template does with them.
//
//   {{ '<|start|>' + message.role }}     bytes   < | s t a r t | > u s e r
//                                        own     1 1 1 1 1 1 1 1 1 0 0 0 0
//
// Cutting, joining and changing case keep the mark. What is made anew from values (numbers, JSON) is
// not the template's own: a tool's name must not become a control token either.
#ifndef LEVEL2_TEMPLATE_TEXT_H
#define LEVEL2_TEMPLATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level2-operator/template/template_pool.h"

struct text {
    const char *bytes; // (n_bytes) UTF-8, not terminated, never changed
    size_t n_bytes;
    const unsigned char *own; // (n_bytes) 1 or 0; NULL: all bytes are as is_own says
    bool is_own;
};

// Views; nothing is copied.
struct text text_own(const char *literal);
struct text text_foreign(const char *bytes, size_t n_bytes);
struct text text_slice(struct text t, size_t begin, size_t end); // offsets in bytes

bool text_equal(struct text a, struct text b); // the bytes alone
bool text_is(struct text t, const char *literal);
int text_compare(struct text a, struct text b); // < 0, 0, > 0: the order of code points
size_t text_find(struct text t, struct text needle, size_t from); // SIZE_MAX: not there
// For who must count the work of a search: the next place where its first byte stands and that has
// room for all of it, or SIZE_MAX; and whether all of it stands there.
size_t text_candidate(struct text t, struct text needle, size_t from);
bool text_stands_at(struct text t, struct text needle, size_t at);

// Characters, as Python counts them, and where one of them begins.
size_t text_length(struct text t);
size_t text_offset(struct text t, size_t i_character); // n_bytes for one behind the end

// What Python's str.isspace says of one character: the space, \t to \r, and Unicode's own.
bool text_is_space(int32_t code_point);

enum text_side { TEXT_LEFT = 1, TEXT_RIGHT = 2, TEXT_BOTH = 3 };
// chars: the characters to take off; NULL: white space.
struct text text_strip(struct text t, const struct text *chars, enum text_side side);

// Text that grows. After a failure (pool->why) nothing more is taken: look once, at the end.
struct text_builder {
    struct pool *pool;  // borrowed
    char *bytes;        // (capacity)
    unsigned char *own; // (capacity)
    size_t n_bytes, capacity;
    bool has_own, has_foreign;
    size_t max_bytes; // above it: failed, is_long
    bool failed, is_long;
};

void text_builder_init(struct text_builder *b, struct pool *pool, size_t max_bytes);
void text_put(struct text_builder *b, struct text t);
void text_put_made(struct text_builder *b, const char *string); // not own
void text_put_character(struct text_builder *b, int32_t code_point, bool is_own);
struct text text_built(const struct text_builder *b); // a view of what is there

#endif
