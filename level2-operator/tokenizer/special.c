// Sorted once, searched at every place of a text.
#include "level2-operator/tokenizer/special.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b) {
    const struct special_token *l = a, *r = b;
    uint32_t n = l->n_bytes < r->n_bytes ? l->n_bytes : r->n_bytes;
    int order = memcmp(l->bytes, r->bytes, n);
    if (order) return order;
    if (l->n_bytes != r->n_bytes) return l->n_bytes < r->n_bytes ? -1 : 1;
    return l->id < r->id ? -1 : l->id > r->id;
}

void special_init(struct special *s, struct special_token *tokens, int n_tokens) {
    *s = (struct special){.tokens = tokens, .n_tokens = n_tokens};
    qsort(tokens, (size_t)n_tokens, sizeof(*tokens), by_bytes);
    for (int byte = 0, i = 0; byte < 256; byte++) {
        while (i < n_tokens && (unsigned char)tokens[i].bytes[0] <= byte) i++;
        s->begins[byte + 1] = i;
    }
}

// The first token of [low, high) whose byte at `depth` is at least `byte`. All are longer than depth.
static int first_with(const struct special *s, int low, int high, uint32_t depth,
                      int byte) {
    while (low < high) {
        int middle = low + (high - low) / 2;
        if ((unsigned char)s->tokens[middle].bytes[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct special_token *special_find(const struct special *s, const char *text,
                                         size_t n_bytes, size_t n_markup) {
    const struct special_token *best = NULL;
    unsigned char byte = (unsigned char)text[0];
    int low = s->begins[byte], high = s->begins[byte + 1];

    // tokens[low .. high) begin with text[0 .. depth)
    for (uint32_t depth = 1; low < high; depth++) {
        const struct special_token *whole = NULL; // those that end here come first
        for (; low < high && s->tokens[low].n_bytes == depth; low++)
            if (!whole && (!s->tokens[low].is_markup || depth <= n_markup))
                whole = &s->tokens[low];
        if (whole) best = whole;
        if (depth == n_bytes) break;
        byte = (unsigned char)text[depth];
        low = first_with(s, low, high, depth, byte);
        high = first_with(s, low, high, depth, byte + 1);
    }
    return best;
}

token_id special_markup(const struct special *s, const char *text, size_t n_bytes) {
    const struct special_token *found = special_find(s, text, n_bytes, n_bytes);
    bool is_whole = found && found->n_bytes == n_bytes && found->is_markup;
    return is_whole ? found->id : -1;
}
