// Takes the memory of a plain forward pass, once, for the worst step. The pieces stand in one list:
// run_plain_bytes adds it up, run_plain_init takes it, so the ledger cannot drift from the truth.
#include "level2-operator/model/run_plain.h"

enum { MAX_PIECES = 16 };

struct piece {
    float **where;
    size_t n; // floats
};

static int max_int(int a, int b) {
    return a > b ? a : b;
}

// Lists every piece of r and returns how many. Counts are products of two checked sizes and fit.
static int pieces_list(struct piece *p, struct run_plain *r, const struct config *c,
                       const struct run_limits *limits) {
    size_t rows = (size_t)limits->max_rows, workers = (size_t)limits->max_workers;
    size_t d_model = (size_t)c->d_model, d_head = (size_t)c->d_head, d_ff = (size_t)c->d_ff;
    size_t d_q = (size_t)c->n_heads * d_head, d_kv = (size_t)c->n_kv_heads * d_head;
    int n = 0;

    r->row_len = max_int(max_int(c->d_model, c->d_ff), c->n_heads * c->d_head);
    p[n++] = (struct piece){&r->x, rows * d_model};
    p[n++] = (struct piece){&r->q, rows * d_q};
    p[n++] = (struct piece){&r->k, rows * d_kv};
    p[n++] = (struct piece){&r->v, rows * d_kv};
    p[n++] = (struct piece){&r->mix, rows * d_q};
    p[n++] = (struct piece){&r->gate, rows * d_ff};
    p[n++] = (struct piece){&r->up, rows * d_ff};
    p[n++] = (struct piece){&r->add, rows * d_model};
    p[n++] =
        (struct piece){&r->logits, (size_t)limits->max_logit_rows * (size_t)c->n_vocab};
    p[n++] = (struct piece){&r->normed, workers * rows * d_model};
    p[n++] = (struct piece){&r->row, workers * (size_t)r->row_len};
    p[n++] = (struct piece){&r->acc, workers * 2 * d_head};
    return n;
}

size_t run_plain_bytes(const struct config *c, const struct run_limits *limits) {
    struct run_plain r;
    struct piece pieces[MAX_PIECES];
    int n = pieces_list(pieces, &r, c, limits);

    size_t sum = arena_bytes(1, sizeof(r));
    for (int i = 0; i < n; i++) sum += arena_bytes(pieces[i].n, sizeof(float));
    return sum;
}

enum status run_plain_init(struct run **run, const struct model *m, struct kv_pool *pool,
                           const struct run_limits *limits, struct arena *arena,
                           struct error *err) {
    const struct config *c = &m->config;
    struct piece pieces[MAX_PIECES];

    *run = NULL;
    struct run_plain *r = ARENA_NEW(arena, struct run_plain, 1);
    if (!r) goto no_memory;
    r->base = (struct run){.model = m, .pool = pool, .limits = *limits};

    int n = pieces_list(pieces, r, c, limits);
    for (int i = 0; i < n; i++) {
        *pieces[i].where = ARENA_NEW(arena, float, pieces[i].n);
        if (!*pieces[i].where) goto no_memory;
    }
    *run = &r->base;
    return OK;

no_memory:
    return error_set(
        err, ERR_MEMORY,
        "activations: no memory for %zu bytes; allow more, or fewer rows a step",
        run_plain_bytes(c, limits));
}
