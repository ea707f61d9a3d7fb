// Counts where the solution multiplies.
#include "tests/support/fit_oracle.h"

#include <stdio.h>

struct fit_model fit_drawn_model(struct draw *d) {
    int n_kv_heads = draw_int(d, 1, 9);
    struct fit_model m = {.n_weights = 1,
                          .n_layers = draw_int(d, 2, 33),
                          .n_heads = n_kv_heads * draw_int(d, 1, 8),
                          .n_kv_heads = n_kv_heads,
                          .d_head = 2 * draw_int(d, 3, 130)};
    if (draw_int(d, 0, 2) == 0) m.d_latent = draw_int(d, 1, 700);
    if (draw_int(d, 0, 1)) {
        m.n_window_layers = draw_int(d, 1, m.n_layers);
        m.window = (uint64_t)draw_int(d, 1, 999);
    }
    return m;
}

struct fit_plan fit_drawn_plan(struct draw *d) {
    const struct fit_type types[] = {
        {1,  2 },
        {1,  1 },
        {32, 34}
    };
    return (struct fit_plan){.weight_bytes = (uint64_t)draw_int(d, 1, 1000000000),
                             .kv = types[draw_int(d, 0, 2)],
                             .kv_scale_bytes = draw_int(d, 0, 1) * draw_int(d, 1, 4),
                             .n_seqs = (uint64_t)draw_int(d, 1, 40),
                             .n_ctx = (uint64_t)draw_int(d, 1, 3000),
                             .n_split = draw_int(d, 1, 12)};
}

// Layer by layer, and head by head, dealt out to the devices like cards: the first one has the most.
uint64_t fit_counted_kv(const struct fit_model *m, const struct fit_plan *p, uint64_t n) {
    uint64_t sum = 0;
    for (int l = 0; l < m->n_layers; l++) {
        uint64_t kept = l < m->n_window_layers && n > m->window ? m->window : n;
        int n_rows = 0, row_len = m->d_latent ? m->d_latent : m->d_head;
        for (int h = 0; h < m->n_kv_heads && !m->d_latent; h += p->n_split) n_rows += 2;
        if (m->d_latent) n_rows = 1;
        int row_bytes = p->kv_scale_bytes;
        for (int i = 0; i < row_len; i += p->kv.block_len) row_bytes += p->kv.block_bytes;
        sum += kept * (uint64_t)n_rows * (uint64_t)row_bytes;
    }
    return sum;
}

const char *fit_words(char *what, size_t n_bytes, const char *call,
                      const struct fit_model *m, const struct fit_plan *p, const char *name,
                      uint64_t n) {
    snprintf(what, n_bytes,
             "%s(%d layers, %d with window %d, %d KV heads of %d, latent %d, type {%d, %d} "
             "+ %d, n_split %d, n_seqs %d, n_ctx %d, %s %llu)",
             call, m->n_layers, m->n_window_layers, (int)m->window, m->n_kv_heads,
             m->d_head, m->d_latent, p->kv.block_len, p->kv.block_bytes, p->kv_scale_bytes,
             p->n_split, (int)p->n_seqs, (int)p->n_ctx, name, (unsigned long long)n);
    return what;
}

const char *fit_words_on(char *what, size_t n_bytes, const char *call,
                         const struct fit_model *m, const struct fit_plan *p,
                         const struct fit_device *d) {
    char device[128];
    snprintf(device, sizeof(device),
             "%d heads, memory %llu * %d/1000, overhead %llu + %llu, weights", m->n_heads,
             (unsigned long long)d->memory_bytes, d->share,
             (unsigned long long)d->overhead_bytes, (unsigned long long)d->split_bytes);
    return fit_words(what, n_bytes, call, m, p, device, p->weight_bytes);
}

uint64_t fit_counted_device(const struct fit_model *m, const struct fit_plan *p,
                            const struct fit_device *d) {
    uint64_t part = p->weight_bytes / (uint64_t)p->n_split;
    if (p->weight_bytes % (uint64_t)p->n_split) part++;
    return d->overhead_bytes + (p->n_split > 1 ? d->split_bytes : 0) + part +
           p->n_seqs * fit_counted_kv(m, p, p->n_ctx);
}
