// bench: how fast this machine computes this model, and how much of its bandwidth that takes.
// Prefill and decode are measured apart, because they end at different walls: operations and bytes.
//
//   prefill   N_PREFILL tokens, LIMIT_STEP_ROWS a step: each weight read meets 64 tokens
//   decode    N_DECODE tokens one by one: all weights are read for each of them
//   read      the model file summed up by all threads: what memory gives to plain C
//
// With --predict it also measures single matrix products, apart from the model, and says from these and
// common/cost.h what prefill and decode should take. With --events it measures no model, but how fast
// the client takes a recorded answer apart.
#include <stdint.h>
#include <stdio.h>

#include "common/cli.h"
#include "common/clock.h"
#include "common/defaults.h"
#include "common/limits.h"
#include "common/os.h"
#include "common/progress.h"
#include "level2-operator/engine/sequence.h"
#include "level2-operator/model/model_cost.h"
#include "level3-optimizer/bench_events.h"
#include "level3-optimizer/bench_report.h"
#include "level3-optimizer/measure.h"
#include "level3-optimizer/prediction.h"
#include "level3-optimizer/probe.h"

#ifndef BUILD_FLAGS
#define BUILD_FLAGS "unknown flags"
#endif

enum { N_PREFILL = 256, N_DECODE = 32 };

// What is measured; without --predict the first N_PLAIN. decode goes behind the prompt of prefill.
enum { READ, PREFILL, DECODE, N_PLAIN, LAYER_MANY = N_PLAIN, LAYER_ONE, HEAD_ONE, N_ALL };

static const char *const COMPILER =
#ifdef __clang__
    __VERSION__;
#else
    "gcc " __VERSION__;
#endif

struct bench {
    const char *path, *events;
    int n_threads;
    bool json, predict;
    struct arena arena;
    struct model model;
    struct team team;
    struct sequence sequence;
    struct clock clock;
    struct progress progress;
    struct read_probe read;
    struct matmul_probe layer_many, layer_one, head_one;
    struct measurement measurements[N_ALL];
    token_id tokens[N_PREFILL];
};

// ---- what is measured ---------------------------------------------------------------------------

static double prefill(void *arg) {
    struct bench *b = arg;
    sequence_clear(&b->sequence);
    for (int t = 0; t < N_PREFILL; t += LIMIT_STEP_ROWS)
        sequence_feed(&b->sequence, b->tokens + t, LIMIT_STEP_ROWS,
                      t + LIMIT_STEP_ROWS == N_PREFILL);
    return N_PREFILL;
}

static double decode(void *arg) { // behind the prompt that prefill left
    struct bench *b = arg;
    kv_table_truncate(&b->sequence.table, N_PREFILL);
    for (int t = 0; t < N_DECODE; t++) sequence_feed(&b->sequence, &b->tokens[t], 1, 1);
    return N_DECODE;
}

// The largest file of the model: what is read to measure bandwidth.
static const struct mapped_file *largest_file(const struct model_file *f) {
    const struct mapped_file *largest = &f->maps[0];
    for (int i = 1; i < f->n_maps; i++)
        if (f->maps[i].n_bytes > largest->n_bytes) largest = &f->maps[i];
    return largest;
}

static enum status list_measurements(struct bench *b, struct error *err) {
    const struct weight *layer = &b->model.layers[0].gate, *head = &b->model.output;
    struct measurement *m = b->measurements;

    m[READ] = (struct measurement){.work = read_probe_run, .arg = &b->read};
    m[PREFILL] = (struct measurement){.work = prefill, .arg = b};
    m[DECODE] = (struct measurement){.work = decode, .arg = b};
    m[LAYER_MANY] = (struct measurement){.work = matmul_probe_run, .arg = &b->layer_many};
    m[LAYER_ONE] = (struct measurement){.work = matmul_probe_run, .arg = &b->layer_one};
    m[HEAD_ONE] = (struct measurement){.work = matmul_probe_run, .arg = &b->head_one};

    b->read.file = largest_file(&b->model.file);
    b->read.team = &b->team;
    enum status st =
        matmul_probe_init(&b->layer_many, layer, LIMIT_STEP_ROWS, &b->team, &b->arena, err);
    if (st == OK) st = matmul_probe_init(&b->layer_one, layer, 1, &b->team, &b->arena, err);
    if (st == OK) st = matmul_probe_init(&b->head_one, head, 1, &b->team, &b->arena, err);
    return st;
}

// ---- bench --------------------------------------------------------------------------------------

static enum status bench_open(struct bench *b, struct error *err) {
    struct run_limits limits = {LIMIT_STEP_ROWS, 1, 0, N_PREFILL + N_DECODE};
    enum status st;

