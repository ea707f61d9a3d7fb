// bench: how fast this machine computes this model, and how much of its bandwidth that takes.
// Prefill and decode are measured apart, because they end at different walls: operations and bytes.
//
//   prefill   N_PREFILL tokens, LIMIT_STEP_ROWS a step: each weight read meets 64 tokens
//   decode    N_DECODE tokens one by one: all weights are read for each of them
//   read      the model file summed up by all threads: what memory gives to plain C
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/clock.h"
#include "common/defaults.h"
#include "common/limits.h"
#include "common/os.h"
#include "common/progress.h"
#include "common/read_words.h"
#include "level2-operator/sequence.h"

#ifndef BUILD_FLAGS
#define BUILD_FLAGS "unknown flags"
#endif

enum { N_RUNS = 5, N_PREFILL = 256, N_DECODE = 32 };
enum { PAGE_BYTES = 4096, PAGE_WORDS = PAGE_BYTES / 8 }; // pages of 8 TB fit an int

static const char *const COMPILER =
#ifdef __clang__
    __VERSION__;
#else
    "gcc " __VERSION__;
#endif

// Median and spread of N_RUNS runs, in units per second.
struct rate {
    double median, min, max;
};

struct bench {
    const char *path;
    int n_threads;
    bool json;
    struct arena arena;
    struct model model;
    struct team team;
    struct sequence sequence;
    struct clock clock;
    struct progress progress;
    uint64_t n_measured; // runs so far, of all measurements
    token_id tokens[N_PREFILL];
    _Atomic uint64_t checksum; // keeps the reads of read_share alive
};

struct report {
    char cpu[128], features[256];
    int n_cores;
    double token_bytes; // weights read for one token
    struct rate prefill, decode, read;
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Runs work N_RUNS times, after one that warms the caches up; work returns how many units it did.
static struct rate measure(struct bench *b, double (*work)(struct bench *b)) {
    double rates[N_RUNS];
    work(b);
    for (int i = 0; i < N_RUNS; i++) {
        progress_update(&b->progress, b->n_measured++); // between the timed stretches
        int64_t begin_ns = clock_now(&b->clock);
        double n_units = work(b);
        rates[i] = n_units / (1e-9 * (double)(clock_now(&b->clock) - begin_ns));
    }
    qsort(rates, N_RUNS, sizeof(rates[0]), compare);
    return (struct rate){rates[N_RUNS / 2], rates[0], rates[N_RUNS - 1]};
}

static double prefill(struct bench *b) {
    sequence_clear(&b->sequence);
    for (int t = 0; t < N_PREFILL; t += LIMIT_STEP_ROWS)
        sequence_feed(&b->sequence, b->tokens + t, LIMIT_STEP_ROWS,
                      t + LIMIT_STEP_ROWS == N_PREFILL);
    return N_PREFILL;
}

static double decode(struct bench *b) { // behind the prompt that prefill left
    kv_table_truncate(&b->sequence.table, N_PREFILL);
    for (int t = 0; t < N_DECODE; t++) sequence_feed(&b->sequence, &b->tokens[t], 1, 1);
    return N_DECODE;
}

static void read_share(void *arg, struct worker *me) {
    struct bench *b = arg;
    const uint64_t *words = (const uint64_t *)(const void *)b->model.file.bytes;
    struct range mine = team_split(me, (int)(b->model.file.n_bytes / PAGE_BYTES), 1);
    size_t n_words = (size_t)(mine.end - mine.begin) * PAGE_WORDS;
    b->checksum += read_words(words + (size_t)mine.begin * PAGE_WORDS, n_words);
}

static double read_file(struct bench *b) {
    team_run(&b->team, read_share, b);
    return (double)(b->model.file.n_bytes / PAGE_BYTES * PAGE_BYTES);
}

static double weight_bytes(const struct weight *w) {
    return (double)w->row_bytes * w->n_out;
}

static double token_bytes(const struct model *m) {
    double sum = weight_bytes(&m->output);
    for (int i = 0; i < m->config.n_layers; i++) {
        const struct layer *l = &m->layers[i];
        const struct weight *all[] = {&l->q,    &l->k,  &l->v,   &l->o,
                                      &l->gate, &l->up, &l->down};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
            sum += weight_bytes(all[k]);
    }
    return sum;
}

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
    for (int t = 0; t < N_PREFILL; t++)
        b->tokens[t] = st == OK ? (token_id)(t * 7919L % b->model.config.n_vocab) : 0;
    return st;
}

