// fit: does a model fit a device with its traffic, and what would make it fit?
//
//   data/models.json or a file ─▶ subject ─┐
//   data/gpus.json or this one ─▶ machine ─┼─▶ case ─▶ answer ─▶ page, picture or JSON
//   options                    ─▶ traffic ─┘
//
// The exit status is an answer as well: 0 fits, 1 does not (or something failed), 2 was asked wrongly.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "level2-operator/engine/serial_fit.h"
#include "level2-operator/fit/fit_bars.h"
#include "level2-operator/fit/fit_constants.h"
#include "level2-operator/fit/fit_machine.h"
#include "level2-operator/fit/fit_report.h"
#include "level2-operator/fit/fit_type.h"

struct arguments {
    const char *model, *device, *weights, *kv, *data, *png;
    int count, tp;
    uint64_t context, sequences, memory, overhead;
    double utilization, request_s, rates[FIT_PLACES]; // rates: GB/s
    bool wants_json;
};

struct tables {
    struct data_table models, devices, overheads, rates;
};

static const uint64_t NOT_GIVEN = UINT64_MAX;

// ---- tables -------------------------------------------------------------------------------------

static enum status open_table(struct data_table *t, const struct data_table_kind *kind,
                              const char *folder, const char *file, struct error *err) {
    char path[LIMIT_PATH_BYTES];
    int n = snprintf(path, sizeof(path), "%s/%s", folder, file);
    if (n < 0 || n >= (int)sizeof(path))
        return error_set(err, ERR_LIMIT, "--data: the path is too long");
    return data_table_open(t, kind, path, err);
}

static enum status tables_open(struct tables *t, const char *folder, struct error *err) {
    enum status st = open_table(&t->models, &model_table, folder, "models.json", err);
    if (st == OK) st = open_table(&t->devices, &device_table, folder, "gpus.json", err);
    if (st == OK)
        st = open_table(&t->overheads, &fit_overhead_table, folder, "memory-overheads.json",
                        err);
    if (st == OK)
        st = open_table(&t->rates, &fit_rate_table, folder, "load-rates.json", err);
    if (st == OK) return OK;
    return error_set(err, st, "%s (--data names the folder)", err->text);
}

static void tables_close(struct tables *t) {
    data_table_close(&t->models);
    data_table_close(&t->devices);
    data_table_close(&t->overheads);
    data_table_close(&t->rates);
}

// All names of a table, after the line that says what was wrong. A row of each table begins with its name.
static void list_names(const struct data_table *t, size_t row_bytes) {
    size_t n_columns = 0;
    for (int i = 0; i < t->n_rows; i++) {
        const void *row = (const char *)t->rows + (size_t)i * row_bytes;
        const char *name = *(const char *const *)row;
        if (n_columns + strlen(name) > 76) n_columns = 0;
        fprintf(stderr, "%s%s", n_columns ? ", " : i ? ",\n  " : "  ", name);
        n_columns += strlen(name) + 2;
    }
    fputc('\n', stderr);
}

// ---- the case -----------------------------------------------------------------------------------

// What looks like one may be missing: then it is a file that is not there, and no unknown name.
static bool is_path(const char *model) {
    size_t n = strlen(model);
    bool looks_like_one =
        strchr(model, '/') || (n > 5 && strcmp(model + n - 5, ".gguf") == 0);
    return looks_like_one || access(model, F_OK) == 0;
}

// CLI_GO_ON, or the exit status of a mistake that was told.
static int find_subject(const struct cli *cli, struct fit_subject *s, const char *model,
                        const struct tables *t) {
    struct error err;
    const struct model_entry *e = model_table_find(&t->models, model);
    if (e) {
        fit_subject_of_entry(s, e);
        return CLI_GO_ON;
    }
    if (is_path(model))
        return fit_subject_of_file(s, model, &err) == OK ? CLI_GO_ON : cli_fail(cli, &err);
    cli_usage(cli, "--model %.60s is no file or folder and not in the table of models",
              model);
    list_names(&t->models, sizeof(*e));
    return CLI_USAGE;
}

static uint64_t context_of(const struct arguments *a, const struct fit_subject *s) {
    if (a->context != NOT_GIVEN) return a->context;
    return s->n_ctx < LIMIT_DEFAULT_CONTEXT ? s->n_ctx : LIMIT_DEFAULT_CONTEXT;
}

