// The compute team: everyone meets, nothing is lost, nobody burns a core while there is no work.
#include "common/team.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/suite.h"

static const int sizes[] = {1, 2, 3, 8};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]), MAX_ITEMS = 1000 };

static struct arena arena;
static struct team team;

static void setup(void) {
    arena_init(&arena, 64 << 20);
    memset(&team, 0, sizeof(team));
}

static void teardown(void) {
    team_close(&team);
    arena_free(&arena);
}

static void open_team(int n_workers) {
    struct error err = {0};
    ck_assert_msg(team_open(&team, &arena, n_workers, &err) == OK, "%s", err.text);
}

static double now_s(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- reference: the parts of a split, worked by hand --------------------------------------------

static const struct {
    const char *name;
    int n_items, multiple, n_active;
    int cut[5]; // part r is cut[r] .. cut[r + 1]
} splits[] = {
    {"even",                      8,          1,          4, {0, 2, 4, 6, 8}            },
    {"later ranks take the rest", 7,          1,          3, {0, 2, 4, 7}               },
    {"cut at multiples",          100,        32,         2, {0, 64, 100}               },
    {"fewer units than workers",  40,         32,         4, {0, 0, 32, 32, 40}         },
    {"nothing",                   0,          8,          2, {0, 0, 0}                  },
    {"alone",                     33,         8,          1, {0, 33}                    },
    {"no overflow",               2147483647, 1073741824, 2, {0, 1073741824, 2147483647}},
};

START_TEST(a_split_cuts_where_worked_by_hand) {
    for (int rank = 0; rank < splits[_i].n_active; rank++) {
        struct worker me = {.rank = rank, .n_active = splits[_i].n_active};
        struct range part = team_split(&me, splits[_i].n_items, splits[_i].multiple);
        ck_assert_msg(part.begin == splits[_i].cut[rank] &&
                          part.end == splits[_i].cut[rank + 1],
                      "%s: rank %d has %d .. %d, want %d .. %d", splits[_i].name, rank,
                      part.begin, part.end, splits[_i].cut[rank], splits[_i].cut[rank + 1]);
    }
}
END_TEST

START_TEST(split_parts_cover_everything_once_in_order) {
    struct draw d = draw_start("split_parts_cover_everything_once_in_order");
    for (int i = 0; i < 2000; i++) {
        int n_items = draw_int(&d, 0, 5000);
        int multiple = draw_int(&d, 1, 70);
        int n_active = draw_int(&d, 1, LIMIT_WORKERS);
        int next = 0;
        for (int rank = 0; rank < n_active; rank++) {
            struct worker me = {.rank = rank, .n_active = n_active};
            struct range part = team_split(&me, n_items, multiple);
            bool is_cut_well = part.begin % multiple == 0 || part.begin == n_items;
            if (part.begin != next || part.end < part.begin || !is_cut_well) {
                ck_abort_msg("%d items by %d: rank %d of %d has %d .. %d", n_items,
                             multiple, rank, n_active, part.begin, part.end);
            }
            next = part.end;
        }
        ck_assert_int_eq(next, n_items);
    }
}
END_TEST

// ---- runs ---------------------------------------------------------------------------------------

// Two stages with a barrier between them: stage two reads what the other ranks wrote in stage one.
// Plain, not atomic: under the thread sanitizer this also proves that the barrier orders memory.
struct two_stages {
    int first[MAX_ITEMS], second[MAX_ITEMS];
    int n_items;
    int seen_ranks[LIMIT_WORKERS];
};

static void run_two_stages(void *arg, struct worker *me) {
    struct two_stages *work = arg;
    struct range part = team_split(me, work->n_items, 1);

    work->seen_ranks[me->rank]++;
    for (int i = part.begin; i < part.end; i++) work->first[i]++;
    team_barrier(me);
    for (int i = part.begin; i < part.end; i++) {
        work->second[i] = work->first[work->n_items - 1 - i];
    }
}

START_TEST(all_workers_meet_at_the_barrier) {
    static struct two_stages work;
    open_team(sizes[_i]);
    for (int run = 1; run <= 300; run++) {
        work.n_items = MAX_ITEMS;
        team_run(&team, run_two_stages, &work);
        int n_wrong = 0; // one assertion a run: each is a message to Check's parent process
        for (int i = 0; i < MAX_ITEMS; i++) {
            n_wrong += work.first[i] != run || work.second[i] != run;
        }
        ck_assert_int_eq(n_wrong, 0);
    }
    for (int rank = 0; rank < sizes[_i]; rank++)
        ck_assert_int_eq(work.seen_ranks[rank], 300);
}
END_TEST

START_TEST(thousands_of_short_runs_with_a_changing_team_lose_no_wake_up) {
    static struct two_stages work;
    struct draw d = draw_start("thousands_of_short_runs");
    int want[LIMIT_WORKERS] = {0};

    open_team(sizes[_i]);
    for (int run = 1; run <= 4000; run++) {
        int n_active = draw_int(&d, 1, sizes[_i]);
        team_set_active(&team, n_active);
        work.n_items = draw_int(&d, 0, 9);
        team_run(&team, run_two_stages, &work);
        for (int rank = 0; rank < n_active; rank++) want[rank]++;
    }
    for (int rank = 0; rank < sizes[_i]; rank++) {
        ck_assert_int_eq(work.seen_ranks[rank], want[rank]);
    }
}
END_TEST

// Ranks arrive so late that the others have gone to sleep.
static void sleep_then_meet(void *arg, struct worker *me) {
    int *late_rank = arg;
    struct timespec nap = {.tv_nsec = 300 * 1000};
    for (int stage = 0; stage < 10; stage++) {
        if (me->rank == (*late_rank + stage) % me->n_active) nanosleep(&nap, NULL);
        team_barrier(me);
    }
}

START_TEST(sleepers_are_woken) {
    open_team(sizes[_i]);
    for (int late = 0; late < 30; late++) team_run(&team, sleep_then_meet, &late);
}
END_TEST

START_TEST(time_in_barriers_is_counted) {
    int late_rank = 1;
    open_team(2);
    // At each of ten stages one comes 0.3 ms late. On a busy machine the other may be late as well,
    // and then waits less; three stages' worth is always seen.
    team_run(&team, sleep_then_meet, &late_rank);
    ck_assert_int_ge(team.workers[0].wait_ns + team.workers[1].wait_ns, 3 * 300 * 1000);
    ck_assert_int_gt(team.workers[0].wait_ns, 0);
    team_set_active(&team, 1);
    team_run(&team, sleep_then_meet, &late_rank);
    // Alone nobody waits, and each run starts at 0.
    ck_assert_int_eq(team.workers[0].wait_ns, 0);
}
END_TEST

struct claims {
    _Atomic int taken[2][MAX_ITEMS];
    int n_items[2];
};

static void claim_two_stages(void *arg, struct worker *me) {
    struct claims *claims = arg;
    for (int stage = 0; stage < 2; stage++) {
        for (int i; (i = team_claim(me, claims->n_items[stage])) >= 0;) {
            claims->taken[stage][i]++;
        }
        team_barrier(me);
    }
}

START_TEST(each_item_is_claimed_once_in_every_stage) {
    static struct claims claims;
    open_team(sizes[_i]);
    for (int run = 0; run < 200; run++) {
        memset(&claims, 0, sizeof(claims));
        claims.n_items[0] = run * 5;
        claims.n_items[1] = MAX_ITEMS - run;
        team_run(&team, claim_two_stages, &claims);
        int n_wrong = 0;
        for (int i = 0; i < MAX_ITEMS; i++) {
            n_wrong += claims.taken[0][i] != (i < claims.n_items[0]);
            n_wrong += claims.taken[1][i] != (i < claims.n_items[1]);
        }
        ck_assert_int_eq(n_wrong, 0);
    }
}
END_TEST

static void one_claim(void *arg, struct worker *me) {
    int *got = arg;
    *got = team_claim(me, 3);
}

START_TEST(a_run_starts_with_all_items_unclaimed) {
    int got = -1;
    open_team(1);
    for (int run = 0; run < 5; run++) {
        team_run(&team, one_claim, &got);
        ck_assert_int_eq(got, 0);
    }
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(an_idle_team_uses_no_cpu) {
    static struct two_stages work = {.n_items = 8};
    struct timespec nap = {.tv_nsec = 200 * 1000 * 1000};

    open_team(8);
    team_run(&team, run_two_stages, &work);
    double before_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    nanosleep(&nap, NULL);
    double used_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - before_s;
    ck_assert_msg(used_s < 0.05, "%.0f ms of CPU in 200 ms without work", used_s * 1e3);
}
END_TEST

static void *thread_asked;
static void note_thread(int signal_number) {
    (void)signal_number;
    thread_asked = (void *)(uintptr_t)1;
}

START_TEST(signals_are_not_delivered_to_team_threads) {
    struct sigaction action = {.sa_handler = note_thread}, before;
    sigset_t usr1;
    struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};

    open_team(8);
    sigaction(SIGUSR1, &action, &before);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL); // now only a team thread could take it
    kill(getpid(), SIGUSR1);
    nanosleep(&nap, NULL);
    ck_assert_ptr_null(thread_asked);
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL); // the caller's own thread takes it here
    ck_assert_ptr_nonnull(thread_asked);
    sigaction(SIGUSR1, &before, NULL);
}
END_TEST

