// Does a model fit, with its traffic? Exact bytes of one device; seconds: common/cost.h.
//
//   |<------------- share of the device's memory ----------------->|<- not ours ->|
//   | overhead | weights / n_split | KV  KV  KV  ... one each seq.  |
//                                  |<------------ room ----------->|
//
// All sizes are bytes: never KB, GB or GiB. What 64 bits cannot count is FIT_TOO_MUCH: it
// fits nowhere, nothing wraps around. level2-operator/fit/fit_sums.h multiplies and adds so.
#ifndef LEVEL2_FIT_H
#define LEVEL2_FIT_H

#include <stdbool.h>
#include <stdint.h>

static const uint64_t FIT_TOO_MUCH = UINT64_MAX;

// How values are stored: block_len of them in block_bytes, scales included. bf16 {1, 2},
// Q4_1 {32, 20}, bare 4 bits {2, 1}. Both above 0.
struct fit_type {
    int block_len, block_bytes;
};

struct fit_model {
    uint64_t n_weights;     // all that is stored: every expert; a tied matrix once
    int n_layers;           // at least 1
    int n_heads;            // of queries: a split gives each device the same number of them
    int n_kv_heads, d_head; // d_head is the model's own: not always d_model / n_heads
    int d_latent;        // above 0: one row of so many values is K and V of all heads (MLA)
    int n_window_layers; // of n_layers: they keep the last window tokens only
    uint64_t window;     // at least 1 where there are such layers
};

struct fit_plan {
    uint64_t weight_bytes; // of one whole copy of the model, at most 2^60
    struct fit_type kv;
    // beside each stored row: one head's K or V of one token, or the latent row
    int kv_scale_bytes;
    uint64_t n_seqs; // at the same time; at least 1
    uint64_t n_ctx;  // tokens of each; at least 1
    int n_split;     // devices that one copy is split over; at least 1
};

struct fit_device {
    uint64_t memory_bytes;   // that an engine can see, at most 2^53
    int share;               // of it, for the engine: thousandths, 1 to 1000
    uint64_t overhead_bytes; // beside weights and KV: activations, graphs; at most 2^60
    uint64_t split_bytes;    // besides, when n_split > 1: buffers to talk; at most 2^60
};

// n_values in whole blocks; the last one may be partly used.
uint64_t fit_bytes(struct fit_type type, uint64_t n_values);

// K and V of ONE sequence of n_tokens on ONE device of plan->n_split. In each layer a token
//   heads: is a row of d_head values for K and one for V, for each KV head of the device.
//          KV heads are divided as evenly as whole ones can be; the device with the most
//          counts. Where n_split > n_kv_heads, each device still has one
//   MLA:   is one row of d_latent values, the same on each device
// A row takes whole blocks of plan->kv, and kv_scale_bytes. Layers with a window count at
// most window tokens, others n_tokens. Only kv, kv_scale_bytes and n_split of plan matter.
uint64_t fit_kv_bytes(const struct fit_model *m, const struct fit_plan *plan,
                      uint64_t n_tokens);

// Bytes that are left for KV on each device: its share of the memory, rounded down, without
// overhead (and split_bytes, if it is split), without its part of the weights, rounded up.
// 0: nothing is left.
uint64_t fit_room(const struct fit_plan *plan, const struct fit_device *d);

// How many sequences of plan->n_ctx tokens go into room.
uint64_t fit_max_sequences(const struct fit_model *m, const struct fit_plan *plan,
                           uint64_t room);

// The largest number of tokens, at most `most`, that each of plan->n_seqs sequences may
// have in room; 0: not even one. most < 2^63, so nobody can try them one by one; but more
// tokens never take fewer bytes.
uint64_t fit_max_context(const struct fit_model *m, const struct fit_plan *plan,
                         uint64_t room, uint64_t most);

// What one device must hold: overhead (and split_bytes), its part of the weights, and K and
// V of n_seqs sequences of n_ctx tokens.
uint64_t fit_device_bytes(const struct fit_model *m, const struct fit_plan *plan,
                          const struct fit_device *d);

// Whether that is within the device's share.
bool fit_fits(const struct fit_model *m, const struct fit_plan *plan,
              const struct fit_device *d);

// The smallest n_split with which plan fits, whatever its own is; only those that divide
// n_heads can be had. 0: there is none.
int fit_devices(const struct fit_model *m, const struct fit_plan *plan,
                const struct fit_device *d);

#endif
