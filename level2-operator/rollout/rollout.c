// One function a phase. Each either waits, or moves on and says what to do.
#include "level2-operator/rollout/rollout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/status.h"

// Two failures may be chance, whatever share of few requests they are.
enum { MIN_ERRORS = 3 };

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

static double since(const struct rollout *r, const struct rollout_view *v) {
    return seconds(v->now_ns - r->since_ns);
}

static bool is_late(const struct rollout *r, const struct rollout_view *v,
                    int64_t limit_ns) {
    return v->now_ns - r->since_ns >= limit_ns;
}

static void note(struct rollout *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct rollout *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->note, sizeof(r->note), format, args);
    va_end(args);
}

static void enter(struct rollout *r, const struct rollout_view *v,
                  enum rollout_phase phase) {
    r->phase = phase;
    r->since_ns = v->now_ns;
}

static enum rollout_action end(struct rollout *r, enum rollout_result result) {
    r->phase = ROLLOUT_END;
    r->result = result;
    return ROLLOUT_DO_END;
}

// ---- counting -----------------------------------------------------------------------------------

static struct rollout_count count_of(const struct haproxy_server *s) {
    return (struct rollout_count){s->n_requests, s->n_errors};
}

static struct rollout_count count_all(const struct rollout_view *v) {
    struct rollout_count sum = {0};
    for (int i = 0; i < v->n_servers; i++) {
        sum.n_requests += v->servers[i].n_requests;
        sum.n_errors += v->servers[i].n_errors;
    }
    return sum;
}

// A HAProxy that was restarted counts from 0 again.
static struct rollout_count minus(struct rollout_count now, struct rollout_count then) {
    if (now.n_requests < then.n_requests || now.n_errors < then.n_errors) return now;
    return (struct rollout_count){now.n_requests - then.n_requests,
                                  now.n_errors - then.n_errors};
}

static double share(struct rollout_count c) {
    return c.n_requests > 0 ? (double)c.n_errors / (double)c.n_requests : 0;
}

static const char *plural(struct rollout_count c) {
    return c.n_requests == 1 ? "" : "s";
}

static bool fails_more(const struct rollout *r, struct rollout_count now) {
    return now.n_errors >= MIN_ERRORS &&
           share(now) > share(r->before) + r->rules.allowed_failing;
}

static int n_others_up(const struct rollout *r, const struct rollout_view *v) {
    int n = 0;
    for (int i = 0; i < v->n_servers; i++)
        n += i != r->i_now && v->servers[i].state == HAPROXY_UP;
    return n;
}

// ---- there and back -----------------------------------------------------------------------------

// Who is up is taken out only while another one is.
static bool may_leave(const struct rollout *r, const struct rollout_view *v) {
    return v->servers[r->i_now].state != HAPROXY_UP || n_others_up(r, v) > 0;
}

static enum rollout_action fail(struct rollout *r, const struct rollout_view *v,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The first failure turns the roll-out around; one on the way back ends it.
static enum rollout_action fail(struct rollout *r, const struct rollout_view *v,
                                const char *format, ...) {
    va_list args;
    char what[sizeof(r->why)];
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);

    note(r, "FAILED%s: %s", r->is_back ? " on the way back" : "", what);
    bool is_stuck = r->is_back || (r->is_new[r->i_now] && !may_leave(r, v));
    if (!r->is_back) memcpy(r->why, what, sizeof(r->why));
    r->is_back = true;
    if (is_stuck) return end(r, ROLLOUT_STUCK);
    // What was not touched is as it was, and perhaps out.
    enter(r, v, r->is_new[r->i_now] ? ROLLOUT_DRAIN : ROLLOUT_OPEN);
    return r->is_new[r->i_now] ? ROLLOUT_DO_DRAIN : ROLLOUT_DO_OPEN;
}

// The next one in this direction that is not yet what it should be.
static bool find_next(struct rollout *r) {
    int i = r->is_back ? r->n_replicas - 1 : 0;
    while (i >= 0 && i < r->n_replicas && r->is_new[i] != r->is_back)
        i += r->is_back ? -1 : 1;
    if (i < 0 || i >= r->n_replicas) return false;
    r->i_now = i;
    return true;
}

// ---- phases -------------------------------------------------------------------------------------

