// Makes the serial engine fit the machine, by the sums of fit: weights and engine are fixed, what is left is
// KV of one sequence.
//
//   |<---------------------- memory_bytes --------------------->|
//   | activations, queues, ... | weights | KV of n_ctx tokens   |
#ifndef LEVEL2_SERIAL_FIT_H
#define LEVEL2_SERIAL_FIT_H

#include "level2-operator/engine/engine_serial.h"

// memory_bytes is all that the server may take, the file's weights included; 0: no limit. On OK
// options->memory_bytes is what of it the engine may take, and options->n_ctx, where it was 0, the
// largest context that fits: at most the engine's own choice, at least LIMIT_LEAST_CONTEXT, or all that
// the model has. ERR_MEMORY: it does not fit, and what would; options as they were. And what
// engine_serial_ledger refuses.
enum status serial_fit(struct engine_serial_options *options, const struct model *model,
                       uint64_t memory_bytes, struct error *err);

// What serve takes on this machine with its defaults for a model of this shape, beside weights, tables and
// KV: activations and queues of n_ctx tokens. For fit, before there is a file.
uint64_t serial_fit_beside_kv(const struct config *c, uint64_t n_ctx);

#endif
