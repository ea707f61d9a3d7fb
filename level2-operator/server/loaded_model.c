// Opening a model in the order in which it can still be refused cheaply: parse, count, then take.
#include "level2-operator/server/loaded_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/limits.h"
#include "level2-operator/engine/serial_fit.h"

static double mib(uint64_t n_bytes) {
    return (double)n_bytes / (1 << 20);
}

// ---- counting -----------------------------------------------------------------------------------

uint64_t ledger_bytes(const struct engine_ledger *l) {
    return l->weights_bytes + l->tables_bytes + l->packed_bytes + l->kv_bytes +
           l->activation_bytes + l->other_bytes;
}

enum status ledger_fits(const struct engine_ledger *wanted,
                        const struct engine_ledger *beside, uint64_t memory_bytes,
                        struct error *err) {
    uint64_t n_wanted = ledger_bytes(wanted), n_beside = ledger_bytes(beside);

    if (memory_bytes == 0) return OK;
    if (n_beside <= memory_bytes && n_wanted <= memory_bytes - n_beside) return OK;
    return error_set_param(
        err, ERR_MEMORY, "memory",
        "does not fit beside the model that serves: it needs %.1f MiB (weights %.1f, KV "
        "%.1f), the other one has %.1f MiB, allowed are %.1f MiB for both; --memory "
        "%" PRIu64 " or a smaller --context would do",
        mib(n_wanted), mib(wanted->weights_bytes), mib(wanted->kv_bytes), mib(n_beside),
        mib(memory_bytes), n_wanted + n_beside);
}

static void print_ledger(const struct load_options *o, const struct engine_ledger *l,
                         int n_ctx) {
    log_line(
        o->log, LOG_INFO, "memory",
        "weights_mib=%.1f tables_mib=%.1f packed_mib=%.1f kv_mib=%.1f activations_mib=%.1f "
        "other_mib=%.1f total_mib=%.1f allowed_mib=%.1f context=%d",
        mib(l->weights_bytes), mib(l->tables_bytes), mib(l->packed_bytes), mib(l->kv_bytes),
        mib(l->activation_bytes), mib(l->other_bytes), mib(ledger_bytes(l)),
        mib(o->memory_bytes), n_ctx);
}

// Nobody asked for less: so it must not go unsaid.
static void print_shortened(const struct load_options *o, const struct model *model,
                            int n_ctx) {
    int n_model = model->config.n_ctx;
    int usual = n_model < LIMIT_DEFAULT_CONTEXT ? n_model : LIMIT_DEFAULT_CONTEXT;
    if (o->engine.n_ctx == 0 && n_ctx < usual)
        log_line(o->log, LOG_WARN, "context made shorter, to fit --memory",
                 "context=%d usual=%d", n_ctx, usual);
}

// ---- opening ------------------------------------------------------------------------------------

static void print_model(const struct loaded_model *m, const struct load_options *o,
                        int64_t began_ns) {
    struct error why;
    char name[256], id[2 * LIMIT_MODEL_ID_BYTES], sampling[SAMPLING_TEXT_BYTES];
    double seconds = (double)(clock_now(o->engine.clock) - began_ns) / 1e9;
    log_line(o->log, LOG_INFO, "model loaded",
             "id=%s name=%s arch=%s context=%d threads=%d seconds=%.2f",
             log_quote(id, sizeof(id), m->served.id),
             log_quote(name, sizeof(name), m->model.name), arch_name(m->model.config.arch),
             engine_context(m->served.engine), o->engine.team->n_workers, seconds);
    log_line(o->log, LOG_INFO, "sampling, where a request does not say", "from=%s %s",
             sampling_defaults_differ(&m->model.sampling) ? "model" : "api",
             sampling_defaults_text(&m->model.sampling, sampling));
    if (chat_template_check(&m->model.chat, &why))
        log_line(o->log, LOG_WARN, "no chat", "reason=%s",
                 log_quote(name, sizeof(name), why.text));
}

static enum status create_engine(struct loaded_model *m, const struct load_options *o,
                                 struct error *err) {
    struct engine_serial_options options = o->engine;

    enum status st = serial_fit(&options, &m->model, o->memory_bytes, err);
    if (!st) st = engine_serial_ledger(&m->model, &options, &m->ledger, err);
    if (!st && o->beside) st = ledger_fits(&m->ledger, o->beside, o->memory_bytes, err);
    if (st) return st;
    print_ledger(o, &m->ledger, options.n_ctx); // before anything is taken
    print_shortened(o, &m->model, options.n_ctx);
    st = model_file_check_same(&m->model.file, err); // or packing would run into its end
    if (!st) st = engine_serial_create(&m->served.engine, &m->model, &options, err);
    return st ? st : model_file_check_same(&m->model.file, err);
}

enum status loaded_model_open(struct loaded_model *m, const struct load_options *o,
                              struct error *err) {
    int64_t began_ns = clock_now(o->engine.clock);

    memset(m, 0, sizeof(*m));
    enum status st = model_open(&m->model, o->path, &o->model, err);
    if (!st) st = create_engine(m, o, err);
    if (st) {
        loaded_model_close(m);
        return st;
    }
    m->served.model = &m->model;
    m->served.created_s = clock_unix_s();
    snprintf(m->served.id, sizeof(m->served.id), "%s", o->id);
    print_model(m, o, began_ns);
    return OK;
}

void loaded_model_close(struct loaded_model *m) {
    engine_destroy(m->served.engine);
    model_close(&m->model);
    memset(m, 0, sizeof(*m));
}