static enum rollout_action before(struct rollout *r, const struct rollout_view *v) {
    struct rollout_count now = count_all(v);
    if (!r->has_begun) {
        r->has_begun = true;
        r->since_ns = v->now_ns;
        r->at_begin = now;
    }
    for (int i = 0; i < r->n_replicas; i++) {
        if (v->servers[i].state == HAPROXY_UP) continue;
        r->i_now = i;
        snprintf(r->why, sizeof(r->why), "it is %s before anything was done",
                 haproxy_state_name(v->servers[i].state));
        note(r, "FAILED: %s", r->why);
        return end(r, ROLLOUT_STUCK);
    }
    if (v->wants_stop) return end(r, ROLLOUT_STOPPED);
    if (!is_late(r, v, r->rules.watch_ns)) return ROLLOUT_DO_WAIT;
    r->before = minus(now, r->at_begin);
    note(r, "%lld request%s in %.0f s, %lld failed", (long long)r->before.n_requests,
         plural(r->before), seconds(r->rules.watch_ns), (long long)r->before.n_errors);
    enter(r, v, ROLLOUT_NEXT);
    return ROLLOUT_DO_WAIT;
}

// It was up when we began and we have not touched it: whoever took it out has a reason, so it stays out.
static bool is_taken_by_others(const struct rollout *r, const struct rollout_view *v) {
    enum haproxy_state state = v->servers[r->i_now].state;
    return !r->is_back && (state == HAPROXY_DRAINING || state == HAPROXY_MAINT);
}

static enum rollout_action leave_to_others(struct rollout *r,
                                           const struct rollout_view *v) {
    snprintf(r->why, sizeof(r->why), "it is %s, and not by us: another rollout at work?",
             haproxy_state_name(v->servers[r->i_now].state));
    note(r, "FAILED: %s", r->why);
    r->is_back = true;
    enter(r, v, ROLLOUT_NEXT);
    return ROLLOUT_DO_WAIT;
}

static enum rollout_action choose(struct rollout *r, const struct rollout_view *v) {
    if (!find_next(r)) return end(r, r->is_back ? ROLLOUT_ROLLED_BACK : ROLLOUT_REPLACED);
    if (v->wants_stop && !r->is_back) return end(r, ROLLOUT_STOPPED);
    if (is_taken_by_others(r, v)) return leave_to_others(r, v);
    if (!may_leave(r, v)) return fail(r, v, "no other replica is up to take its requests");
    enter(r, v, ROLLOUT_DRAIN);
    note(r, "draining, %lld open", (long long)v->servers[r->i_now].n_sessions);
    return ROLLOUT_DO_DRAIN;
}

static enum rollout_action drain(struct rollout *r, const struct rollout_view *v) {
    const struct haproxy_server *s = &v->servers[r->i_now];
    bool is_out = s->state != HAPROXY_UP, is_quiet = is_out && s->n_sessions == 0;
    if (v->wants_stop && !r->is_back) {
        note(r, "stopped: back in");
        enter(r, v, ROLLOUT_OPEN);
        return ROLLOUT_DO_OPEN;
    }
    if (!is_quiet) {
        if (!is_late(r, v, r->rules.drain_ns)) return ROLLOUT_DO_WAIT;
        if (!is_out && !r->is_back)
            return fail(r, v, "HAProxy still sends it requests %.0f s after it was told",
                        seconds(r->rules.drain_ns));
        // On the way back it is worse to keep what fails than to cut what it writes.
        if (!r->rules.cuts && !r->is_back)
            return fail(r, v, "%lld still open after %.0f s", (long long)s->n_sessions,
                        seconds(r->rules.drain_ns));
        note(r, "%lld still open after %.0f s: cut off", (long long)s->n_sessions,
             seconds(r->rules.drain_ns));
    } else {
        note(r, "nothing open after %.1f s", since(r, v));
    }
    enter(r, v, ROLLOUT_COMMAND);
    r->is_new[r->i_now] = true; // it may be, from here on; undone when the way back says so
    return r->is_back ? ROLLOUT_DO_UNDO : ROLLOUT_DO_REPLACE;
}