START_TEST(opening_leaves_the_callers_signal_mask_alone) {
    sigset_t mask;
    open_team(2);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert_int_eq(sigismember(&mask, SIGTERM), 0);
    ck_assert_int_eq(sigismember(&mask, SIGINT), 0);
}
END_TEST

START_TEST(closing_twice_or_before_opening_does_nothing) {
    team_close(&team);
    open_team(3);
    team_close(&team);
    team_close(&team);
    ck_assert_ptr_null(team.workers);
}
END_TEST

START_TEST(a_trace_shows_each_wait) {
    struct clock clock;
    struct trace trace;
    int late_rank = 1;

    clock_init_real(&clock);
    open_team(2);
    ck_assert_int_eq(trace_init(&trace, &arena, 2, &clock, NULL), OK);
    team_set_trace(&team, &trace);
    team_run(&team, sleep_then_meet, &late_rank);
    team_set_trace(&team, NULL);
    team_run(&team, sleep_then_meet, &late_rank);

    // Ten barriers and the end of the run: one of the two waits at each, worker 1 not at the end.
    int n_spans = trace.lanes[0].n_spans + trace.lanes[1].n_spans;
    ck_assert_int_ge(n_spans, 10);
    ck_assert_int_le(n_spans, 11);
    ck_assert_int_ge(trace.lanes[1].n_spans, 1);
    for (int i = 0; i < trace.lanes[1].n_spans; i++) {
        struct trace_span *span = &trace.lanes[1].spans[i];
        ck_assert_str_eq(span->name, "wait");
        ck_assert_int_ge(span->end_ns, span->begin_ns);
    }
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(every_failed_allocation_is_an_error_and_starts_no_thread) {
    enum status st = ERR_MEMORY;
    int n = 0;
    for (; st != OK; n++) {
        struct error err = {0};
        arena_reset(&arena);
        arena_fail_after(&arena, n);
        st = team_open(&team, &arena, 3, &err);
        if (st == OK) break;
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_str_ne(err.text, "");
        team_close(&team);
    }
    ck_assert_int_eq(n, 2);
}
END_TEST

START_TEST(a_team_of_a_silly_size_is_refused) {
    static const int wrong[] = {0, -1, LIMIT_WORKERS + 1};
    struct error err = {0};
    ck_assert_int_eq(team_open(&team, &arena, wrong[_i], &err), ERR_INPUT);
    ck_assert_str_eq(err.param, "threads");
    ck_assert_int_eq(team.n_workers, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/team");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_split_cuts_where_worked_by_hand, 0,
                        sizeof(splits) / sizeof(splits[0]));
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_set_timeout(property, 60);
    tcase_add_test(property, split_parts_cover_everything_once_in_order);
    tcase_add_loop_test(property, all_workers_meet_at_the_barrier, 0, N_SIZES);
    tcase_add_loop_test(
        property, thousands_of_short_runs_with_a_changing_team_lose_no_wake_up, 0, N_SIZES);
    tcase_add_loop_test(property, sleepers_are_woken, 0, N_SIZES);
    tcase_add_test(property, time_in_barriers_is_counted);
    tcase_add_loop_test(property, each_item_is_claimed_once_in_every_stage, 0, N_SIZES);
    tcase_add_test(property, a_run_starts_with_all_items_unclaimed);
    suite_add_tcase(s, property);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, an_idle_team_uses_no_cpu);
    tcase_add_test(edges, signals_are_not_delivered_to_team_threads);
    tcase_add_test(edges, opening_leaves_the_callers_signal_mask_alone);
    tcase_add_test(edges, closing_twice_or_before_opening_does_nothing);
    tcase_add_test(edges, a_trace_shows_each_wait);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_starts_no_thread);
    tcase_add_loop_test(failures, a_team_of_a_silly_size_is_refused, 0, 3);
    suite_add_tcase(s, failures);
    return s;
}
