// A model file made ready to answer: the model, the engine that computes with it, and the name that
// clients know it by. The owner of both.
//
//   model_open ──▶ what context fits (serial_fit.h) ──▶ beside what is there, too? ──▶ engine
#ifndef LEVEL2_LOADED_MODEL_H
#define LEVEL2_LOADED_MODEL_H

#include "common/log.h"
#include "level2-operator/engine/engine_serial.h"
#include "level2-operator/model/model.h"
#include "level2-operator/service/served.h"

struct loaded_model { // all-zero: none
    struct model model;
    struct engine_ledger ledger; // what it takes
    struct served served;        // points into this; engine owned
};

struct load_options {
    const char *path, *id;
    struct model_options model;
    struct engine_serial_options engine; // but for memory_bytes
    uint64_t memory_bytes; // of all models together, their weights included; 0: no limit
    const struct engine_ledger *beside; // of a model that stays in memory; NULL: none
    const struct log *log;              // borrowed
};

// On failure *m is all zero. ERR_MEMORY says with numbers why it does not fit; nothing was taken
// for the engine then. Must not move afterwards.
enum status loaded_model_open(struct loaded_model *m, const struct load_options *options,
                              struct error *err);

// By the thread that steps the engine, or when none does. Safe on a zeroed one.
void loaded_model_close(struct loaded_model *m);

// What a ledger adds up to.
uint64_t ledger_bytes(const struct engine_ledger *l);

// Do both fit into memory_bytes (0: no limit)? ERR_MEMORY names what is wanted, what is there, and what
// may be. The wanted one gets the context that it would have alone: a model is not to be shorter
// for good because another one had not left yet.
enum status ledger_fits(const struct engine_ledger *wanted,
                        const struct engine_ledger *beside, uint64_t memory_bytes,
                        struct error *err);

#endif
