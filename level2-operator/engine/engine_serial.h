// The first engine: one request at a time, first come first served. Prompts are fed at most
// LIMIT_STEP_ROWS rows a step, so that cancel and the heartbeat are prompt. The longest common
// prefix with the previous request is not computed again if both have the same cache_scope; at
// least the last token of a prompt is, so a prompt seen before has n_prompt - 1 cached tokens.
//
// A cancelled request keeps its place in the queue until the next step says EVENT_FINISH.
// Heartbeat: last_step_ns is renewed by every step and whenever engine_park returns. An engine is
// well when it is idle (n_waiting + n_running = 0) or its heartbeat is recent.
#ifndef LEVEL2_ENGINE_SERIAL_H
#define LEVEL2_ENGINE_SERIAL_H

#include "common/clock.h"
#include "common/engine.h"
#include "common/team.h"
#include "common/trace.h"
#include "level2-operator/model/model.h"
#include "level2-operator/model/ops.h"

struct engine_serial_options {
    const struct ops *ops; // NULL: ops_plain
    int n_ctx;           // positions; 0: the least of the model's and LIMIT_DEFAULT_CONTEXT
    int step_rows;       // rows of a prompt per step; 0: LIMIT_STEP_ROWS
    int max_waiting;     // queue; 0: LIMIT_QUEUE
    enum dtype kv_dtype; // of the KV cache; 0: DTYPE_F32
    bool no_cache;       // never reuse a prefix
    uint64_t memory_bytes; // for all that create takes; 0: no limit
    struct team *team;     // borrowed; required
    // Borrowed, packs the weights while create runs; NULL: team. A second engine made beside one
    // that steps needs one of its own, since a team has one caller at a time.
    struct team *packers;
    // Borrowed; NULL: its own. Engines that one thread steps share it: parked in one of them, the
    // thread wakes for all.
    _Atomic uint32_t *wakes;
    struct clock *clock; // borrowed; required
    struct trace *trace; // borrowed; NULL: off. Steps and requests are on lane 0
    struct engine_listener listener; // notify may be NULL
};

// What the engine will take: printed by serve before it is taken.
struct engine_ledger {
    uint64_t weights_bytes; // the file's tensors, mapped
    uint64_t tables_bytes;  // the model's arena before create: tables, vectors, tokenizer
    uint64_t packed_bytes;
    uint64_t kv_bytes;
    uint64_t activation_bytes;
    uint64_t other_bytes; // queues, sampler
};

// Exact: kv + activation + other is what create takes; packed goes to the model's arena, where tables
// are already. To be asked before create: afterwards packed would be among the tables.
enum status engine_serial_ledger(const struct model *model,
                                 const struct engine_serial_options *options,
                                 struct engine_ledger *ledger, struct error *err);

// For a model that is not loaded: activation + other of its ledger, with plain ops.
uint64_t engine_serial_beside_kv(const struct config *c, const struct run_limits *limits,
                                 int max_waiting);

// The model is borrowed and must outlive the engine; only this engine may use its weights.
enum status engine_serial_create(struct engine **e, struct model *model,
                                 const struct engine_serial_options *options,
                                 struct error *err);

// The same in an arena of the caller's, who frees it after engine_destroy or a failure: for tests
// that count allocations or make them fail.
enum status engine_serial_create_in(struct engine **e, struct model *model,
                                    const struct engine_serial_options *options,
                                    struct arena *arena, struct error *err);

#endif
