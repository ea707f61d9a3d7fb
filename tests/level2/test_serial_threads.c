// The serial engine among threads: sleeping, waking, heartbeat, trace, and a crowd of clients.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/engine_rig.h"
#include "tests/support/fake_ops.h"
#include "tests/support/suite.h"

enum { N_VOCAB = 40, N_CTX = 200, EOS = 39, N_PROMPT = 90 };

static struct rig rig;

static void open_fake(void) {
    rig_open_fake(&rig, N_VOCAB, N_CTX, EOS);
}

static void close_rig(void) {
    rig_close(&rig);
}

// --- sleeping, news, heartbeat, trace -----------------------------------------------------------

static void count_news(void *ctx) {
    ++*(int *)ctx;
}

START_TEST(tells_the_listener_once_a_step_that_said_something) {
    int n_news = 0;
    struct answer a;
    rig.options.listener = (struct engine_listener){count_news, &n_news};
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 6);
    p.ignore_eos = true;
    engine_step(rig.engine);
    ck_assert_int_eq(n_news, 0);
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(n_news, 6);
}
END_TEST

START_TEST(beats_with_every_step_and_every_park) {
    struct clock virtual_clock;
    clock_init_virtual(&virtual_clock, 100);
    rig.options.clock = &virtual_clock;
    rig_start(&rig);
    ck_assert_int_eq(rig_stats(&rig).last_step_ns, 100);
    virtual_clock.virtual_ns = 200;
    engine_park(rig.engine, 1000);
    ck_assert_int_eq(rig_stats(&rig).last_step_ns, 200);
    struct engine_params p = rig_greedy(&rig, 5, 6);
    rig_submit(&rig, &p);
    virtual_clock.virtual_ns = 300;
    engine_step(rig.engine);
    ck_assert_int_eq(rig_stats(&rig).last_step_ns, 300);
    ck_assert_uint_eq(rig_stats(&rig).n_steps, 1);
}
END_TEST

static struct engine_stats stats_at_end; // as they were when FINISH was out

// The engine looks at the clock again once it has said the last word: as early as any client can be.
static int64_t look_as_early_as_any_client(struct clock *c) {
    struct engine_event event;
    while (rig.engine && engine_poll(rig.engine, &event, 1) == 1) {
        if (event.kind == EVENT_FINISH) stats_at_end = rig_stats(&rig);
    }
    return c->virtual_ns;
}

START_TEST(whoever_hears_the_end_finds_it_in_the_counts) {
    struct clock watched;
    clock_init_virtual(&watched, 0);
    watched.now = look_as_early_as_any_client;
    rig.options.clock = &watched;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 3);
    p.ignore_eos = true;
    rig_submit(&rig, &p);
    for (int i = 0; i < 4; i++) engine_step(rig.engine);
    ck_assert_uint_eq(stats_at_end.n_finished, 1);
    ck_assert_uint_eq(stats_at_end.n_steps, 3);
    ck_assert_uint_eq(stats_at_end.n_step_rows, 7);
    ck_assert_uint_eq(stats_at_end.n_completion_tokens, 3);
}
END_TEST

static int64_t park_ns(int64_t timeout_ns) {
    int64_t begin_ns = clock_now(&rig.clock);
    engine_park(rig.engine, timeout_ns);
    return clock_now(&rig.clock) - begin_ns;
}

enum { MS = 1000 * 1000 };

START_TEST(parks_only_while_there_is_nothing_to_do) {
    rig_start(&rig);
    ck_assert_int_ge(park_ns(20 * MS), 15 * MS);
    engine_wake(rig.engine); // before the park: not lost
    ck_assert_int_lt(park_ns(5000LL * MS), 1000 * MS);
    ck_assert_int_ge(park_ns(20 * MS), 15 * MS); // and it counts once

    struct engine_params p = rig_greedy(&rig, 5, 6);
    rig_submit(&rig, &p);
    for (int i = 0; i < 3; i++) ck_assert_int_lt(park_ns(5000LL * MS), 1000 * MS);
}
END_TEST

static void *wake_later(void *arg) {
    rig.clock.sleep(&rig.clock, 20 * MS);
    engine_wake(arg);
    return NULL;
}

START_TEST(wakes_from_another_thread) {
    pthread_t thread;
    rig_start(&rig);
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, rig.engine), 0);
    ck_assert_int_lt(park_ns(-1), 3000LL * MS);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(writes_steps_and_requests_into_the_trace) {
    struct arena arena;
    struct trace trace;
    struct answer a;
    arena_init(&arena, 64 << 20);
    ck_assert_int_eq(trace_init(&trace, &arena, 1, &rig.clock, NULL), OK);
    rig.options.trace = &trace;
    rig.options.step_rows = 4;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 10, 3);
    p.ignore_eos = true;
    rig_ask(&rig, &p, &a);

    int n_rows = 0, n_steps = 0, n_requests = 0;
    for (int i = 0; i < trace.lanes[0].n_spans; i++) {
        const struct trace_span *span = &trace.lanes[0].spans[i];
        if (strcmp(span->name, "step") == 0) {
            n_steps++;
            n_rows += (int)span->arg;
        }
        if (strcmp(span->name, "request") == 0) {
            n_requests++;
            ck_assert_int_eq(span->arg, (int64_t)a.finish.id);
        }
    }
    ck_assert_int_eq(n_steps, 5);
    ck_assert_int_eq(n_rows, 12);
    ck_assert_int_eq(n_requests, 1);
    rig.options.trace = NULL;
    arena_free(&arena);
}
END_TEST

