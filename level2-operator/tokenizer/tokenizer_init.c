// Builds a tokenizer from what a reader found in a file: the text of each token, the tables that
// merging looks into, the special tokens in order, the end-of-generation set.
#include <string.h>

#include "common/limits.h"
#include "level2-operator/tokenizer/byte_symbols.h"
#include "level2-operator/tokenizer/tokenizer.h"

// Control tokens that end a turn or a text in some family, whatever the file's eos is.
static const char *const end_texts[] = {
    "<|im_end|>",    "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<end_of_turn>", "<|end|>",       "</s>",       "<eos>",
};
enum { N_END_TEXTS = sizeof(end_texts) / sizeof(*end_texts) };

// What else stands around turns. All that is spelled <|like this|> is markup as well.
static const char *const turn_texts[] = {"<start_of_turn>", "[INST]", "[/INST]"};
enum { N_TURN_TEXTS = sizeof(turn_texts) / sizeof(*turn_texts) };

// What building needs beside the tokenizer.
struct builder {
    struct tokenizer *t;
    const struct tokenizer_facts *facts;
    struct arena *arena, *scratch;
    struct error *err;
    struct byte_symbols symbols; // BPE
    // BPE: a token as the file spells it -> id; the lowest of equals, but one that is no
    // markup comes first
    struct table by_spelling;
    size_t longest; // bytes of the longest token
};

static enum status no_memory(const struct builder *b) {
    return error_set_param(b->err, ERR_MEMORY, b->facts->tokens_key,
                           "%s: %s: no memory for the vocabulary", b->facts->name,
                           b->facts->tokens_key);
}

// ---- pieces: what a token stands for in text ----------------------------------------------------

// Every "▁" becomes a space. 0: there is none, so the token stands for its own text.
static size_t spaces_decode(char *out, const char *text, size_t n_bytes) {
    size_t n = 0, n_spaces = 0;
    for (size_t pos = 0; pos < n_bytes; n++) {
        bool is_block = n_bytes - pos >= 3 && memcmp(text + pos, "\xe2\x96\x81", 3) == 0;
        out[n] = is_block ? ' ' : text[pos];
        n_spaces += is_block;
        pos += is_block ? 3 : 1;
    }
    return n_spaces ? n : 0;
}

// Writes to out what the token stands for, where that differs from its spelling; else returns 0. In
// BPE only normal tokens are spelled in symbols, and one with a character that is no symbol is not.
static size_t decode(const struct builder *b, char *out, const struct token_fact *fact) {
    int byte;
    if (b->facts->family == FAMILY_BPE) {
        if (fact->kind != TOKEN_NORMAL) return 0;
        return byte_symbols_decode(&b->symbols, out, fact->bytes, fact->n_bytes);
    }
    if (fact->kind != TOKEN_BYTE || (byte = spm_byte_of(fact->bytes, fact->n_bytes)) < 0)
        return spaces_decode(out, fact->bytes, fact->n_bytes);
    out[0] = (char)byte;
    return 1;
}

static enum status make_pieces(struct builder *b) {
    struct tokenizer *t = b->t;
    size_t n_total = 0;
    for (int id = 0; id < t->n_vocab; id++) {
        size_t n_bytes = b->facts->tokens[id].n_bytes;
        n_total += n_bytes;
        if (n_bytes > b->longest) b->longest = n_bytes;
    }
    char *bytes = ARENA_NEW(b->arena, char, n_total);
    t->pieces = ARENA_NEW(b->arena, struct token_piece, t->n_vocab);
    if (!bytes || !t->pieces) return no_memory(b);

    for (int id = 0; id < t->n_vocab; id++) {
        const struct token_fact *fact = &b->facts->tokens[id];
        size_t n = decode(b, bytes, fact);
        t->pieces[id] = n > 0
                            ? (struct token_piece){bytes, (uint32_t)n, fact->kind}
                            : (struct token_piece){fact->bytes, fact->n_bytes, fact->kind};
        bytes += n;
    }
    return OK;
}

static bool is_among(const struct token_fact *fact, const char *const *texts, int n) {
    bool is_found = false;
    for (int i = 0; i < n; i++)
        is_found = is_found || (fact->n_bytes == strlen(texts[i]) &&
                                memcmp(fact->bytes, texts[i], fact->n_bytes) == 0);
    return is_found;
}

static bool is_in_bars(const struct token_fact *fact) {
    return fact->n_bytes > 4 && memcmp(fact->bytes, "<|", 2) == 0 &&
           memcmp(fact->bytes + fact->n_bytes - 2, "|>", 2) == 0;
}

static bool bounds_something(const struct builder *b, token_id id) {
    const struct token_fact *fact = &b->facts->tokens[id];
    bool is_end = id == b->facts->bos || id == b->facts->eos;
    for (int i = 0; i < b->facts->n_ends; i++) is_end = is_end || id == b->facts->ends[i];
    return is_end || is_among(fact, end_texts, N_END_TEXTS) ||
           is_among(fact, turn_texts, N_TURN_TEXTS) || is_in_bars(fact);
}

