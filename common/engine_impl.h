// For engines only: the table that common/engine.c forwards to. An engine puts struct engine first
// in its own struct. What each call promises stands in common/engine.h.
#ifndef COMMON_ENGINE_IMPL_H
#define COMMON_ENGINE_IMPL_H

#include "common/engine.h"

struct engine_table {
    const char *name; // "serial"
    enum status (*submit)(struct engine *e, const struct engine_params *params,
                          request_id *id, struct error *err);
    void (*cancel)(struct engine *e, request_id id);
    int (*poll)(struct engine *e, struct engine_event *events, int max_events);
    void (*stats)(struct engine *e, struct engine_stats *stats);
    bool (*step)(struct engine *e);
    void (*park)(struct engine *e, int64_t timeout_ns);
    void (*wake)(struct engine *e);
    int (*context)(const struct engine *e);
    void (*destroy)(struct engine *e);
};

struct engine {
    const struct engine_table *table;
};

// ERR_INPUT with the field in err->param when a value is out of the range that engine.h gives.
// n_vocab bounds token ids. Every engine calls it first, so that all refuse alike.
enum status engine_params_check(const struct engine_params *p, int n_vocab,
                                struct error *err);

#endif
