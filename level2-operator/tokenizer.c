// Encoding and decoding. How a tokenizer is read from a file is in tokenizer_read.c.
#include "level2-operator/tokenizer.h"

#include <limits.h>
#include <string.h>

enum { FIRST_WORK_BYTES = 256 }; // nearly every word is shorter

// One text on its way to ids.
struct encoding {
    const struct tokenizer *t;
    struct bpe_work work; // grown to the longest word so far
    struct arena *scratch;
    token_id *ids;
    int n_ids;
};

// At least doubles, so that all tries together cost less than three times the last.
static bool work_fit(struct bpe_work *w, size_t n_bytes, struct arena *scratch) {
    if (n_bytes <= w->max_bytes) return true;
    size_t wanted = w->max_bytes ? 2 * w->max_bytes : FIRST_WORK_BYTES;
    if (wanted < n_bytes) wanted = n_bytes;
    w->symbols = ARENA_NEW(scratch, struct bpe_symbol, wanted);
    w->candidates = ARENA_NEW(scratch, uint64_t, 2 * wanted);
    if (!w->symbols || !w->candidates) return false;
    w->max_bytes = wanted;
    return true;
}

// A stretch without special tokens. false: no scratch left.
static bool encode_words(struct encoding *e, const char *text, size_t n_bytes) {
    for (size_t n_word; n_bytes > 0; text += n_word, n_bytes -= n_word) {
        n_word = pretokenize_next(e->t->pre, text, n_bytes);
        if (!work_fit(&e->work, n_word, e->scratch)) return false;
        e->n_ids += bpe_encode(&e->t->bpe, text, n_word, e->ids + e->n_ids, &e->work);
    }
    return true;
}

// The longest special token that text begins with, -1: none. Control tokens must end within the
// first n_markup bytes. One look into the table per length: vocabularies hold thousands of such
// tokens, but of few lengths.
static token_id special_at(const struct tokenizer *t, const char *text, size_t n_bytes,
                           size_t n_markup) {
    if (!t->starts_special[(unsigned char)text[0]]) return -1;
    for (int i = 0; i < t->n_special_bytes; i++) {
        uint32_t id, n = t->special_bytes[i];
        if (n > n_bytes || !table_get(&t->by_text, text, n, &id)) continue;
        enum token_kind kind = t->pieces[id].kind;
        if (kind == TOKEN_USER_DEFINED || (kind == TOKEN_CONTROL && n <= n_markup))
            return (token_id)id;
    }
    return -1;
}

// How many bytes from pos on are markup. *i_stretch moves along with pos.
static size_t markup_left(const struct markup *markup, int n_markup, int *i_stretch,
                          size_t pos) {
    while (*i_stretch < n_markup && markup[*i_stretch].end <= pos) (*i_stretch)++;
    if (*i_stretch == n_markup || pos < markup[*i_stretch].begin) return 0;
    return markup[*i_stretch].end - pos;
}

static bool encode_text(struct encoding *e, const char *text, size_t n_bytes,
                        const struct markup *markup, int n_markup) {
    size_t begin = 0, pos = 0; // text[begin .. pos) holds no special token
    int i_stretch = 0;

    while (pos < n_bytes) {
        size_t n_here = markup_left(markup, n_markup, &i_stretch, pos);
        token_id id = special_at(e->t, text + pos, n_bytes - pos, n_here);
        if (id < 0) {
            pos++;
            continue;
        }
        if (!encode_words(e, text + begin, pos - begin)) return false;
        e->ids[e->n_ids++] = id;
        pos += e->t->pieces[id].n_bytes;
        begin = pos;
    }
    return encode_words(e, text + begin, n_bytes - begin);
}

enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n_bytes,
                             const struct markup *markup, int n_markup, bool add_bos,
                             token_id *ids, int *n_ids, struct arena *scratch,
                             struct error *err) {
    struct encoding e = {.t = t, .scratch = scratch, .ids = ids};
    bool wants_bos = add_bos && t->add_bos && t->bos >= 0;

    *n_ids = 0;
    if (n_bytes >= INT_MAX)
        return error_set(err, ERR_LIMIT, "a text of %zu bytes is too long to tokenize",
                         n_bytes);
    if (wants_bos) e.ids++; // its place is kept free
    if (!encode_text(&e, text, n_bytes, markup, markup ? n_markup : 0))
        return error_set(err, ERR_MEMORY,
                         "no memory to tokenize a text of %zu bytes; send shorter words",
                         n_bytes);
    if (wants_bos && e.n_ids > 0 && e.ids[0] == t->bos) {
        memmove(ids, e.ids, (size_t)e.n_ids * sizeof(*ids)); // the text brought its own
    } else if (wants_bos) {
        ids[0] = t->bos;
        e.n_ids++;
    }
    *n_ids = e.n_ids;
    return OK;
}

struct token_piece tokenizer_piece(const struct tokenizer *t, token_id id,
                                   bool with_special) {
    struct token_piece piece = t->pieces[id];
    bool is_hidden = piece.kind == TOKEN_CONTROL || piece.kind == TOKEN_UNKNOWN;
    if (is_hidden && !with_special) piece.n_bytes = 0;
    return piece;
}