static enum rollout_action command(struct rollout *r, const struct rollout_view *v) {
    const char *name = r->is_back ? "undo" : "replace";
    if (v->command == ROLLOUT_FAILED) return fail(r, v, "its %s command failed", name);
    if (v->command == ROLLOUT_RUNS) {
        if (!is_late(r, v, r->rules.command_ns)) return ROLLOUT_DO_WAIT;
        return fail(r, v, "its %s command still ran after %.0f s", name,
                    seconds(r->rules.command_ns));
    }
    note(r, "%s command done after %.1f s", name, since(r, v));
    enter(r, v, ROLLOUT_READY);
    return ROLLOUT_DO_WAIT;
}

static enum rollout_action ready(struct rollout *r, const struct rollout_view *v) {
    if (!v->answers_ready) {
        if (!is_late(r, v, r->rules.ready_ns)) return ROLLOUT_DO_WAIT;
        return fail(r, v, "not ready %.0f s after its command", seconds(r->rules.ready_ns));
    }
    note(r, "ready after %.1f s", since(r, v));
    if (r->is_back) r->is_new[r->i_now] = false;
    enter(r, v, ROLLOUT_OPEN);
    return ROLLOUT_DO_OPEN;
}

static enum rollout_action open(struct rollout *r, const struct rollout_view *v) {
    const struct haproxy_server *s = &v->servers[r->i_now];
    if (s->state != HAPROXY_UP) {
        if (!is_late(r, v, r->rules.ready_ns)) return ROLLOUT_DO_WAIT;
        return fail(r, v, "HAProxy still has it %s after %.0f s",
                    haproxy_state_name(s->state), seconds(r->rules.ready_ns));
    }
    if (r->is_back || !r->is_new[r->i_now]) {
        note(r, "back in, as it was");
        enter(r, v, ROLLOUT_NEXT);
        return ROLLOUT_DO_WAIT;
    }
    enter(r, v, ROLLOUT_WATCH);
    r->at_begin = count_of(s);
    note(r, "back in, watched for %.0f s", seconds(r->rules.watch_ns));
    return ROLLOUT_DO_WAIT;
}

static enum rollout_action watch(struct rollout *r, const struct rollout_view *v) {
    const struct haproxy_server *s = &v->servers[r->i_now];
    struct rollout_count now = minus(count_of(s), r->at_begin);
    if (fails_more(r, now))
        return fail(r, v, "%lld of %lld requests failed (before: %lld of %lld)",
                    (long long)now.n_errors, (long long)now.n_requests,
                    (long long)r->before.n_errors, (long long)r->before.n_requests);
    if (s->state != HAPROXY_UP)
        return fail(r, v, "%s again after %.1f s", haproxy_state_name(s->state),
                    since(r, v));
    if (!v->wants_stop && !is_late(r, v, r->rules.watch_ns)) return ROLLOUT_DO_WAIT;
    note(r, "new: %lld request%s, %lld failed", (long long)now.n_requests, plural(now),
         (long long)now.n_errors);
    enter(r, v, ROLLOUT_NEXT);
    return ROLLOUT_DO_WAIT;
}

// ---- public -------------------------------------------------------------------------------------

void rollout_init(struct rollout *r, const struct rollout_rules *rules, int n_replicas) {
    MUST(n_replicas > 0 && n_replicas <= LIMIT_REPLICAS);
    *r = (struct rollout){.rules = *rules, .n_replicas = n_replicas};
}

enum rollout_action rollout_step(struct rollout *r, const struct rollout_view *view) {
    static enum rollout_action (*const phases[])(struct rollout *,
                                                 const struct rollout_view *) = {
        [ROLLOUT_BEFORE] = before,   [ROLLOUT_NEXT] = choose, [ROLLOUT_DRAIN] = drain,
        [ROLLOUT_COMMAND] = command, [ROLLOUT_READY] = ready, [ROLLOUT_OPEN] = open,
        [ROLLOUT_WATCH] = watch,
    };
    r->note[0] = '\0';
    return r->phase == ROLLOUT_END ? ROLLOUT_DO_END : phases[r->phase](r, view);
}

const char *rollout_phase_name(enum rollout_phase phase) {
    static const char *const names[] = {"before", "next", "drain", "command",
                                        "ready",  "open", "watch", "end"};
    return names[phase];
}
