// A chain of characters and a heap of candidates. A candidate is (rank, left symbol); it is stale when
// its left symbol is gone or joins its neighbour to something of another rank by now.
#include "level2-operator/tokenizer/spm.h"

#include <string.h>

#include "common/utf8.h"

enum { NONE = -1 };

struct word {
    const struct spm *spm;
    const char *bytes;
    struct spm_symbol *chain;
    uint64_t *heap; // at most 2n: n - 1 at the start, and a merge takes one and adds two
    int n_heap;
};

int spm_byte_of(const char *text, size_t n_bytes) {
    static const char digits[] = "0123456789ABCDEF";
    if (n_bytes != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
    const char *high = memchr(digits, text[3], 16);
    const char *low = memchr(digits, text[4], 16);
    return high && low ? (int)(high - digits) * 16 + (int)(low - digits) : -1;
}

uint32_t spm_rank(float score) {
    uint32_t bits;
    score += 0.0f; // -0 is 0
    memcpy(&bits, &score, sizeof(bits));
    uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ~ascending;
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

static token_id find(const struct spm *s, const char *text, size_t n_bytes) {
    uint32_t id;
    return table_get(&s->by_text, text, n_bytes, &id) ? (token_id)id : NONE;
}

static int chain_start(struct word *w, size_t n_bytes) {
    int n = 0;
    for (size_t pos = 0, n_used; pos < n_bytes; pos += n_used, n++) {
        utf8_next(w->bytes + pos, n_bytes - pos, &n_used);
        w->chain[n] =
            (struct spm_symbol){(uint32_t)pos, (uint32_t)n_used, n - 1, n + 1, NONE, NONE};
    }
    if (n > 0) w->chain[n - 1].next = NONE;
    return n;
}

// Looks up what the symbol makes with the next one, and puts it into the heap.
static void offer(struct word *w, int left) {
    if (left == NONE) return;
    struct spm_symbol *l = &w->chain[left];
    l->joined = NONE;
    if (l->next == NONE) return;
    l->joined = find(w->spm, w->bytes + l->begin, l->n_bytes + w->chain[l->next].n_bytes);
    if (l->joined == NONE) return;
    heap_push(w, (uint64_t)w->spm->ranks[l->joined] << 32 | (uint32_t)left);
}

// The left symbol grows over the right one, which leaves the chain.
static void merge_at(struct word *w, int left) {
    struct spm_symbol *l = &w->chain[left], *r = &w->chain[l->next];
    l->id = l->joined;
    l->n_bytes += r->n_bytes;
    l->next = r->next;
    if (r->next != NONE) w->chain[r->next].prev = left;
    r->joined = NONE; // gone: its candidates are stale
}

// The ids of a symbol that no token spells: its bytes, or once for a whole run the unknown token.
static int spell(const struct spm *s, const char *text, size_t n_bytes, token_id *ids,
                 int n_ids) {
    bool has_all = true;
    for (size_t i = 0; i < n_bytes; i++)
        has_all = has_all && s->byte_token[(unsigned char)text[i]] != NONE;
    if (has_all) {
        for (size_t i = 0; i < n_bytes; i++)
            ids[n_ids++] = s->byte_token[(unsigned char)text[i]];
    } else if (s->unknown != NONE && (n_ids == 0 || ids[n_ids - 1] != s->unknown)) {
        ids[n_ids++] = s->unknown;
    }
    return n_ids;
}

size_t spm_next(const struct spm *s, const char *text, size_t n_bytes) {
    size_t pos = 1;
    while (pos < n_bytes) {
        const char *space = memchr(text + pos, ' ', n_bytes - pos);
        if (!space) break;
        unsigned char before = (unsigned char)space[-1];
        pos = (size_t)(space - text);
        if (before != ' ' && !s->joins_space[before]) return pos;
        pos++;
    }
    return n_bytes;
}

size_t spm_count(const char *word, size_t n_bytes) {
    size_t n = 0;
    for (size_t pos = 0, n_used; pos < n_bytes; pos += n_used, n++)
        utf8_next(word + pos, n_bytes - pos, &n_used);
    return n;
}

int spm_encode(const struct spm *s, const char *word, size_t n_bytes, token_id *ids,
               struct spm_work *work) {
    struct word w = {s, word, work->symbols, work->candidates, 0};
    int n_symbols = chain_start(&w, n_bytes), n_ids = 0;
    for (int i = 0; i < n_symbols; i++) offer(&w, i);

    while (w.n_heap > 0) {
        uint64_t best = heap_pop(&w);
        int left = (int)(best & UINT32_MAX);
        token_id joined = w.chain[left].joined;
        if (joined == NONE || s->ranks[joined] != best >> 32) continue;
        merge_at(&w, left);
        offer(&w, w.chain[left].prev);
        offer(&w, left);
    }

    for (int i = n_symbols > 0 ? 0 : NONE; i != NONE; i = w.chain[i].next) {
        const char *text = word + w.chain[i].begin;
        token_id id = w.chain[i].id;
        if (id == NONE) id = find(s, text, w.chain[i].n_bytes);
        if (id != NONE)
            ids[n_ids++] = id;
        else
            n_ids = spell(s, text, w.chain[i].n_bytes, ids, n_ids);
    }
    return n_ids;
}
