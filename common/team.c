// The compute team. Everything is two kinds of waiting on one kind of gate:
//
//   rank 0   open start ─▶ fn ── barrier ── fn ── arrive, wait ─▶ return
//   rank r   wait start ─▶ fn ── barrier ── fn ── arrive ───────▶ wait start
//
// A worker that does not take part in a run is not woken by it: its own start gate stays shut.
#include "common/team.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/limits.h"
#include "common/os.h"

// A step has hundreds of barriers, and sleeping and waking costs about 40 us.
static const int64_t SPIN_NS = 20 * 1000;
static const int64_t FOR_EVER_NS = 3600 * INT64_C(1000000000);

static inline void cpu_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool gate_has_moved(struct gate *g, uint32_t seen) {
    return atomic_load_explicit(&g->count, memory_order_acquire) != seen;
}

// Reading the clock costs more than looking at the gate, so it is read now and then.
static bool gate_spin(struct gate *g, uint32_t seen, struct clock *clock) {
    int64_t give_up_ns = clock_now(clock) + SPIN_NS;
    do {
        for (int i = 0; i < 16; i++) {
            if (gate_has_moved(g, seen)) return true;
            cpu_relax();
        }
    } while (clock_now(clock) < give_up_ns);
    return false;
}

// Returns once the count is no longer `seen`.
static void gate_wait(struct gate *g, uint32_t seen, struct clock *clock) {
    if (gate_spin(g, seen, clock)) return;

    // No wake-up is lost: either the opener sees n_asleep, or os_wait sees the new count. Both
    // sides write before they read, in the one order that sequential consistency gives.
    atomic_fetch_add(&g->n_asleep, 1);
    while (!gate_has_moved(g, seen)) os_wait(&g->count, seen, FOR_EVER_NS);
    atomic_fetch_sub(&g->n_asleep, 1);
}

static void gate_open(struct gate *g) {
    atomic_fetch_add(&g->count, 1);
    if (atomic_load(&g->n_asleep) > 0) os_wake_all(&g->count);
}

// True for the last of the team, who has reset the shared counters and let the others go.
static bool arrive(struct team *team, int n_active) {
    uint32_t n_before = atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel);
    if (n_before + 1 < (uint32_t)n_active) return false;

    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&team->next_item, 0, memory_order_relaxed);
    gate_open(&team->phase);
    return true;
}

static void *worker_main(void *arg) {
    struct worker *me = arg;
    struct team *team = me->team;

    for (uint32_t n_runs = 0;; n_runs++) {
        gate_wait(&me->start, n_runs, &team->clock);
        if (team->stop) return NULL;
        team->fn(team->arg, me);
        arrive(team, me->n_active); // after it, rank 0 may write to *me
    }
}

// Signals belong to the threads that main knows. Faults stay open: their handlers must report.
static void block_signals(sigset_t *before) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t blocked;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

enum status team_open(struct team *team, struct arena *arena, int n_workers,
                      struct error *err) {
    sigset_t signals;
    int failed = 0;

    memset(team, 0, sizeof(*team));
    if (n_workers < 1 || n_workers > LIMIT_WORKERS) {
        return error_set_param(err, ERR_INPUT, "threads", "%d threads: choose 1 to %d",
                               n_workers, LIMIT_WORKERS);
    }
    struct worker *workers = ARENA_NEW(arena, struct worker, n_workers);
    pthread_t *threads = ARENA_NEW(arena, pthread_t, n_workers - 1);
    if (!workers || !threads) {
        return error_set(err, ERR_MEMORY, "no memory for a team of %d threads", n_workers);
    }
    team->workers = workers;
    team->threads = threads;
    clock_init_real(&team->clock);
    for (int rank = 0; rank < n_workers; rank++) {
        workers[rank].team = team;
        workers[rank].rank = rank;
    }

    block_signals(&signals); // threads inherit the mask
    for (team->n_workers = 1; team->n_workers < n_workers; team->n_workers++) {
        int rank = team->n_workers;
        failed = pthread_create(&threads[rank - 1], NULL, worker_main, &workers[rank]);
        if (failed != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &signals, NULL);

    if (failed != 0) {
        team_close(team);
        return error_set(err, ERR_IO, "cannot start %d threads: %s; use fewer", n_workers,
                         strerror(failed));
    }
    team->n_active = n_workers;
    return OK;
}

void team_close(struct team *team) {
    team->stop = true;
    for (int rank = 1; rank < team->n_workers; rank++)
        gate_open(&team->workers[rank].start);
    for (int rank = 1; rank < team->n_workers; rank++) {
        pthread_join(team->threads[rank - 1], NULL);
    }
    memset(team, 0, sizeof(*team));
}

void team_set_active(struct team *team, int n_active) {
    MUST(n_active >= 1 && n_active <= team->n_workers);
    team->n_active = n_active;
}

void team_set_trace(struct team *team, struct trace *trace) {
    MUST(!trace || trace->n_lanes >= team->n_workers);
    for (int rank = 0; rank < team->n_workers; rank++) team->workers[rank].trace = trace;
}

void team_run(struct team *team, team_fn *fn, void *arg) {
    struct worker *me = &team->workers[0];

    team->fn = fn;
    team->arg = arg;
    atomic_store_explicit(&team->next_item, 0, memory_order_relaxed);
    for (int rank = 0; rank < team->n_active; rank++) {
        team->workers[rank].n_active = team->n_active;
        team->workers[rank].wait_ns = 0;
    }
    for (int rank = 1; rank < team->n_active; rank++) gate_open(&team->workers[rank].start);
    fn(arg, me);
    team_barrier(me);
}

void team_barrier(struct worker *me) {
    struct team *team = me->team;
    // The phase cannot move before this worker has arrived, so reading it first is safe.
    uint32_t seen = atomic_load_explicit(&team->phase.count, memory_order_relaxed);
    if (arrive(team, me->n_active)) return;

    int64_t span_ns = trace_begin(me->trace);
    int64_t begin_ns = clock_now(&team->clock);
    gate_wait(&team->phase, seen, &team->clock);
    me->wait_ns += clock_now(&team->clock) - begin_ns;
    trace_end(me->trace, me->rank, "wait", span_ns, -1);
}

struct range team_split(const struct worker *me, int n_items, int multiple) {
    MUST(n_items >= 0 && multiple >= 1);
    int64_t n_units = ((int64_t)n_items + multiple - 1) / multiple;
    int64_t begin = n_units * me->rank / me->n_active * multiple;
    int64_t end = n_units * (me->rank + 1) / me->n_active * multiple;
    return (struct range){(int)(begin < n_items ? begin : n_items),
                          (int)(end < n_items ? end : n_items)};
}

int team_claim(struct worker *me, int n_items) {
    int item = atomic_fetch_add_explicit(&me->team->next_item, 1, memory_order_relaxed);
    return item < n_items ? item : -1;
}
