// Encoding and decoding. How a tokenizer is built is in tokenizer_init.c.
#include "level2-operator/tokenizer/tokenizer.h"

#include <limits.h>
#include <string.h>

#include "level2-operator/tokenizer/char_class.h"
#include "level2-operator/tokenizer/word_cache.h"

enum {
    FIRST_WORK_BYTES = 256,                    // nearly every word is shorter
    MAX_TEXT_BYTES = INT_MAX / NFC_GROWTH / 2, // an int counts its candidates
};

// One text on its way to ids.
struct encoding {
    const struct tokenizer *t;
    struct word_cache cache;
    struct bpe_work bpe; // one of these two, grown to the longest word so far
    struct spm_work spm;
    char *changed; // a stretch as it is merged, where that is not the text itself
    struct arena *scratch;
    token_id *ids;
    int n_ids;
};

// ---- words --------------------------------------------------------------------------------------

// Room for a word of n symbols. At least doubles, so that all tries together cost less than three
// times the last.
static bool work_fit(struct encoding *e, size_t n) {
    bool is_bpe = e->t->family == FAMILY_BPE;
    size_t *max = is_bpe ? &e->bpe.max_bytes : &e->spm.max_symbols;
    if (n <= *max) return true;
    size_t wanted = *max ? 2 * *max : FIRST_WORK_BYTES;
    if (wanted < n) wanted = n;

    uint64_t *candidates = ARENA_NEW(e->scratch, uint64_t, 2 * wanted);
    e->bpe.candidates = e->spm.candidates = candidates;
    if (is_bpe)
        e->bpe.symbols = ARENA_NEW(e->scratch, struct bpe_symbol, wanted);
    else
        e->spm.symbols = ARENA_NEW(e->scratch, struct spm_symbol, wanted);
    if (!candidates || !(is_bpe ? (void *)e->bpe.symbols : (void *)e->spm.symbols))
        return false;
    *max = wanted;
    return true;
}

// How many symbols a word starts as, at the most.
static size_t count_symbols(const struct encoding *e, const char *word, size_t n_bytes) {
    bool is_surely_small = n_bytes <= FIRST_WORK_BYTES;
    if (e->t->family == FAMILY_BPE || is_surely_small) return n_bytes;
    return spm_count(word, n_bytes);
}

static int merge_word(struct encoding *e, const char *word, size_t n_bytes, token_id *ids) {
    const struct tokenizer *t = e->t;
    uint32_t id;
    if (t->family == FAMILY_SPM) return spm_encode(&t->spm, word, n_bytes, ids, &e->spm);
    if (!t->whole_words_first || !table_get(&t->by_text, word, n_bytes, &id))
        return bpe_encode(&t->bpe, word, n_bytes, ids, &e->bpe);
    ids[0] = (token_id)id;
    return 1;
}

// false: no scratch left.
static bool encode_word(struct encoding *e, const char *word, size_t n_bytes) {
    token_id *ids = e->ids + e->n_ids;
    int n = word_cache_get(&e->cache, word, n_bytes, ids);
    if (n == 0) {
        if (!work_fit(e, count_symbols(e, word, n_bytes))) return false;
        n = merge_word(e, word, n_bytes, ids);
        word_cache_put(&e->cache, word, n_bytes, ids, n);
    }
    e->n_ids += n;
    return true;
}

// ---- stretches without special tokens -----------------------------------------------------------

static bool encode_bpe(struct encoding *e, const char *text, size_t n_bytes) {
    if (e->t->is_nfc && !nfc_is_sure(text, n_bytes)) {
        n_bytes = nfc_normalize(e->changed, text, n_bytes);
        text = e->changed;
    }
    for (size_t n_word; n_bytes > 0; text += n_word, n_bytes -= n_word) {
        n_word = pretokenize_next(e->t->pre, text, n_bytes);
        if (!encode_word(e, text, n_word)) return false;
    }
    return true;
}

static const char lower_block[] = "\xe2\x96\x81"; // ▁