// Some files call tokens user-defined that begin or end a turn or a text. They would be found in what a
// user types.
static void guard_bounds(const struct builder *b) {
    for (int id = 0; id < b->t->n_vocab; id++) {
        enum token_kind *kind = &b->t->pieces[id].kind;
        if (*kind == TOKEN_USER_DEFINED && bounds_something(b, id)) *kind = TOKEN_CONTROL;
    }
}

// What each normal token stands for -> id, the lowest of equals.
static enum status index_texts(const struct builder *b, struct table *by_text) {
    const struct tokenizer *t = b->t;
    enum status st = table_init(by_text, b->arena, (size_t)t->n_vocab, b->err);
    if (st != OK) return st;
    for (int id = 0; id < t->n_vocab; id++) {
        const struct token_piece *piece = &t->pieces[id];
        if (piece->kind == TOKEN_NORMAL)
            table_put(by_text, piece->bytes, piece->n_bytes, (uint32_t)id);
    }
    return OK;
}

// ---- BPE ----------------------------------------------------------------------------------------

static token_id find_spelling(const struct builder *b, const char *text, size_t n_bytes) {
    uint32_t id;
    return table_get(&b->by_spelling, text, n_bytes, &id) ? (token_id)id : -1;
}

static bool is_markup(const struct builder *b, token_id id) {
    return id >= 0 && b->t->pieces[id].kind == TOKEN_CONTROL;
}

// The single-byte tokens that every word starts as. What a user types becomes no markup.
static void find_byte_tokens(struct builder *b) {
    char text[2];
    for (int byte = 0; byte < 256; byte++) {
        size_t n = byte_symbols_spell(&b->symbols, (unsigned char)byte, text);
        token_id id = find_spelling(b, text, n);
        b->t->bpe.byte_token[byte] = is_markup(b, id) ? -1 : id;
    }
}

// As three ids. joined has room for the longest token. false: one of them is no token.
static bool find_merge(const struct builder *b, const struct merge_fact *fact, char *joined,
                       struct bpe_merge *merge) {
    size_t n_joined = (size_t)fact->n_left + fact->n_right;
    if (n_joined > b->longest) return false;
    memcpy(joined, fact->left, fact->n_left);
    memcpy(joined + fact->n_left, fact->right, fact->n_right);
    merge->left = find_spelling(b, fact->left, fact->n_left);
    merge->right = find_spelling(b, fact->right, fact->n_right);
    merge->merged = find_spelling(b, joined, n_joined);
    return merge->left >= 0 && merge->right >= 0 && merge->merged >= 0;
}

static enum status make_merges(struct builder *b) {
    const struct tokenizer_facts *facts = b->facts;
    struct bpe *bpe = &b->t->bpe;

    char *joined = ARENA_NEW(b->scratch, char, b->longest);
    bpe->merges = ARENA_NEW(b->arena, struct bpe_merge, facts->n_merges);
    if (!joined || !bpe->merges) return no_memory(b);
    enum status st = table_init(&bpe->pairs, b->arena, (size_t)facts->n_merges, b->err);
    if (st != OK) return st;
    for (; bpe->n_merges < facts->n_merges; bpe->n_merges++) {
        struct bpe_merge *merge = &bpe->merges[bpe->n_merges];
        if (!find_merge(b, &facts->merges[bpe->n_merges], joined, merge))
            return error_set_param(b->err, ERR_FORMAT, facts->merges_key,
                                   "%s: %s: merge %d is not two tokens that make a third",
                                   facts->name, facts->merges_key, bpe->n_merges);
        if (is_markup(b, merge->merged)) continue; // a user's letters would make it
        // a pair given twice keeps its better rank: put refuses the second
        table_put(&bpe->pairs, merge, 2 * sizeof(token_id), (uint32_t)bpe->n_merges);
    }
    return OK;
}

static enum status make_bpe(struct builder *b) {
    const struct tokenizer_facts *facts = b->facts;
    enum status st =
        table_init(&b->by_spelling, b->scratch, (size_t)facts->n_vocab, b->err);
    if (st != OK) return st;
    for (int markup = 0; markup <= 1; markup++)
        for (int id = 0; id < facts->n_vocab; id++)
            if (is_markup(b, id) == markup)
                table_put(&b->by_spelling, facts->tokens[id].bytes,
                          facts->tokens[id].n_bytes, (uint32_t)id);
    find_byte_tokens(b);
    if ((st = make_merges(b)) != OK) return st;
    return facts->whole_words_first ? index_texts(b, &b->t->by_text) : OK;
}

// ---- SPM ----------------------------------------------------------------------------------------

