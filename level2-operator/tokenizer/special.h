// Special tokens: those that are found in a text as they are, before anything is merged. A sorted
// list; the tokens that text begins with are found by narrowing it down byte by byte.
//
//   text "<|im_end|>."     <            <|           <|i ...        the longest that matched whole
//   sorted tokens      [<0x00 .. <x>]  [<|a .. <|z]  [<|im_end|>, <|im_start|>]
//
// Vocabularies hold thousands of them, and spaces begin dozens; most looks end at the second byte.
#ifndef LEVEL2_SPECIAL_H
#define LEVEL2_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/token.h"

struct special_token {
    const char *bytes;
    uint32_t n_bytes;
    token_id id;
    bool is_markup; // a control token
    bool takes_before, takes_after;
};

struct special {
    struct special_token *tokens; // (n_tokens), by their bytes, then by id
    int n_tokens;
    int begins[257]; // tokens[begins[b] .. begins[b + 1]) start with byte b
};

// tokens: (n_tokens) in any order, none empty, at most LIMIT_SPECIAL_BYTES each; kept and sorted.
void special_init(struct special *s, struct special_token *tokens, int n_tokens);

// Can a special token begin with this byte? Most of a text is passed over by it.
static inline bool special_begins(const struct special *s, unsigned char byte) {
    return s->begins[byte] < s->begins[byte + 1];
}

// The longest special token that text begins with, the lowest id of equals; NULL: none. Markup must
// end within the first n_markup bytes. n_bytes must be above 0.
const struct special_token *special_find(const struct special *s, const char *text,
                                         size_t n_bytes, size_t n_markup);

// The control token with this text, -1: none.
token_id special_markup(const struct special *s, const char *text, size_t n_bytes);

#endif