// A part of the text, between special tokens.
struct stretch {
    const char *text;
    size_t n_bytes;
    bool is_first, is_last; // at the text's beginning, at its end
};

// "▁" is a space, too.
static bool begins_with_space(const char *text, size_t n_bytes) {
    return *text == ' ' || (n_bytes >= 3 && memcmp(text, lower_block, 3) == 0);
}

// The stretch as its tokens spell it, written to out (room for n_bytes + 1): a "▁" in it is a space,
// as it is in the vocabulary.
static size_t spm_text(const struct tokenizer *t, char *out, const struct stretch *s) {
    bool has_front = t->adds_space && (s->is_first || t->adds_space_everywhere) &&
                     !(t->adds_missing_space && begins_with_space(s->text, s->n_bytes));
    size_t n_front = has_front, n = n_front;
    if (n_front) out[0] = ' ';
    bool is_after_space = s->is_first; // where another one is too many
    for (size_t pos = 0, n_used; pos < s->n_bytes; pos += n_used) {
        const char *c = s->text + pos;
        bool is_block = s->n_bytes - pos >= 3 && memcmp(c, lower_block, 3) == 0;
        n_used = is_block ? 3 : 1;
        bool is_extra = t->trims_spaces && *c == ' ' && is_after_space;
        is_after_space = *c == ' ';
        if (!is_extra) out[n++] = is_block ? ' ' : *c;
    }
    if (t->trims_spaces && s->is_last && n > n_front && is_after_space) n--;
    return n == n_front ? 0 : n;
}

static bool encode_spm(struct encoding *e, const struct stretch *s) {
    const char *text = e->changed;
    size_t n_bytes = spm_text(e->t, e->changed, s);
    for (size_t n_word; n_bytes > 0; text += n_word, n_bytes -= n_word) {
        n_word = spm_next(&e->t->spm, text, n_bytes);
        if (!encode_word(e, text, n_word)) return false;
    }
    return true;
}

static bool encode_stretch(struct encoding *e, const struct stretch *s) {
    if (s->n_bytes == 0) return true;
    if (e->t->family == FAMILY_SPM) return encode_spm(e, s);
    return encode_bpe(e, s->text, s->n_bytes);
}

// ---- special tokens -----------------------------------------------------------------------------

// How many bytes from pos on are markup. *i_stretch moves along with pos.
static size_t markup_left(const struct markup *markup, int n_markup, int *i_stretch,
                          size_t pos) {
    while (*i_stretch < n_markup && markup[*i_stretch].end <= pos) (*i_stretch)++;
    if (*i_stretch == n_markup || pos < markup[*i_stretch].begin) return 0;
    return markup[*i_stretch].end - pos;
}

// Where the white space at the end of text[begin .. end) begins.
static size_t before_spaces(const char *text, size_t begin, size_t end) {
    while (end > begin) {
        size_t at = end - 1, n_used;
        while (at > begin && ((unsigned char)text[at] & 0xC0) == 0x80) at--;
        bool is_space = char_class_at(text, end, at, &n_used) & CLASS_SPACES;
        if (!is_space || at + n_used != end) break;
        end = at;
    }
    return end;
}

// Where the white space at pos ends.
static size_t after_spaces(const char *text, size_t n_bytes, size_t pos) {
    size_t n_used;
    while (char_class_at(text, n_bytes, pos, &n_used) & CLASS_SPACES) pos += n_used;
    return pos;
}

