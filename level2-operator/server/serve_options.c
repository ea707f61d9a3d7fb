// Options to values: what each means stands in its row.
#include "level2-operator/server/serve_options.h"

#include <stdio.h>
#include <string.h>

#include "common/cli.h"
#include "common/defaults.h"
#include "common/limits.h"
#include "common/os.h"
#include "level2-operator/service/model_id.h"

static const char program[] = "serve";

// What is parsed further after cli_parse.
struct words {
    const char *inject, *key, *admin_file, *log_level, *engine, *model_id, *sampling;
    struct cli_list cors;
};

static bool find_level(const char *name, enum log_level *level) {
    static const char *const names[] = {"debug", "info", "warn", "error", "off"};
    for (int i = 0; i <= LOG_OFF; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *level = (enum log_level)i;
        return true;
    }
    return false;
}

// Where other models may come from unless it is said: the folder in which the first one lies.
static enum status find_admin_dir(struct serve_options *o, struct arena *arena,
                                  struct error *err) {
    size_t n = strlen(o->model);
    if (o->admin_dir) return OK;
    while (n > 1 && o->model[n - 1] == '/') n--; // of a folder
    while (n > 0 && o->model[n - 1] != '/') n--;
    while (n > 1 && o->model[n - 1] == '/') n--;
    o->admin_dir = n == 0 ? "." : arena_copy(arena, o->model, n);
    return o->admin_dir ? OK : error_set(err, ERR_MEMORY, "no memory for the options");
}

// The keys of those who may change the model.
static enum status read_admin(struct serve_options *o, const struct words *w,
                              struct arena *arena, struct error *err) {
    if (!w->admin_file) {
        if (!o->admin_dir) return OK;
        return error_set(err, ERR_INPUT,
                         "--admin-models is nothing without --admin-key-file");
    }
    enum status st = http_keys_read(&o->admin_keys, w->admin_file, err);
    if (!st) st = http_keys_apart(&o->keys, &o->admin_keys, w->admin_file, err);
    return st ? st : find_admin_dir(o, arena, err);
}

static enum status read_access(struct serve_options *o, const struct words *w,
                               struct arena *arena, struct error *err) {
    enum status st = OK;
    if (w->key) st = http_keys_add(&o->keys, w->key, err);
    if (!st && o->key_file) st = http_keys_read(&o->keys, o->key_file, err);
    for (int i = 0; !st && i < w->cors.n_items; i++)
        st = http_cors_add(&o->cors, w->cors.items[i], arena, err);
    if (!st) st = read_admin(o, w, arena, err);
    return st;
}

static int check(struct serve_options *o, const struct words *w, const struct cli *cli,
                 struct arena *arena) {
    struct error err;

    if (strcmp(w->engine, "serial") != 0)
        return cli_usage(cli, "--engine %s: there is only serial", w->engine);
    o->api_sampling = strcmp(w->sampling, "api") == 0;
    if (!o->api_sampling && strcmp(w->sampling, "model") != 0)
        return cli_usage(cli, "--sampling-defaults %s: model or api", w->sampling);
    if (!find_level(w->log_level, &o->log.level)) {
        return cli_usage(cli, "--log-level %s: debug, info, warn, error or off",
                         w->log_level);
    }
    if (w->inject && fault_parse(&o->fault, w->inject, &err) != OK)
        return cli_usage(cli, "%s", err.text);
    if (!model_id_make(o->model_id, sizeof(o->model_id), o->model, w->model_id)) {
        return cli_usage(cli, "--model-id must be given, a text of 1 to %zu bytes",
                         sizeof(o->model_id) - 1);
    }
    if (read_access(o, w, arena, &err) != OK) return cli_fail(cli, &err);
    return CLI_GO_ON;
}

