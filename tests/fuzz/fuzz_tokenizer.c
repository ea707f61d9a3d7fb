// Hostile vocabularies and hostile texts: a tokenizer is built from facts that the input spells, then the
// rest of the input is encoded and decoded. Whatever comes, ids are ids, room is kept to, memory is what
// the text justifies; and text that can be spelled comes back.
//
//   flags | number of tokens | for each: kind and flags, score, length, bytes | text
#include "level2-operator/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 64, MAX_TOKEN_BYTES = 12, MAX_MERGES = MAX_TOKENS * MAX_TOKENS };
enum { MODEL_BYTES = 1 << 20, SCRATCH_BASE = 64 << 10, SCRATCH_PER_BYTE = 160 };

struct input {
    const uint8_t *bytes;
    size_t n_bytes;
};

static unsigned take(struct input *in) {
    if (in->n_bytes == 0) return 0;
    in->n_bytes--;
    return *in->bytes++;
}

static void take_token(struct input *in, struct token_fact *fact) {
    unsigned kind = take(in), score = take(in), n_bytes = take(in) % (MAX_TOKEN_BYTES + 1);
    if (n_bytes > in->n_bytes) n_bytes = (unsigned)in->n_bytes;
    *fact = (struct token_fact){
        .bytes = (const char *)in->bytes,
        .n_bytes = n_bytes,
        .kind = (enum token_kind)(TOKEN_NORMAL + kind % TOKEN_BYTE),
        .score = (float)score - 128,
        .takes_before = kind & 64,
        .takes_after = kind & 128,
    };
    in->bytes += n_bytes;
    in->n_bytes -= n_bytes;
}

static bool is_joined(const struct token_fact *whole, const struct token_fact *left,
                      const struct token_fact *right) {
    return whole->n_bytes == left->n_bytes + right->n_bytes &&
           memcmp(whole->bytes, left->bytes, left->n_bytes) == 0 &&
           memcmp(whole->bytes + left->n_bytes, right->bytes, right->n_bytes) == 0;
}

// Every way to make a token of two, in the order of the tokens made.
static int find_merges(struct merge_fact *merges, const struct token_fact *tokens, int n) {
    int n_merges = 0;
    for (int whole = 0; whole < n; whole++)
        for (int left = 0; left < n; left++)
            for (int right = 0; right < n && n_merges < MAX_MERGES; right++)
                if (is_joined(&tokens[whole], &tokens[left], &tokens[right]))
                    merges[n_merges++] =
                        (struct merge_fact){tokens[left].bytes, tokens[right].bytes,
                                            tokens[left].n_bytes, tokens[right].n_bytes};
    return n_merges;
}

static void decode(const struct tokenizer *t, const token_id *ids, int n_ids) {
    struct decoding d = decoding_start(t, true);
    volatile char last = 0;
    for (int i = 0; i < n_ids; i++) {
        if (ids[i] < 0 || ids[i] >= t->n_vocab) abort();
        struct token_piece piece = decoding_next(&d, ids[i]);
        if (piece.n_bytes > 0) last = piece.bytes[piece.n_bytes - 1];
    }
    (void)last;
}

static void encode(const struct tokenizer *t, struct input text, unsigned n_markup) {
    struct arena scratch;
    struct error err = {0};
    struct markup half = {text.n_bytes / 4, text.n_bytes - text.n_bytes / 4};
    size_t max_ids = tokenizer_max_ids(t, text.n_bytes);
    token_id *ids = malloc(max_ids * sizeof(*ids));
    int n_ids = 0;
    if (!ids) abort();
    arena_init(&scratch, SCRATCH_BASE + SCRATCH_PER_BYTE * text.n_bytes);
    enum status st =
        tokenizer_encode(t, (const char *)text.bytes, text.n_bytes, &half, n_markup & 1,
                         (int)(n_markup >> 1 & 3), ids, &n_ids, &scratch, &err);
    if (st != OK || n_ids < 0 || (size_t)n_ids > max_ids) abort();
    decode(t, ids, n_ids);
    arena_free(&scratch);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static struct merge_fact merges[MAX_MERGES];
    struct token_fact tokens[MAX_TOKENS];
    struct input in = {bytes, n_bytes};
    struct arena arena, work;
    struct error err = {0};
    struct tokenizer t;

    unsigned flags = take(&in), more = take(&in);
    int n_tokens = 1 + (int)(take(&in) % MAX_TOKENS);
    for (int i = 0; i < n_tokens; i++) take_token(&in, &tokens[i]);
    const token_id end = n_tokens - 1;
    struct tokenizer_facts facts = {
        .name = "fuzz",
        .tokens_key = "tokens",
        .merges_key = "merges",
        .family = flags & 1 ? FAMILY_SPM : FAMILY_BPE,
        .tokens = tokens,
        .n_vocab = n_tokens,
        .merges = merges,
        .n_merges = flags & 1 ? 0 : find_merges(merges, tokens, n_tokens),
        .bos = flags & 2 ? 0 : -1,
        .eos = flags & 4 ? end : -1,
        .unknown = flags & 8 ? end : -1,
        .ends = &end,
        .n_ends = 1,
        .pre = (enum pretokenizer)(more % PRE_COUNT),
        .is_nfc = flags & 16,
        .whole_words_first = flags & 32,
        .adds_space = flags & 64,
        .adds_space_everywhere = flags & 16, // only SPM looks at these two
        .adds_missing_space = flags & 32,
        .trims_spaces = flags & 128,
        .add_bos = true,
        .add_eos = true,
    };
    arena_init(&arena, MODEL_BYTES);
    arena_init(&work, MODEL_BYTES);
    if (tokenizer_init(&t, &facts, &arena, &work, &err) != OK) abort();
    encode(&t, in, more >> 4);
    arena_free(&work);
    arena_free(&arena);
    return 0;
}