static bool encode_text(struct encoding *e, const char *text, size_t n_bytes,
                        const struct markup *markup, int n_markup) {
    const struct special *special = &e->t->special;
    size_t begin = 0, pos = 0; // text[begin .. pos) holds no special token
    int i_stretch = 0;

    while (pos < n_bytes) {
        const struct special_token *found = NULL;
        if (special_begins(special, (unsigned char)text[pos])) {
            size_t n_here = markup_left(markup, n_markup, &i_stretch, pos);
            found = special_find(special, text + pos, n_bytes - pos, n_here);
        }
        if (!found) {
            pos++;
            continue;
        }
        size_t end = found->takes_before ? before_spaces(text, begin, pos) : pos;
        struct stretch before = {text + begin, end - begin, begin == 0, false};
        if (!encode_stretch(e, &before)) return false;
        e->ids[e->n_ids++] = found->id;
        pos += found->n_bytes;
        if (found->takes_after) pos = after_spaces(text, n_bytes, pos);
        begin = pos;
    }
    struct stretch last = {text + begin, n_bytes - begin, begin == 0, true};
    return encode_stretch(e, &last);
}

// ---- a text -------------------------------------------------------------------------------------

static enum status encoding_start(struct encoding *e, size_t n_bytes, struct error *err) {
    bool has_memory = word_cache_init(&e->cache, n_bytes, e->scratch);
    size_t n_changed = 0;
    if (e->t->family == FAMILY_SPM) n_changed = n_bytes + 1;
    if (e->t->is_nfc) n_changed = NFC_GROWTH * n_bytes;
    if (has_memory && n_changed > 0) {
        e->changed = ARENA_NEW(e->scratch, char, n_changed);
        has_memory = e->changed != NULL;
    }
    if (has_memory) return OK;
    return error_set(err, ERR_MEMORY, "no memory to tokenize a text of %zu bytes", n_bytes);
}

enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n_bytes,
                             const struct markup *markup, int n_markup, int add,
                             token_id *ids, int *n_ids, struct arena *scratch,
                             struct error *err) {
    struct encoding e = {.t = t, .scratch = scratch, .ids = ids};
    bool wants_bos = (add & ADD_BOS) && t->add_bos && t->bos >= 0;
    bool wants_eos = (add & ADD_EOS) && t->add_eos && t->eos >= 0;

    *n_ids = 0;
    if (n_bytes >= MAX_TEXT_BYTES)
        return error_set(err, ERR_LIMIT,
                         "a text of %zu bytes is too long to tokenize: send less than %d",
                         n_bytes, MAX_TEXT_BYTES);
    enum status st = encoding_start(&e, n_bytes, err);
    if (st != OK) return st;
    if (wants_bos) e.ids++; // its place is kept free
    if (!encode_text(&e, text, n_bytes, markup, markup ? n_markup : 0))
        return error_set(err, ERR_MEMORY,
                         "no memory to tokenize a text of %zu bytes; send shorter words",
                         n_bytes);
    if (wants_eos && (e.n_ids == 0 || e.ids[e.n_ids - 1] != t->eos))
        e.ids[e.n_ids++] = t->eos;
    if (wants_bos && e.n_ids > 0 && e.ids[0] == t->bos) {
        memmove(ids, e.ids, (size_t)e.n_ids * sizeof(*ids)); // the text brought its own
    } else if (wants_bos) {
        ids[0] = t->bos;
        e.n_ids++;
    }
    *n_ids = e.n_ids;
    return OK;
}

// ---- and back -----------------------------------------------------------------------------------

struct token_piece tokenizer_piece(const struct tokenizer *t, token_id id,
                                   bool with_special) {
    struct token_piece piece = t->pieces[id];
    bool is_hidden = piece.kind == TOKEN_CONTROL || piece.kind == TOKEN_UNKNOWN;
    if (is_hidden && !with_special) piece.n_bytes = 0;
    return piece;
}

struct decoding decoding_start(const struct tokenizer *t, bool with_special) {
    return (struct decoding){t, with_special, t->adds_space || t->trims_spaces};
}

struct token_piece decoding_next(struct decoding *d, token_id id) {
    struct token_piece piece = tokenizer_piece(d->t, id, d->with_special);
    if (piece.n_bytes == 0 || !d->drops_space) return piece;
    if (piece.bytes[0] == ' ') piece.bytes++, piece.n_bytes--;
    d->drops_space = d->t->trims_spaces && piece.n_bytes == 0; // then all spaces there
    return piece;
}