// --- from many threads --------------------------------------------------------------------------

enum { N_CLIENTS = 3, N_EACH = 60, MAX_ID = N_CLIENTS * N_EACH };

static struct {
    _Atomic int n_submitted, n_cancels;
    _Atomic bool stop;
    int n_finishes[MAX_ID + 1], n_tokens[MAX_ID + 1]; // written by the poller only
} crowd;

static void *client_main(void *arg) {
    struct draw d = {(uintptr_t)arg};
    for (int i = 0; i < N_EACH;) {
        struct engine_params p =
            rig_greedy(&rig, draw_int(&d, 1, N_PROMPT), draw_int(&d, 1, 12));
        request_id id;
        enum status st = engine_submit(rig.engine, &p, &id, NULL);
        if (st != OK) {
            ck_assert_int_eq(st, ERR_BUSY);
            rig.clock.sleep(&rig.clock, MS / 10);
            continue;
        }
        i++;
        crowd.n_submitted++;
        if (draw_int(&d, 0, 1)) {
            rig.clock.sleep(&rig.clock, draw_int(&d, 0, MS / 5));
            engine_cancel(rig.engine, id);
            crowd.n_cancels++;
        }
    }
    return NULL;
}

static void *poller_main(void *arg) {
    struct engine_event events[5];
    (void)arg;
    for (int n_done = 0; n_done < MAX_ID;) {
        int n = engine_poll(rig.engine, events, 5);
        for (int i = 0; i < n; i++) {
            ck_assert(events[i].id >= 1 && events[i].id <= MAX_ID);
            ck_assert_int_eq(crowd.n_finishes[events[i].id], 0); // FINISH is the last
            if (events[i].kind == EVENT_TOKEN) crowd.n_tokens[events[i].id]++;
            if (events[i].kind != EVENT_FINISH) continue;
            ck_assert_int_eq(events[i].n_completion, crowd.n_tokens[events[i].id]);
            crowd.n_finishes[events[i].id]++;
            n_done++;
        }
        struct engine_stats stats = rig_stats(&rig);
        ck_assert(stats.n_running >= 0 && stats.n_running <= 1);
        if (n == 0) rig.clock.sleep(&rig.clock, MS / 10);
    }
    crowd.stop = true;
    engine_wake(rig.engine);
    return NULL;
}

static void *engine_main(void *arg) {
    (void)arg;
    while (!crowd.stop) {
        if (!engine_step(rig.engine)) engine_park(rig.engine, -1);
    }
    return NULL;
}

static void crowd_run(void) {
    pthread_t clients[N_CLIENTS], poller, engine_thread;
    rig.options.max_waiting = 6;
    rig.options.step_rows = 16;
    rig_start(&rig);
    ck_assert_int_eq(pthread_create(&engine_thread, NULL, engine_main, NULL), 0);
    ck_assert_int_eq(pthread_create(&poller, NULL, poller_main, NULL), 0);
    for (int i = 0; i < N_CLIENTS; i++)
        ck_assert_int_eq(
            pthread_create(&clients[i], NULL, client_main, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < N_CLIENTS; i++) pthread_join(clients[i], NULL);
    pthread_join(poller, NULL);
    pthread_join(engine_thread, NULL);

    for (int id = 1; id <= MAX_ID; id++) ck_assert_int_eq(crowd.n_finishes[id], 1);
    struct engine_stats stats = rig_stats(&rig);
    ck_assert_int_eq(stats.n_waiting + stats.n_running, 0);
    ck_assert_uint_eq(stats.n_finished + stats.n_cancelled, MAX_ID);
    ck_assert_uint_le(stats.n_cancelled, (uint64_t)crowd.n_cancels);
}

START_TEST(serves_many_threads_and_finishes_each_request_once) {
    crowd_run();
}
END_TEST

START_TEST(tiny_model_serves_many_threads) {
    rig_open_tiny(&rig, 2);
    crowd_run();
    rig_close(&rig);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/serial_threads");
    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, open_fake, close_rig);
    tcase_add_test(edges, whoever_hears_the_end_finds_it_in_the_counts);
    tcase_add_test(edges, tells_the_listener_once_a_step_that_said_something);
    tcase_add_test(edges, beats_with_every_step_and_every_park);
    tcase_add_test(edges, parks_only_while_there_is_nothing_to_do);
    tcase_add_test(edges, wakes_from_another_thread);
    tcase_add_test(edges, writes_steps_and_requests_into_the_trace);
    suite_add_tcase(s, edges);
    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, open_fake, close_rig);
    tcase_set_timeout(property, 120);
    tcase_add_test(property, serves_many_threads_and_finishes_each_request_once);
    suite_add_tcase(s, property);
    TCase *tiny = tcase_create("tiny");
    tcase_set_timeout(tiny, 120);
    tcase_add_test(tiny, tiny_model_serves_many_threads);
    suite_add_tcase(s, tiny);
    return s;
}