static void note_inner_spaces(struct spm *spm, const struct token_piece *piece) {
    for (uint32_t i = 1; i < piece->n_bytes; i++)
        if (piece->bytes[i] == ' ')
            spm->joins_space[(unsigned char)piece->bytes[i - 1]] = true;
}

static enum status make_spm(struct builder *b) {
    const struct tokenizer *t = b->t;
    struct spm *spm = &b->t->spm;
    spm->unknown = t->unknown;
    spm->ranks = ARENA_NEW(b->arena, uint32_t, t->n_vocab);
    if (!spm->ranks) return no_memory(b);
    for (int byte = 0; byte < 256; byte++) spm->byte_token[byte] = -1;
    for (int id = t->n_vocab - 1; id >= 0; id--) { // so that the lowest of equals remains
        const struct token_fact *fact = &b->facts->tokens[id];
        int byte = fact->kind == TOKEN_BYTE ? spm_byte_of(fact->bytes, fact->n_bytes) : -1;
        if (byte >= 0) spm->byte_token[byte] = id;
        if (fact->kind == TOKEN_NORMAL) note_inner_spaces(spm, &t->pieces[id]);
        spm->ranks[id] = spm_rank(fact->score);
    }
    return index_texts(b, &spm->by_text);
}

// ---- special tokens and the end set -------------------------------------------------------------

static bool is_special(const struct token_piece *piece) {
    return piece->n_bytes > 0 &&
           (piece->kind == TOKEN_CONTROL || piece->kind == TOKEN_USER_DEFINED);
}

static enum status make_special(struct builder *b) {
    const struct tokenizer *t = b->t;
    int n = 0;
    for (int id = 0; id < t->n_vocab; id++) {
        if (!is_special(&t->pieces[id])) continue;
        if (t->pieces[id].n_bytes > LIMIT_SPECIAL_BYTES)
            return error_set_param(b->err, ERR_LIMIT, b->facts->tokens_key,
                                   "%s: %s: control token %d is longer than %d bytes",
                                   b->facts->name, b->facts->tokens_key, id,
                                   LIMIT_SPECIAL_BYTES);
        n++;
    }
    struct special_token *tokens = ARENA_NEW(b->arena, struct special_token, n);
    if (!tokens) return no_memory(b);
    n = 0;
    for (int id = 0; id < t->n_vocab; id++) {
        const struct token_piece *piece = &t->pieces[id];
        const struct token_fact *fact = &b->facts->tokens[id];
        if (!is_special(piece)) continue;
        tokens[n++] = (struct special_token){
            .bytes = piece->bytes,
            .n_bytes = piece->n_bytes,
            .id = id,
            .is_markup = piece->kind == TOKEN_CONTROL,
            .takes_before = fact->takes_before,
            .takes_after = fact->takes_after,
        };
    }
    special_init(&b->t->special, tokens, n);
    return OK;
}

static enum status make_end_set(struct builder *b) {
    struct tokenizer *t = b->t;
    t->is_end = ARENA_NEW(b->arena, bool, t->n_vocab);
    if (!t->is_end) return no_memory(b);
    for (int i = 0; i < b->facts->n_ends; i++)
        if (b->facts->ends[i] >= 0) t->is_end[b->facts->ends[i]] = true;
    for (int i = 0; i < N_END_TEXTS; i++) {
        token_id id = special_markup(&t->special, end_texts[i], strlen(end_texts[i]));
        if (id >= 0) t->is_end[id] = true;
    }
    return OK;
}

enum status tokenizer_init(struct tokenizer *t, const struct tokenizer_facts *facts,
                           struct arena *arena, struct arena *scratch, struct error *err) {
    struct builder b = {
        .t = t, .facts = facts, .arena = arena, .scratch = scratch, .err = err};
    bool is_spm = facts->family == FAMILY_SPM; // what the other family does is left out
    enum status st;

    *t = (struct tokenizer){
        .n_vocab = facts->n_vocab,
        .family = facts->family,
        .pre = facts->pre,
        .bos = facts->bos,
        .eos = facts->eos,
        .unknown = facts->unknown,
        .is_nfc = !is_spm && facts->is_nfc,
        .whole_words_first = !is_spm && facts->whole_words_first,
        .adds_space = is_spm && facts->adds_space,
        .adds_space_everywhere = is_spm && facts->adds_space_everywhere,
        .adds_missing_space = is_spm && facts->adds_missing_space,
        .trims_spaces = is_spm && facts->trims_spaces,
        .add_bos = facts->add_bos,
        .add_eos = facts->add_eos,
    };
    byte_symbols_init(&b.symbols);
    st = make_pieces(&b);
    if (st == OK) guard_bounds(&b);
    if (st == OK) st = is_spm ? make_spm(&b) : make_bpe(&b);
    if (st == OK) st = make_special(&b);
    if (st == OK) st = make_end_set(&b);
    if (st != OK) *t = (struct tokenizer){0};
    return st;
}
