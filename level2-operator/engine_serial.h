// The first engine: one request at a time, first come first served. Prompts are fed at most
// LIMIT_STEP_ROWS rows a step, so that cancel and the heartbeat are prompt. The longest common
// prefix with the previous request of the same cache_scope is not computed again.
#ifndef LEVEL2_ENGINE_SERIAL_H
#define LEVEL2_ENGINE_SERIAL_H

#include "common/clock.h"
#include "common/engine.h"
#include "common/team.h"
#include "common/trace.h"
#include "level2-operator/model.h"
#include "level2-operator/ops.h"

struct engine_serial_options {
    const struct ops *ops; // NULL: ops_plain
    int n_ctx;       // positions; 0: the least of the model's and LIMIT_DEFAULT_CONTEXT
    int step_rows;   // rows of a prompt per step; 0: LIMIT_STEP_ROWS
    int max_waiting; // queue; 0: LIMIT_QUEUE
    bool no_cache;   // never reuse a prefix
    uint64_t memory_bytes;           // for KV and activations; 0: no limit
    struct team *team;               // borrowed; required
    struct clock *clock;             // borrowed; required
    struct trace *trace;             // borrowed; NULL: off
    struct engine_listener listener; // notify may be NULL
};

// What the engine will take: printed by serve before it is taken.
struct engine_ledger {
    uint64_t weights_bytes; // file views
    uint64_t packed_bytes;
    uint64_t kv_bytes;
    uint64_t activation_bytes;
    uint64_t other_bytes; // queues, sampler
};

enum status engine_serial_ledger(const struct model *model,
                                 const struct engine_serial_options *options,
                                 struct engine_ledger *ledger, struct error *err);

// The model is borrowed and must outlive the engine; only this engine may use its weights.
enum status engine_serial_create(struct engine **e, struct model *model,
                                 const struct engine_serial_options *options,
                                 struct error *err);

#endif
