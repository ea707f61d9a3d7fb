// One calculation under all four levels: bytes moved, operations done, and the seconds that a
// machine needs for them. An exercise: solutions/common/cost.c.
//
//   seconds = max(bytes / bandwidth, operations / rate)      (roofline: Williams et al. 2009)
#ifndef COMMON_COST_H
#define COMMON_COST_H

struct cost_machine {
    double bytes_per_s; // read bandwidth of a working set as large as the model
    double ops_per_s;   // arithmetic of the kernels' type; a multiply and an add are two
};

// What a model asks of a machine. Counts are numbers of values; the bytes of one stand beside them.
struct cost_model {
    double layer_weights;    // in all layers' matrices: neither embedding nor head
    double head_weights;     // of the output matrix: n_vocab * d_model
    double kv_values;        // K and V of one token: 2 * n_layers * n_kv_heads * d_head
    double bytes_per_weight; // of the layers (Q4_1: 20 / 32)
    double bytes_per_head_weight; // may be another type than the layers
    double bytes_per_kv_value;
    double
        ops_per_row_key; // attention, one row and one key: 4 * n_layers * n_heads * d_head
};

struct cost_step {
    double n_rows;       // tokens fed
    double n_logit_rows; // rows that want logits
    double n_keys_read;  // keys in all sequences, each sequence counted once: KV traffic
    double n_row_keys;   // sum over rows of the keys a row attends to: attention work
};

struct cost {
    double weight_bytes; // read once a step, whatever the number of rows
    double kv_bytes;     // K and V of n_keys_read, read, and of n_rows, written
    double ops;
    double seconds; // 0 when machine is NULL
};

// Exact in doubles for any real model. Never fails; all inputs must be finite and >= 0.
// The head is read only if n_logit_rows > 0.
struct cost cost_of_step(const struct cost_model *model, const struct cost_step *step,
                         const struct cost_machine *machine);

#endif
