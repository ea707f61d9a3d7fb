// The compute team: a fixed set of threads that run one function together. The caller is rank 0.
//
//   team_run ──▶ [rank 0] [rank 1] ... [rank n-1]     all run fn(arg, worker)
//                   │ stage │  stage │     stage
//                   └───── team_barrier ─────┘        nobody starts the next stage early
//
// Waiting spins for about 20 us, then sleeps: a step has hundreds of barriers and each must cost
// less than a microsecond, but an idle server must cost nothing.
// do:    split work statically (team_split) where items are equal; claim (team_claim) where not
// don't: let who computes an item change its result
#ifndef COMMON_TEAM_H
#define COMMON_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/status.h"
#include "common/trace.h"

// A count that only rises, and who sleeps until it does. On a cache line of its own.
struct gate {
    _Alignas(64) _Atomic uint32_t count;
    _Atomic uint32_t n_asleep; // spares the opener a system call when nobody sleeps
};

struct team;

struct worker {
    struct gate start; // opened by rank 0 at each run in which this worker takes part
    struct team *team;
    int rank;            // 0 .. n_active - 1
    int n_active;        // workers in this run
    int64_t wait_ns;     // time spent in barriers during this run
    struct trace *trace; // NULL: off
};

typedef void team_fn(void *arg, struct worker *me);

struct team {
    // owned
    struct worker *workers; // (n_workers), each with its own cache lines
    pthread_t *threads;     // (n_workers - 1): thread i is worker i + 1
    struct clock clock;
    // guarded by the start gates: written by rank 0 between runs
    team_fn *fn;
    void *arg;
    int n_active;
    bool stop;
    // shared
    struct gate phase;                     // opened by the last to reach a barrier
    _Alignas(64) _Atomic uint32_t arrived; // workers that reached the barrier
    _Alignas(64) _Atomic int next_item;    // for team_claim
    // limits, fixed at init
    int n_workers;
};

// Starts n_workers - 1 threads (1 <= n_workers <= LIMIT_WORKERS). On failure nothing runs on.
enum status team_open(struct team *team, struct arena *arena, int n_workers,
                      struct error *err);

// Stops and joins all threads. Safe on a zeroed team. Not while team_run is under way.
void team_close(struct team *team);

// How many take part from the next run on: 1 .. n_workers. Only between runs, by the caller.
void team_set_active(struct team *team, int n_active);

// Off: NULL. Only between runs. The trace needs n_workers lanes.
void team_set_trace(struct team *team, struct trace *trace);

// Runs fn on all active workers and returns when all have returned. One caller at a time.
// Memory written before is seen by all workers, and theirs by the caller after.
void team_run(struct team *team, team_fn *fn, void *arg);

// All active workers meet; also resets the team_claim counter to 0 for the next stage.
void team_barrier(struct worker *me);

// The part of [0, n_items) that belongs to this rank: neighbours, cut at multiples of `multiple`.
// Parts cover everything once, in order of rank; some may be empty.
struct range {
    int begin, end;
};
struct range team_split(const struct worker *me, int n_items, int multiple);

// The next item nobody has taken yet, or -1 when all n_items are taken.
int team_claim(struct worker *me, int n_items);

#endif
