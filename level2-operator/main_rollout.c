// rollout: replaces the replicas behind HAProxy one by one, without dropping a request, and goes back when the
// new ones are worse. What a replica is and how it is replaced, the operator's two commands say.
#include <jansson.h>
#include <string.h>

#include "common/cli.h"
#include "level2-operator/rollout/rollout_run.h"

static volatile sig_atomic_t n_stops;

static void note_stop(int number) {
    (void)number;
    if (n_stops < 2) n_stops++;
}

static void take_signals(void) {
    struct sigaction stop = {.sa_handler = note_stop};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL); // a reader that left must not leave a replica out
}

struct options {
    const char *socket_path, *backend, *replace, *undo;
    struct cli_list replicas;
    int drain_s, command_s, ready_s, watch_s;
    double error_percent;
    bool cut, dry_run, json;
};

static int64_t ns(int s) {
    return (int64_t)s * 1000000000;
}

// ---- the last word ------------------------------------------------------------------------------

static const char *state_of(const struct rollout_run *r, int i) {
    if (r->servers.items[i].state != HAPROXY_UP) return "out";
    return r->plan.is_new[i] ? "new" : "old";
}

static json_t *report(const struct rollout_run *r) {
    static const char *const results[] = {"replaced", "rolled_back", "stopped", "stuck"};
    json_t *replicas = json_array();
    for (int i = 0; i < r->n_replicas; i++) {
        const struct haproxy_server *s = &r->servers.items[i];
        json_array_append_new(replicas,
                              json_pack("{s:s, s:s, s:s}", "name", s->name, "address",
                                        s->address, "version", state_of(r, i)));
    }
    bool is_over = r->plan.phase == ROLLOUT_END;
    return json_pack("{s:s, s:f, s:s, s:o}", "result",
                     is_over ? results[r->plan.result] : "failed", "seconds",
                     (double)(clock_now(r->clock) - r->begin_ns) / 1e9, "why", r->plan.why,
                     "replicas", replicas);
}

// false: no memory.
static bool print_report(const struct rollout_run *r) {
    json_t *document = report(r);
    if (!document) return false;
    json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
    putchar('\n'); // whether it was written is asked at the end
    json_decref(document);
    return true;
}

// "a new, b old"
static void list_versions(const struct rollout_run *r, char *text, size_t n_room) {
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < r->n_replicas && n < n_room; i++)
        n += (size_t)snprintf(text + n, n_room - n, "%s%s %s", i ? ", " : "",
                              r->servers.items[i].name, state_of(r, i));
}

static enum status judge(const struct rollout_run *r, struct error *err) {
    const char *name = r->servers.items[r->plan.i_now].name;
    char versions[160];

    list_versions(r, versions, sizeof(versions));
    switch (r->plan.result) {
    case ROLLOUT_REPLACED:
        fprintf(r->out, "done: %s\n", versions);
        return OK;
    case ROLLOUT_ROLLED_BACK:
        return error_set(err, ERR_STATE, "rolled back: %s; now: %s", r->plan.why, versions);
    case ROLLOUT_STOPPED:
        return error_set(err, ERR_STATE, "stopped; now: %s", versions);
    default:
        return error_set(err, ERR_STATE, "stuck at %s: %s; now: %s", name, r->plan.why,
                         versions);
    }
}

// It ended before its end: where things were then.
static enum status add_versions(const struct rollout_run *r, struct error *err) {
    char versions[96];
    list_versions(r, versions, sizeof(versions));
    return error_set(err, err->code, "%s; last seen: %s", err->text, versions);
}

// ---- table of contents --------------------------------------------------------------------------

static enum status run(struct rollout_run *r, const struct options *o, struct error *err) {
    // Who is there?
    enum status st = rollout_run_open(r, o->replicas.items, o->replicas.n_items, err);
    if (!st && o->dry_run) return rollout_run_tell(r, err);
    bool has_begun = st == OK;
    if (!st) st = rollout_run_go(r, err); // one by one, or back
    if (has_begun) {
        rollout_run_tell_out(r);
        st = st ? add_versions(r, err) : judge(r, err);
    }
    if (o->json && r->servers.n_items > 0 && !print_report(r) && !st)
        st = error_set(err, ERR_MEMORY, "no memory for the JSON output");
    return st;
}