static void bench_close(struct bench *b) {
    team_close(&b->team);
    model_close(&b->model);
    arena_free(&b->arena);
}

static void bench_run(struct bench *b, struct report *r) {
    os_cpu_name(r->cpu, sizeof(r->cpu));
    os_cpu_features(r->features, sizeof(r->features));
    r->n_cores = os_cpu_count();
    r->token_bytes = token_bytes(&b->model);
    progress_start(&b->progress, stderr, &b->clock, "measuring", 3 * N_RUNS, false);
    r->read = measure(b, read_file);
    r->prefill = measure(b, prefill);
    r->decode = measure(b, decode);
    progress_end(&b->progress);
}

static void print_rate(const char *name, struct rate r, double unit, const char *words) {
    printf("%-9s %7.1f   %7.1f .. %-7.1f %s\n", name, r.median / unit, r.min / unit,
           r.max / unit, words);
}

static void print_text(const struct bench *b, const struct report *r) {
    double read = r->decode.median * r->token_bytes;
    printf("machine   %s, %d cores (%s)\n", r->cpu, r->n_cores, r->features);
    printf("compiler  %s, %s\n", COMPILER, BUILD_FLAGS);
    printf("model     %s, %.1f MB of weights\n", b->model.name, r->token_bytes / 1e6);
    printf("engine    %s ops, %d threads\n\n", b->sequence.ops->name, b->n_threads);
    printf("           median       spread of %d runs\n", N_RUNS);
    print_rate("prefill", r->prefill, 1, "tokens/s, 64 a step");
    print_rate("decode", r->decode, 1, "tokens/s, one a step");
    print_rate("read", r->read, 1e9, "GB/s, the model file, all threads");
    printf("\ndecode reads %.1f GB/s of weights: %.0f %% of what this machine reads\n",
           read / 1e9, 100 * read / r->read.median);
}

static json_t *rate_json(struct rate r) {
    return json_pack("{s:f, s:f, s:f}", "median", r.median, "min", r.min, "max", r.max);
}

static enum status print_json(const struct bench *b, const struct report *r,
                              struct error *err) {
    json_t *doc = json_pack(
        "{s:{s:s, s:s, s:i}, s:s, s:s, s:s, s:s, s:i, s:i, s:f, s:o, s:o, s:o, s:f}", //
        "machine", "cpu", r->cpu, "features", r->features, "cores", r->n_cores,       //
        "compiler", COMPILER, "flags", BUILD_FLAGS, "model", b->model.name,           //
        "ops", b->sequence.ops->name, "threads", b->n_threads, "runs", (int)N_RUNS,   //
        "token_bytes", r->token_bytes, "prefill_tokens_per_s", rate_json(r->prefill), //
        "decode_tokens_per_s", rate_json(r->decode), "read_bytes_per_s", rate_json(r->read),
        "decode_share_of_read", r->decode.median * r->token_bytes / r->read.median);
    if (!doc) return error_set(err, ERR_MEMORY, "no memory for the JSON document");
    json_dumpf(doc, stdout, JSON_INDENT(2)); // whether it was written, cli_finish says
    putchar('\n');
    json_decref(doc);
    return OK;
}

int main(int argc, char **argv) {
    struct bench b = {.path = DEFAULT_MODEL_PATH};
    struct report r = {0};
    struct error err;

    b.n_threads = os_cpu_count();
    if (b.n_threads > LIMIT_WORKERS) b.n_threads = LIMIT_WORKERS;
    // clang-format off
    const struct cli_option options[] = {
        {"model", "FILE", CLI_STRING, &b.path, .help = "GGUF file"},
        {"threads", "N", CLI_INT, &b.n_threads, "compute threads", 1, LIMIT_WORKERS, false},
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
    enum status st = bench_open(&b, &err);
    if (st == OK) {
        bench_run(&b, &r);
        if (b.json)
            st = print_json(&b, &r, &err);
        else
            print_text(&b, &r);
    }
    bench_close(&b);
    return st == OK ? cli_finish(&cli) : cli_fail(&cli, &err);
}