    arena_init(&b->arena, SIZE_MAX);
    clock_init_real(&b->clock);
    st = model_open(&b->model, b->path, NULL, err);
    if (st == OK) st = team_open(&b->team, &b->arena, b->n_threads, err);
    if (st == OK)
        st = sequence_init(&b->sequence, &ops_plain, &b->model, limits, &b->team, &b->arena,
                           err);
    if (st == OK) st = list_measurements(b, err);
    for (int t = 0; t < N_PREFILL; t++)
        b->tokens[t] = st == OK ? (token_id)(t * 7919L % b->model.config.n_vocab) : 0;
    return st;
}

static void bench_close(struct bench *b) {
    team_close(&b->team);
    model_close(&b->model);
    arena_free(&b->arena);
}

static void describe(const struct bench *b, struct bench_report *r,
                     const struct cost_model *cost) {
    r->machine = bench_machine_here(COMPILER, BUILD_FLAGS);
    r->n_threads = b->n_threads;
    r->model_name = b->model.name;
    r->ops_name = b->sequence.ops->name;
    r->token_bytes = cost->layer_weights * cost->bytes_per_weight +
                     cost->head_weights * cost->bytes_per_head_weight;
    r->prefill.name = "prefill";
    r->prefill.workload = (struct workload){N_PREFILL, LIMIT_STEP_ROWS, 0, false};
    r->decode.name = "decode";
    r->decode.workload = (struct workload){N_DECODE, 1, N_PREFILL, true};
}

static void name_kernel(char *text, size_t n_text, const struct weight *w) {
    snprintf(text, n_text, "%s, %d x %d", dtype_info(w->dtype)->name, w->n_out, w->n_in);
}

// What the steps should take, from what was measured without them.
static void bench_predict(const struct bench *b, struct bench_report *r,
                          const struct cost_model *cost) {
    const struct measurement *m = b->measurements;
    struct speed one = {r->read.median, m[LAYER_ONE].rate.median, m[HEAD_ONE].rate.median};
    struct speed many = one;
    many.layer_ops_per_s = m[LAYER_MANY].rate.median;

    name_kernel(r->layer_kernel, sizeof(r->layer_kernel), &b->layer_one.weight);
    name_kernel(r->head_kernel, sizeof(r->head_kernel), &b->head_one.weight);
    r->prefill.speed = many;
    r->decode.speed = one;
    r->prefill.prediction = predict(cost, &r->prefill.workload, &many);
    r->decode.prediction = predict(cost, &r->decode.workload, &one);
    r->is_predicted = true;
}

static void bench_run(struct bench *b, struct bench_report *r) {
    struct cost_model cost = model_cost(&b->model, DTYPE_F32); // plain ops keep K and V so
    struct measurement *m = b->measurements;
    int n = b->predict ? N_ALL : N_PLAIN;

    describe(b, r, &cost);
    progress_start(&b->progress, stderr, &b->clock, "measuring", (uint64_t)n * MEASURE_RUNS,
                   false);
    measure(m, n, &b->clock, &b->progress);
    progress_end(&b->progress);
    r->read = m[READ].rate;
    r->prefill.rate = m[PREFILL].rate;
    r->decode.rate = m[DECODE].rate;
    if (b->predict) bench_predict(b, r, &cost);
}

// Without a model.
static int bench_stream(const struct cli *cli, const struct bench *b) {
    const struct bench_machine machine = bench_machine_here(COMPILER, BUILD_FLAGS);
    struct error err;

    if (b->json || b->predict)
        return cli_usage(cli, "--events prints for people, and predicts nothing");
    enum status st = bench_events(b->events, &machine, &err);
    return st == OK ? cli_finish(cli) : cli_fail(cli, &err);
}

int main(int argc, char **argv) {
    struct bench b = {.path = DEFAULT_MODEL_PATH};
    struct bench_report r = {0};
    struct error err;

    b.n_threads = os_cpu_count();
    if (b.n_threads > LIMIT_WORKERS) b.n_threads = LIMIT_WORKERS;
    // clang-format off
    const struct cli_option options[] = {
        {"model", "FILE", CLI_STRING, &b.path, .help = "GGUF file"},
        {"threads", "N", CLI_INT, &b.n_threads, "compute threads", 1, LIMIT_WORKERS, false},
        {"predict", NULL, CLI_FLAG, &b.predict, .help = "say what it should take as well"},
        {"events", "FILE", CLI_STRING, &b.events, .help = "no model: read this event stream"},
        {"json", NULL, CLI_FLAG, &b.json, .help = "one JSON document"},
        {0},
    };
    // clang-format on
    const struct cli cli = {
        .program = "bench",
        .summary = "tokens per second of this machine, beside its read bandwidth",
        .example = "bench --model models/SmolLM2-135M-Instruct.Q4_1.gguf --threads 2",
        .options = options,
    };
    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;

    mapped_file_explain_faults();
    if (b.events) return bench_stream(&cli, &b);
    enum status st = bench_open(&b, &err);
    if (st == OK) {
        bench_run(&b, &r);
        if (b.json)
            st = bench_report_json(&r, &err);
        else
            bench_report_print(&r);
    }
    bench_close(&b);
    return st == OK ? cli_finish(&cli) : cli_fail(&cli, &err);
}