static int check(const struct options *o, const struct cli *cli) {
    if (!haproxy_is_name(o->backend))
        return cli_usage(cli, "--backend %s: not a name that HAProxy takes", o->backend);
    for (int i = 0; i < o->replicas.n_items; i++) {
        if (!haproxy_is_name(o->replicas.items[i]))
            return cli_usage(cli, "--replica %s: not a name that HAProxy takes",
                             o->replicas.items[i]);
    }
    return CLI_GO_ON;
}

static struct rollout_rules rules_of(const struct options *o) {
    return (struct rollout_rules){
        .drain_ns = ns(o->drain_s),
        .command_ns = ns(o->command_s),
        .ready_ns = ns(o->ready_s),
        .watch_ns = ns(o->watch_s),
        .allowed_failing = o->error_percent / 100,
        .cuts = o->cut,
    };
}

int main(int argc, char **argv) {
    struct options o = {.socket_path = "/run/haproxy/ladder.sock",
                        .backend = "replicas",
                        .drain_s = LIMIT_REQUEST_S, // serve ends what runs longer
                        .command_s = 300,
                        .ready_s = 60,
                        .watch_s = 10,
                        .error_percent = 1};
    // clang-format off
    const struct cli_option options[] = {
        {"replace",         "COMMAND", CLI_STRING, &o.replace,       "puts the new version in place of $REPLICA and starts it", 0, 0, true},
        {"undo",            "COMMAND", CLI_STRING, &o.undo,          "the same with the old version", 0, 0, true},
        {"replica",         "NAME",    CLI_LIST,   &o.replicas,      "server of the backend, in order; else all of them", 0, 0, false},
        {"backend",         "NAME",    CLI_STRING, &o.backend,       "of HAProxy", 0, 0, false},
        {"socket",          "FILE",    CLI_STRING, &o.socket_path,   "HAProxy's stats socket, level admin", 0, 0, false},
        {"drain-seconds",   "N",       CLI_INT,    &o.drain_s,       "the longest answer that is waited for", 0, 86400, false},
        {"cut",             NULL,      CLI_FLAG,   &o.cut,           "cut off what runs longer; else it is called off", 0, 0, false},
        {"command-seconds", "N",       CLI_INT,    &o.command_s,     "a command's longest run", 1, 86400, false},
        {"ready-seconds",   "N",       CLI_INT,    &o.ready_s,       "from there to GET /ready with 200", 1, 86400, false},
        {"watch-seconds",   "N",       CLI_INT,    &o.watch_s,       "before the first replica, and after each", 0, 86400, false},
        {"errors",          "PERCENT", CLI_DOUBLE, &o.error_percent, "that may fail beyond what failed before", 0, 100, false},
        {"dry-run",         NULL,      CLI_FLAG,   &o.dry_run,       "say what would be done", 0, 0, false},
        {"json",            NULL,      CLI_FLAG,   &o.json,          "how it ended as one JSON document; the lines go to standard error", 0, 0, false},
        {NULL,              NULL,      CLI_FLAG,   NULL,             NULL, 0, 0, false},
    };
    // clang-format on
    const struct cli cli = {
        .program = "rollout",
        .summary =
            "replaces the replicas behind HAProxy one by one, and goes back if need be",
        .example =
            "rollout --replace './install new $REPLICA' --undo './install old $REPLICA'",
        .options = options,
    };
    struct clock clock;
    struct error err;

    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status == CLI_GO_ON) exit_status = check(&o, &cli);
    if (exit_status != CLI_GO_ON) return exit_status;

    clock_init_real(&clock);
    take_signals();
    struct rollout_run r = {
        .socket_path = o.socket_path,
        .backend = o.backend,
        .replace = o.replace,
        .undo = o.undo,
        .rules = rules_of(&o),
        .clock = &clock,
        .n_stops = &n_stops,
        .out = o.json ? stderr : stdout,
    };
    enum status st = run(&r, &o, &err);
    rollout_run_close(&r);
    return st ? cli_fail(&cli, &err) : cli_finish(&cli);
}