static int find_machine(const struct cli *cli, struct fit_machine *m,
                        const struct arguments *a, const struct tables *t,
                        struct fit_subject *s) {
    struct error err;
    enum status st = OK;
    const struct device_entry *e = device_table_find(&t->devices, a->device);
    if (strcmp(a->device, "here") == 0) {
        fit_subject_serve(s, s->stored_bytes ? a->model : NULL);
        fit_machine_here(m, s, serial_fit_beside_kv(&s->config, context_of(a, s)));
    } else if (e) {
        st = fit_machine_of_entry(m, e, &t->overheads, &err);
    } else {
        cli_usage(cli, "--device %.60s is not \"here\" and not in the table of devices",
                  a->device);
        list_names(&t->devices, sizeof(*e));
        return CLI_USAGE;
    }
    if (st == OK) st = fit_machine_rates(m, &t->rates, &err);
    return st == OK ? CLI_GO_ON : cli_fail(cli, &err);
}

// What options say in place of the tables.
static void override(struct fit_machine *m, const struct arguments *a) {
    if (a->memory != NOT_GIVEN) m->device.memory_bytes = a->memory;
    m->device.share = (int)(a->utilization * 1000 + 0.5);
    if (a->overhead != NOT_GIVEN) {
        m->device.overhead_bytes = m->highest_overhead = a->overhead;
        m->device.split_bytes = m->highest_split = 0;
        snprintf(m->overhead_words, sizeof(m->overhead_words), "as --overhead says");
        snprintf(m->split_words, sizeof(m->split_words), "each as --overhead says");
    }
    for (int i = 0; i < FIT_PLACES; i++) {
        if (a->rates[i] > 0) m->load_rates[i] = a->rates[i] * 1e9;
    }
    m->n_devices = a->count;
    m->n_split = a->tp ? a->tp : a->count;
    m->is_split_said = a->tp > 0;
}

static int check_split(const struct cli *cli, const struct fit_case *c) {
    const struct fit_machine *m = &c->machine;
    int n_heads = c->subject->shape.n_heads;
    if (m->n_devices % m->n_split)
        return cli_usage(cli, "--count %d is no multiple of --tp %d", m->n_devices,
                         m->n_split);
    if (n_heads % m->n_split)
        return cli_usage(cli, "%d heads cannot be split evenly over %d devices (--tp)",
                         n_heads, m->n_split);
    if (m->is_here && m->n_devices > 1)
        return cli_usage(cli, "--count: there is only one device here");
    return CLI_GO_ON;
}

static int fill_case(const struct cli *cli, struct fit_case *c, const struct arguments *a) {
    const struct fit_subject *s = c->subject;
    c->weights = a->weights ? a->weights : s->stored_bytes ? NULL : "bf16";
    c->kv = a->kv ? a->kv : c->machine.is_here ? "f32" : "bf16"; // f32: what serve stores
    if (c->weights && !fit_type_find(&c->weight_type, c->weights))
        return cli_usage(cli, "--weights %.40s: %s", c->weights, fit_type_names);
    if (!fit_type_find(&c->kv_type, c->kv))
        return cli_usage(cli, "--kv %.40s: %s", c->kv, fit_type_names);
    c->is_ctx_assumed = a->context == NOT_GIVEN;
    c->is_seqs_assumed = a->sequences == NOT_GIVEN;
    c->n_seqs = c->is_seqs_assumed ? 1 : a->sequences;
    c->n_ctx = context_of(a, s);
    c->request_s = a->request_s;
    return check_split(cli, c);
}

// ---- the answer ---------------------------------------------------------------------------------

static enum status draw(const struct fit_case *c, const struct fit_answer *answer,
                        const char *path, struct error *err) {
    struct picture p;
    enum status st = fit_bars_picture(&p, c, answer, err);
    if (st != OK) return st;
    st = picture_write_png(&p, path, err);
    picture_free(&p);
    return st;
}

static enum status print_json(const struct fit_case *c, const struct fit_answer *answer,
                              struct error *err) {
    json_t *document = fit_json(c, answer);
    if (!document) return error_set(err, ERR_MEMORY, "no memory for the JSON output");
    json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(document);
    putchar('\n');
    return OK; // whether it was written is asked at the end
}

static int answer(const struct cli *cli, const struct fit_case *c,
                  const struct arguments *a) {
    struct fit_answer answer;
    struct error err;
    enum status st = OK;
    fit_answer_of(&answer, c);
    if (a->png) st = draw(c, &answer, a->png, &err);
    if (st == OK && a->wants_json) {
        st = print_json(c, &answer, &err);
    } else if (st == OK) {
        fit_print(stdout, c, &answer);
        fit_bars_print(stdout, c, &answer);
        fit_print_sources(stdout, c);
    }
    if (st != OK) return cli_fail(cli, &err);
    int exit_status = cli_finish(cli);
    return exit_status == CLI_DONE && !answer.fits ? CLI_FAILED : exit_status;
}

