// A roll-out on live replicas: looks, asks rollout.h what to do, does it, and says so line by line.
#ifndef LEVEL2_ROLLOUT_RUN_H
#define LEVEL2_ROLLOUT_RUN_H

#include <signal.h>
#include <stdio.h>

#include "common/clock.h"
#include "level2-operator/rollout/ready_probe.h"
#include "level2-operator/rollout/rollout.h"
#include "level2-operator/rollout/shell_command.h"

struct rollout_run { // all zero: closed
    // fixed at open; borrowed
    const char *socket_path, *backend;
    const char *replace, *undo; // run with REPLICA and ADDRESS in their environment
    struct rollout_rules rules;
    struct clock *clock;
    const volatile sig_atomic_t *n_stops; // 1: no further replica; 2: leave at once
    FILE *out;                            // one line for each thing that happened
    // owned
    struct rollout plan;
    struct ready_probe probe;
    struct shell_command command;
    // state
    struct haproxy_servers servers; // as last seen; the chosen ones first, in their order
    int n_replicas;                 // how many are chosen
    int64_t begin_ns;
};

// Looks at the backend and puts the chosen servers first; no names: all are chosen. ERR_INPUT for a name that
// it does not have or has twice, and for a server without an address that can be asked.
enum status rollout_run_open(struct rollout_run *r, const char *const *names, int n_names,
                             struct error *err);
void rollout_run_close(struct rollout_run *r);

// What would be done, and why it would be refused now: ERR_STATE.
enum status rollout_run_tell(const struct rollout_run *r, struct error *err);

// Lines on replicas that are out though they may be well, because nobody told HAProxy to take them back: a
// roll-out was interrupted, or is stuck. None: no lines.
void rollout_run_tell_out(const struct rollout_run *r);

// Until the plan's end: plan.result says how. On failure (HAProxy is gone, or a second stop) things are as
// plan.is_new and servers say.
enum status rollout_run_go(struct rollout_run *r, struct error *err);

#endif
