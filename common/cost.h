// One calculation under all four levels: bytes moved, operations done, and the seconds that a
// machine needs for them.
//
//   seconds = max(bytes / bandwidth, operations / rate)      (roofline: Williams et al. 2009)
//
//   bytes       weights, once a step                keys and values, once a sequence
//   operations  a multiply and an add for each weight and row; attention for each row and key
#ifndef COMMON_COST_H
#define COMMON_COST_H

struct cost_machine {
    double bytes_per_s; // read bandwidth of a working set as large as the model; above 0
    double ops_per_s;   // of the kernels' type, a multiply and an add are two; above 0
};

// What a model asks of a machine. Counts are numbers of values; the bytes of one stand beside them.
struct cost_model {
    double layer_weights;    // in all layers' matrices: neither embedding nor head
    double head_weights;     // of the output matrix: n_vocab * d_model
    double kv_values;        // K and V of one token: 2 * n_layers * n_kv_heads * d_head
    double bytes_per_weight; // of the layers (Q4_1: 20 / 32)
    double bytes_per_head_weight; // may be another type than the layers
    double bytes_per_kv_value;
    double ops_per_row_key; // attention: 4 * n_layers * n_heads * d_head
};

// What a step does. The K and V of its own rows are written, so they count among the rows,
// never among the keys read: one token behind 1000 has n_keys_read 1000, n_row_keys 1001.
struct cost_step {
    double n_rows;       // tokens fed
    double n_logit_rows; // rows that want logits
    double n_keys_read;  // keys stored before, in all sequences, each once: KV traffic
    double n_row_keys;   // sum over rows of the keys a row attends to: attention work
};

struct cost {
    double weight_bytes; // read once a step, whatever the number of rows
    double kv_bytes;     // K and V of n_keys_read, read, and of n_rows, written
    double ops;          // two for each weight and row that meet, and attention's
    double read_seconds; // all bytes over the bandwidth
    double compute_seconds;
    double seconds; // the longer of the two: reading and computing go on side by side
};

// The layers' weights are read only if n_rows > 0, the head only if n_logit_rows > 0; only
// rows that want logits meet the head. machine may be NULL: then all seconds are 0. Never
// fails; all inputs are finite and >= 0. Doubles hold every count of a real model exactly.
struct cost cost_of_step(const struct cost_model *model, const struct cost_step *step,
                         const struct cost_machine *machine);

#endif
