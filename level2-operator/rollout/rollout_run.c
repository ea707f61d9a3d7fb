// The loop around the plan.
#include "level2-operator/rollout/rollout_run.h"

#include <string.h>

static const int64_t pause_ns = 200000000; // between two looks

// Looks in a row that may fail: a HAProxy that is reloaded is away for a moment.
enum { MAX_BLIND = 15 };

// ---- looking ------------------------------------------------------------------------------------

// Puts what was seen into the order of the last look: HAProxy may list its servers in another one.
static enum status take_in_order(struct rollout_run *r, const struct haproxy_servers *seen,
                                 struct error *err) {
    for (int i = 0; i < r->servers.n_items; i++) {
        struct haproxy_server *s = &r->servers.items[i];
        int i_seen = haproxy_find(seen, s->name);
        if (i_seen < 0)
            return error_set(err, ERR_STATE, "server %s of backend %s is there no more",
                             s->name, r->backend);
        *s = seen->items[i_seen];
    }
    return OK;
}

static enum status look(struct rollout_run *r, struct error *err) {
    struct haproxy_servers seen;
    enum status st = haproxy_show(&seen, r->socket_path, r->backend, err);
    return st ? st : take_in_order(r, &seen, err);
}

// Whether it was HAProxy that was away, and may be asked again after a pause.
static bool may_ask_again(struct rollout_run *r, enum status st, int n_blind) {
    if (st != ERR_IO || n_blind >= MAX_BLIND || *r->n_stops > 1) return false;
    r->clock->sleep(r->clock, pause_ns);
    return true;
}

// Looks until something is seen.
static enum status look_again(struct rollout_run *r, struct error *err) {
    enum status st = look(r, err);
    for (int i = 0; may_ask_again(r, st, i); i++) st = look(r, err);
    return st;
}

static bool answers(struct rollout_run *r) {
    return r->plan.phase == ROLLOUT_READY &&
           ready_probe_ask(&r->probe, r->servers.items[r->plan.i_now].address);
}

static enum rollout_command command_state(struct rollout_run *r) {
    if (shell_command_runs(&r->command)) return ROLLOUT_RUNS;
    return r->command.exit_status == 0 ? ROLLOUT_DONE : ROLLOUT_FAILED;
}

// ---- doing --------------------------------------------------------------------------------------

static enum status start(struct rollout_run *r, const char *text, struct error *err) {
    const struct haproxy_server *s = &r->servers.items[r->plan.i_now];
    const struct shell_variable variables[] = {
        {"REPLICA", s->name   },
        {"ADDRESS", s->address},
        {NULL,      NULL      }
    };
    shell_command_end(&r->command);
    return shell_command_start(&r->command, text, variables, err);
}

// To say it twice does no harm.
static enum status set(struct rollout_run *r, enum haproxy_state state, struct error *err) {
    const char *name = r->servers.items[r->plan.i_now].name;
    enum status st = haproxy_set(r->socket_path, r->backend, name, state, err);
    for (int i = 0; may_ask_again(r, st, i); i++)
        st = haproxy_set(r->socket_path, r->backend, name, state, err);
    return st;
}

static enum status act(struct rollout_run *r, enum rollout_action action,
                       struct error *err) {
    switch (action) {
    case ROLLOUT_DO_DRAIN:
        return set(r, HAPROXY_DRAINING, err);
    case ROLLOUT_DO_OPEN:
        return set(r, HAPROXY_UP, err);
    case ROLLOUT_DO_REPLACE:
        return start(r, r->replace, err);
    case ROLLOUT_DO_UNDO:
        return start(r, r->undo, err);
    case ROLLOUT_DO_WAIT:
        r->clock->sleep(r->clock, pause_ns);
        return OK;
    default:
        return OK;
    }
}

static void say(const struct rollout_run *r, enum rollout_phase phase) {
    double s = (double)(clock_now(r->clock) - r->begin_ns) / 1e9;
    bool is_one = phase != ROLLOUT_BEFORE || r->plan.phase == ROLLOUT_END;
    if (!r->plan.note[0]) return;
    fprintf(r->out, "%6.1f s  %-8s %s\n", s,
            is_one ? r->servers.items[r->plan.i_now].name : "before", r->plan.note);
    fflush(r->out);
}

// ---- public -------------------------------------------------------------------------------------

