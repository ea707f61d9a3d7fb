// Bytes against bytes: no estimate, no rounding but that of the contract.
#include "level2-operator/fit/fit.h"

// [exercise fit drop]
#include "level2-operator/fit/fit_sums.h"

// K and V of one token in one layer on one device.
static uint64_t token_bytes(const struct fit_model *m, const struct fit_plan *plan) {
    bool is_latent = m->d_latent > 0;
    uint64_t n_values = (uint64_t)(is_latent ? m->d_latent : m->d_head);
    uint64_t row = sum_plus(fit_bytes(plan->kv, n_values), (uint64_t)plan->kv_scale_bytes);
    if (is_latent) return row;
    uint64_t n_heads = sum_parts((uint64_t)m->n_kv_heads, (uint64_t)plan->n_split);
    return sum_times(2 * n_heads, row);
}

static uint64_t share_of(const struct fit_device *d) {
    return d->memory_bytes * (uint64_t)d->share / 1000;
}

// All but KV.
static uint64_t fixed_bytes(const struct fit_plan *plan, const struct fit_device *d) {
    uint64_t fixed = sum_parts(plan->weight_bytes, (uint64_t)plan->n_split);
    fixed += d->overhead_bytes;
    if (plan->n_split > 1) fixed += d->split_bytes;
    return fixed;
}

static uint64_t all_kv_bytes(const struct fit_model *m, const struct fit_plan *plan,
                             uint64_t n_tokens) {
    return sum_times(plan->n_seqs, fit_kv_bytes(m, plan, n_tokens));
}

// [end]
uint64_t fit_bytes(struct fit_type type, uint64_t n_values) {
    // [exercise fit]
    uint64_t n_blocks = sum_parts(n_values, (uint64_t)type.block_len);
    return sum_times(n_blocks, (uint64_t)type.block_bytes);
    // [end]
}

uint64_t fit_kv_bytes(const struct fit_model *m, const struct fit_plan *plan,
                      uint64_t n_tokens) {
    // [exercise fit]
    uint64_t n_kept = n_tokens < m->window ? n_tokens : m->window;
    uint64_t n_full_layers = (uint64_t)(m->n_layers - m->n_window_layers);
    uint64_t n_rows = sum_times(n_full_layers, n_tokens);
    n_rows = sum_plus(n_rows, sum_times((uint64_t)m->n_window_layers, n_kept));
    return sum_times(n_rows, token_bytes(m, plan));
    // [end]
}

uint64_t fit_room(const struct fit_plan *plan, const struct fit_device *d) {
    // [exercise fit]
    uint64_t fixed = fixed_bytes(plan, d), share = share_of(d);
    return fixed < share ? share - fixed : 0;
    // [end]
}

uint64_t fit_max_sequences(const struct fit_model *m, const struct fit_plan *plan,
                           uint64_t room) {
    // [exercise fit]
    return room / fit_kv_bytes(m, plan, plan->n_ctx);
    // [end]
}

uint64_t fit_max_context(const struct fit_model *m, const struct fit_plan *plan,
                         uint64_t room, uint64_t most) {
    // [exercise fit]
    // With windows the bytes bend, so no division gives the answer. They never fall, so halving does.
    uint64_t low = 0, high = most; // low fits; above high nothing does
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (all_kv_bytes(m, plan, middle) <= room) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
    // [end]
}

uint64_t fit_device_bytes(const struct fit_model *m, const struct fit_plan *plan,
                          const struct fit_device *d) {
    // [exercise fit]
    return sum_plus(fixed_bytes(plan, d), all_kv_bytes(m, plan, plan->n_ctx));
    // [end]
}

bool fit_fits(const struct fit_model *m, const struct fit_plan *plan,
              const struct fit_device *d) {
    // [exercise fit]
    return fit_device_bytes(m, plan, d) <= share_of(d);
    // [end]
}

int fit_devices(const struct fit_model *m, const struct fit_plan *plan,
                const struct fit_device *d) {
    // [exercise fit]
    struct fit_plan split = *plan;
    for (split.n_split = 1; split.n_split <= m->n_heads; split.n_split++) {
        if (m->n_heads % split.n_split == 0 && fit_fits(m, &split, d)) return split.n_split;
    }
    return 0;
    // [end]
}