static int fit(const struct cli *cli, const struct arguments *a) {
    struct tables t = {0};
    struct fit_subject subject;
    struct fit_case c = {.subject = &subject};
    struct error err;
    int exit_status =
        tables_open(&t, a->data, &err) == OK ? CLI_GO_ON : cli_fail(cli, &err);
    if (exit_status == CLI_GO_ON) exit_status = find_subject(cli, &subject, a->model, &t);
    if (exit_status == CLI_GO_ON)
        exit_status = find_machine(cli, &c.machine, a, &t, &subject);
    if (exit_status == CLI_GO_ON) {
        override(&c.machine, a);
        exit_status = fill_case(cli, &c, a);
    }
    if (exit_status == CLI_GO_ON) exit_status = answer(cli, &c, a);
    tables_close(&t);
    return exit_status;
}

int main(int argc, char **argv) {
    struct arguments a = {.device = "here",
                          .data = "data",
                          .count = 1,
                          .context = NOT_GIVEN,
                          .sequences = NOT_GIVEN,
                          .memory = NOT_GIVEN,
                          .overhead = NOT_GIVEN,
                          .utilization = FIT_DEFAULT_SHARE / 1000.0};
    // clang-format off
    const struct cli_option options[] = {
        {"model", "NAME", CLI_STRING, &a.model, .help = "such as llama-3-8b, or a GGUF file, or a folder with safetensors", .required = true},
        {"device", "NAME", CLI_STRING, &a.device, .help = "such as h100; here: this machine"},
        {"count", "N", CLI_INT, &a.count, .help = "devices", .low = 1, .high = LIMIT_FIT_DEVICES},
        {"tp", "N", CLI_INT, &a.tp, .help = "devices that one copy is split over (default: all)", .low = 1, .high = LIMIT_FIT_DEVICES},
        {"weights", "TYPE", CLI_STRING, &a.weights, .help = "bf16, int8, int4, q4_k, ... (default bf16, or as the file has them)"},
        {"kv", "TYPE", CLI_STRING, &a.kv, .help = "bf16, int8, ... (default bf16; here f32)"},
        {"context", "N", CLI_U64, &a.context, .help = "tokens of each sequence (default: the model's, at most 8192)", .low = 1, .high = CLI_MAX_EXACT},
        {"sequences", "N", CLI_U64, &a.sequences, .help = "at the same time (default 1)", .low = 1, .high = CLI_MAX_EXACT},
        {"request-seconds", "S", CLI_DOUBLE, &a.request_s, .help = "how long a request stays: gives requests a second", .low = 1e-6, .high = 1e9},
        {"memory", "SIZE", CLI_BYTES, &a.memory, .help = "of a device, as an engine sees it, in place of the table's: 24G is GiB, 24GB is 10^9", .low = 1, .high = CLI_MAX_EXACT},
        {"utilization", "U", CLI_DOUBLE, &a.utilization, .help = "share of it that the engine may take", .low = 0.001, .high = 1},
        {"overhead", "SIZE", CLI_BYTES, &a.overhead, .help = "of a device, beside weights and KV: 2G, 2GB", .low = 0, .high = CLI_MAX_EXACT},
        {"cache-rate", "R", CLI_DOUBLE, &a.rates[FIT_PAGE_CACHE], .help = "GB/s (10^9) from memory, to load weights", .low = 1e-6, .high = 1e6},
        {"disk-rate", "R", CLI_DOUBLE, &a.rates[FIT_DISK], .help = "the same, from disk", .low = 1e-6, .high = 1e6},
        {"network-rate", "R", CLI_DOUBLE, &a.rates[FIT_NETWORK], .help = "the same, over the network", .low = 1e-6, .high = 1e6},
        {"data", "FOLDER", CLI_STRING, &a.data, .help = "tables of models, devices, overheads and rates"},
        {"png", "FILE", CLI_STRING, &a.png, .help = "draw KV growing to the line of memory, too"},
        {"json", NULL, CLI_FLAG, &a.wants_json, .help = "print one JSON document"},
        {0},
    };
    // clang-format on
    const struct cli cli = {
        .program = "fit",
        .summary = "does a model fit, with its traffic? Exit status 0: yes, 1: no",
        .example = "fit --model llama-3-8b --device h100 --context 8192 --sequences 16",
        .options = options,
    };
    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    mapped_file_explain_faults();
    return fit(&cli, &a);
}