int serve_options_parse(struct serve_options *o, int argc, char **argv,
                        struct arena *arena) {
    struct words w = {.log_level = "info", .engine = "serial", .sampling = "model"};
    *o = (struct serve_options){
        .model = DEFAULT_MODEL_PATH,
        .host = "127.0.0.1",
        .port = 8080,
        .n_threads = os_cpu_count(),
        .step_rows = LIMIT_STEP_ROWS,
        .memory_bytes = os_memory_bytes() / 10 * 9, // the rest is the system's, as fit says
        .max_waiting = LIMIT_QUEUE,
        .drain_s = LIMIT_DRAIN_S,
        .ping_ms = LIMIT_PING_MS,
        .request_s = LIMIT_REQUEST_S,
        .stall_s = LIMIT_STALL_S,
        .log = {.out = stderr},
    };
    if (o->n_threads > LIMIT_WORKERS) o->n_threads = LIMIT_WORKERS;
    // clang-format off
    const struct cli_option options[] = {
        {"model",         "FILE",    CLI_STRING, &o->model,        "GGUF file, or folder with safetensors", 0, 0, false},
        {"model-id",      "NAME",    CLI_STRING, &w.model_id,      "what clients call it; else the file's name", 0, 0, false},
        {"pre",           "NAME",    CLI_STRING, &o->pre,          "pre-tokenizer in place of the file's", 0, 0, false},
        {"chat-template", "NAME|FILE", CLI_STRING, &o->chat,       "chatml, llama3, mistral, gemma, plain, or a file, in place of the file's", 0, 0, false},
        {"sampling-defaults", "NAME", CLI_STRING, &w.sampling,     "where requests do not say: model, or api for OpenAI's", 0, 0, false},
        {"host",          "ADDRESS", CLI_STRING, &o->host,         "where to listen; 0.0.0.0 is everywhere", 0, 0, false},
        {"port",          "PORT",    CLI_INT,    &o->port,         "0 takes a free one", 0, 65535, false},
        {"threads",       "N",       CLI_INT,    &o->n_threads,    "of the compute team", 1, LIMIT_WORKERS, false},
        {"context",       "N",       CLI_INT,    &o->n_ctx,        "tokens, prompt and answer together; 0: what fits, up to 8192", 0, LIMIT_CONTEXT, false},
        {"step-rows",     "N",       CLI_INT,    &o->step_rows,    "prompt tokens in one step: fewer cancel sooner", 1, LIMIT_STEP_ROWS, false},
        {"memory",        "SIZE",    CLI_BYTES,  &o->memory_bytes, "all that the server may take, weights included: 4G is GiB, 4GB is 10^9", 0, 0, false},
        {"queue",         "N",       CLI_INT,    &o->max_waiting,  "requests that may wait; others get 429", 1, LIMIT_QUEUE, false},
        {"api-key",       "KEY",     CLI_STRING, &w.key,           "ask for it; better in a file", 0, 0, false},
        {"api-key-file",  "FILE",    CLI_STRING, &o->key_file,     "keys, their names and limits; SIGHUP reads it again", 0, 0, false},
        {"admin-key-file", "FILE",   CLI_STRING, &w.admin_file,    "keys of those who may change the model", 0, 0, false},
        {"admin-models",  "DIR",     CLI_STRING, &o->admin_dir,    "models may come from below it; else where --model lies", 0, 0, false},
        {"cors",          "ORIGIN",  CLI_LIST,   &w.cors,          "web pages that may call; commas, or again", 0, 0, false},
        {"drain-seconds", "N",       CLI_INT,    &o->drain_s,      "what SIGTERM waits for running requests", 0, 86400, false},
        {"request-seconds", "N",     CLI_INT,    &o->request_s,    "what a request may take, waiting and all", 1, 86400, false},
        {"stall-seconds", "N",       CLI_INT,    &o->stall_s,      "work without a step before /health says 503", 1, 86400, false},
        {"ping-ms",       "N",       CLI_INT,    &o->ping_ms,      "silence on a stream before a comment", 1, 3600000, false},
        {"hourly-price",  "USD",     CLI_DOUBLE, &o->hourly_price, "of this machine: /metrics tells what tokens cost", 0, 1000000, false},
        {"trace",         "FILE",    CLI_STRING, &o->trace,        "write a Chrome trace at exit", 0, 0, false},
        {"log-level",     "LEVEL",   CLI_STRING, &w.log_level,     "debug, info, warn, error, off", 0, 0, false},
        {"inject",        "FAULT",   CLI_STRING, &w.inject,        "step-hang, slow-step or device-error, :N steps later", 0, 0, false},
        {"log-prompts",   NULL,      CLI_FLAG,   &o->log_prompts,  "log what is asked, up to 1500 bytes", 0, 0, false},
        {"engine",        "NAME",    CLI_STRING, &w.engine,        "serial: one request at a time", 0, 0, false},
        {NULL,            NULL,      CLI_FLAG,   NULL,             NULL, 0, 0, false},
    };
    // clang-format on
    const struct cli cli = {
        .program = program,
        .summary = "an OpenAI-compatible server for one model",
        .example = "serve --model models/SmolLM2-135M-Instruct.Q4_1.gguf --port 8080",
        .options = options,
    };

    int exit_status = cli_parse(&cli, argc, argv);
    return exit_status == CLI_GO_ON ? check(o, &w, &cli, arena) : exit_status;
}

int serve_fail(const struct error *err) {
    const struct cli cli = {.program = program};
    return cli_fail(&cli, err);
}