static enum status choose(struct rollout_run *r, const char *const *names, int n_names,
                          struct error *err) {
    for (int i = 0; i < n_names; i++) {
        int i_found = haproxy_find(&r->servers, names[i]);
        if (i_found < i) // not there, or among those chosen already
            return error_set(err, ERR_INPUT, "--replica %s: %s %s", names[i],
                             i_found < 0 ? "no such server in backend" : "named twice for",
                             r->backend);
        struct haproxy_server s = r->servers.items[i];
        r->servers.items[i] = r->servers.items[i_found];
        r->servers.items[i_found] = s;
    }
    r->n_replicas = n_names > 0 ? n_names : r->servers.n_items;
    if (r->n_replicas == 0)
        return error_set(err, ERR_INPUT, "backend %s has no servers", r->backend);
    for (int i = 0; i < r->n_replicas; i++) {
        if (r->servers.items[i].address[0]) continue;
        return error_set(err, ERR_INPUT,
                         "HAProxy does not tell the address of %s; has its stats socket "
                         "level admin?",
                         r->servers.items[i].name);
    }
    return OK;
}

enum status rollout_run_open(struct rollout_run *r, const char *const *names, int n_names,
                             struct error *err) {
    enum status st = haproxy_show(&r->servers, r->socket_path, r->backend, err);
    if (!st) st = choose(r, names, n_names, err);
    if (!st) st = ready_probe_open(&r->probe, err);
    if (!st) rollout_init(&r->plan, &r->rules, r->n_replicas);
    r->begin_ns = clock_now(r->clock);
    return st;
}

void rollout_run_close(struct rollout_run *r) {
    shell_command_end(&r->command);
    ready_probe_close(&r->probe);
}

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

enum status rollout_run_tell(const struct rollout_run *r, struct error *err) {
    const struct haproxy_server *s = r->servers.items;
    int n_up = 0;

    for (int i = 0; i < r->servers.n_items; i++) n_up += s[i].state == HAPROXY_UP;
    fprintf(r->out, "count for %.0f s how many requests fail\n",
            seconds(r->rules.watch_ns));
    for (int i = 0; i < r->n_replicas; i++) {
        fprintf(r->out,
                "%s, %s, now %s with %lld open\n"
                "  drain it, and wait %.0f s at most until nothing is open; then %s\n"
                "  run for %.0f s at most: %s\n"
                "  wait %.0f s at most for http://%s/ready\n"
                "  put it back in, and watch it for %.0f s\n",
                s[i].name, s[i].address, haproxy_state_name(s[i].state),
                (long long)s[i].n_sessions, seconds(r->rules.drain_ns),
                r->rules.cuts ? "cut off the rest" : "call it off",
                seconds(r->rules.command_ns), r->replace, seconds(r->rules.ready_ns),
                s[i].address, seconds(r->rules.watch_ns));
    }
    fprintf(r->out, "if one fails, the same for each that is new, with: %s\n", r->undo);
    rollout_run_tell_out(r);
    for (int i = 0; i < r->n_replicas; i++) {
        if (s[i].state != HAPROXY_UP)
            return error_set(err, ERR_STATE, "%s is %s; all must be up to begin", s[i].name,
                             haproxy_state_name(s[i].state));
    }
    if (n_up < 2)
        return error_set(err, ERR_STATE,
                         "only one server of backend %s is up; nobody would "
                         "answer while it is replaced",
                         r->backend);
    return OK;
}

void rollout_run_tell_out(const struct rollout_run *r) {
    for (int i = 0; i < r->n_replicas; i++) {
        const struct haproxy_server *s = &r->servers.items[i];
        if (s->state != HAPROXY_DRAINING && s->state != HAPROXY_MAINT) continue;
        fprintf(
            r->out,
            "%s is %s: once it is well, and no other rollout is at work, put it back in "
            "with\n"
            "  echo \"set server %s/%s state ready\" | socat stdio %s\n",
            s->name, haproxy_state_name(s->state), r->backend, s->name, r->socket_path);
    }
}

enum status rollout_run_go(struct rollout_run *r, struct error *err) {
    enum rollout_action action = ROLLOUT_DO_WAIT;
    enum status st = OK;

    while (!st && action != ROLLOUT_DO_END) {
        st = look_again(r, err);
        if (*r->n_stops > 1)
            return error_set(err, ERR_STATE, "left at the second signal, in phase %s of %s",
                             rollout_phase_name(r->plan.phase),
                             r->servers.items[r->plan.i_now].name);
        if (st) break;
        const struct rollout_view view = {
            .now_ns = clock_now(r->clock),
            .servers = r->servers.items,
            .n_servers = r->servers.n_items,
            .command = command_state(r),
            .answers_ready = answers(r),
            .wants_stop = *r->n_stops > 0,
        };
        enum rollout_phase phase = r->plan.phase;
        action = rollout_step(&r->plan, &view);
        say(r, phase);
        st = act(r, action, err);
    }
    return st;
}
