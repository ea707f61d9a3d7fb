// What lies inside a block of the plain KV cache, and how to find it:
//
//   block   (n_layers, 2, n_kv_heads, block_len, d_head) f32, K before V
//
// ops_plain writes it and reads it; no other module includes this.
#ifndef LEVEL2_KV_PLAIN_H
#define LEVEL2_KV_PLAIN_H

#include "level2-operator/kernels/attention.h"
#include "level2-operator/model/ops.h"

enum status kv_plain_layout(struct kv_layout *layout, const struct config *c,
                            struct error *err);

// K and V of one token go where its sequence's table says. MUST: the table has the block.
void kv_plain_store(const struct run *run, const struct kv_table *table, int layer,
                    int position,
                    const float *k,  // (n_kv_heads, d_head)
                    const float *v); // the same

// Keys begin .. end - 1 of a sequence in one layer and KV head, as runs: one for each block that they
// touch. Returns how many; runs has room for end - begin.
int kv_plain_runs(struct kv_run *runs, const struct run *run, const struct kv_table *table,
                  int layer, int head, int begin, int end);

#endif
