// Byte-pair encoding with a chain and a heap.
// [exercise bpe drop]
//
//   chain   h ⇄ e ⇄ l ⇄ l ⇄ o       heap   (rank, position of the left symbol), least on top
//
//   merge (l,l) at 2:
//   chain   h ⇄ e ⇄ ll ⇄ o          heap   + (e,ll) at 1, + (ll,o) at 2
//
// The pairs (e,l) at 1 and (l,o) at 3 are still in the heap, but no longer in the chain. Finding
// them there would cost more than meeting them later: who comes out stale is skipped.
// [end]
#include "level2-operator/tokenizer/bpe.h"

// [exercise bpe drop]
#include <stdbool.h>

enum { NONE = -1 };

struct word {
    const struct bpe *bpe;
    struct bpe_symbol *chain;
    uint64_t *heap; // at most 2n: n - 1 at the start, and a merge takes one and adds two
    int n_heap;
};

// A pair that may be merged. Comparing the numbers compares rank, then position.
static uint64_t candidate(uint32_t rank, int left) {
    return (uint64_t)rank << 32 | (uint32_t)left;
}

static int rank_of(uint64_t c) {
    return (int)(c >> 32);
}

static int left_of(uint64_t c) {
    return (int)(c & UINT32_MAX);
}

static void heap_push(struct word *w, uint64_t added) {
    int i = w->n_heap++;
    for (int parent; i > 0 && added < w->heap[parent = (i - 1) / 2]; i = parent)
        w->heap[i] = w->heap[parent];
    w->heap[i] = added;
}

static uint64_t heap_pop(struct word *w) {
    uint64_t least = w->heap[0], last = w->heap[--w->n_heap];
    int i = 0;
    for (int child; (child = 2 * i + 1) < w->n_heap; i = child) {
        if (child + 1 < w->n_heap && w->heap[child + 1] < w->heap[child]) child++;
        if (last <= w->heap[child]) break;
        w->heap[i] = w->heap[child];
    }
    w->heap[i] = last;
    return least;
}

// One symbol for each byte that has one.
static int chain_start(struct word *w, const char *bytes, size_t n_bytes) {
    int n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        token_id id = w->bpe->byte_token[(unsigned char)bytes[i]];
        if (id < 0) continue;
        w->chain[n] = (struct bpe_symbol){.id = id, .prev = n - 1, .next = n + 1};
        n++;
    }
    if (n > 0) w->chain[n - 1].next = NONE;
    return n;
}

// Puts the pair that starts at left into the heap, if it is a pair and in the list.
static void offer(struct word *w, int left) {
    if (left == NONE || w->chain[left].next == NONE) return;
    token_id pair[2] = {w->chain[left].id, w->chain[w->chain[left].next].id};
    uint32_t rank;
    if (table_get(&w->bpe->pairs, pair, sizeof(pair), &rank))
        heap_push(w, candidate(rank, left));
}

static bool is_stale(const struct word *w, const struct bpe_merge *merge, int left) {
    int right = w->chain[left].next;
    return w->chain[left].id != merge->left || right == NONE ||
           w->chain[right].id != merge->right;
}

// The left symbol becomes the merged one, the right one leaves the chain.
static void merge_at(struct word *w, int left, token_id merged) {
    struct bpe_symbol *l = &w->chain[left], *r = &w->chain[l->next];
    l->id = merged;
    l->next = r->next;
    if (r->next != NONE) w->chain[r->next].prev = left;
    *r = (struct bpe_symbol){NONE, NONE, NONE};
}
// [end]

int bpe_encode(const struct bpe *b, const char *word, size_t n_bytes, token_id *ids,
               struct bpe_work *work) {
    // [exercise bpe]
    struct word w = {.bpe = b, .chain = work->symbols, .heap = work->candidates};
    int n_symbols = chain_start(&w, word, n_bytes);
    for (int i = 0; i < n_symbols; i++) offer(&w, i);

    while (w.n_heap > 0) {
        uint64_t best = heap_pop(&w);
        const struct bpe_merge *merge = &b->merges[rank_of(best)];
        int left = left_of(best);
        if (is_stale(&w, merge, left)) continue;
        merge_at(&w, left, merge->merged);
        offer(&w, w.chain[left].prev);
        offer(&w, left);
    }

    int n_ids = 0; // a merge keeps its left symbol, so the chain still starts at 0
    for (int i = n_symbols > 0 ? 0 : NONE; i != NONE; i = w.chain[i].next)
        ids[n_ids++] = w.chain[i].id;
    return n_ids;
    // [end]
}
