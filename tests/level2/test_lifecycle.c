// The states of a server and its models: every arrow, and nothing else.
#include "level2-operator/service/lifecycle.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/broken.h"
#include "tests/support/suite.h"

// A ready server: place i serves with n requests, the other place is as told.
static struct lifecycle ready(int i_serving, int n, enum model_state other, int n_other) {
    struct lifecycle l = {.state = SERVER_READY, .n_in_flight = n + n_other};
    l.models[i_serving] = (struct lifecycle_model){MODEL_SERVING, n};
    l.models[1 - i_serving] = (struct lifecycle_model){other, n_other};
    return l;
}

static void assert_server(const char *what, const struct lifecycle *l,
                          enum server_state want) {
    assert_text(what, lifecycle_name(l->state), lifecycle_name(want));
}

static void assert_model(const char *what, const struct lifecycle *l, int i,
                         enum model_state want, int n_holders) {
    char part[160];
    snprintf(part, sizeof(part), "%s: models[%d].state", what, i);
    assert_text(part, lifecycle_model_name(l->models[i].state), lifecycle_model_name(want));
    snprintf(part, sizeof(part), "%s: models[%d].n_holders", what, i);
    assert_number(part, l->models[i].n_holders, n_holders);
}

static void assert_same(const char *what, const struct lifecycle *l,
                        const struct lifecycle *want) {
    assert_server(what, l, want->state);
    assert_number(what, l->n_in_flight, want->n_in_flight);
    for (int i = 0; i < LIFECYCLE_MODELS; i++)
        assert_model(what, l, i, want->models[i].state, want->models[i].n_holders);
}

START_TEST(worked_example) {
    struct lifecycle l;
    int a = -1, b = -1, c = -1, other = -1;
    lifecycle_init(&l);
    lifecycle_ready(&l);
    assert_model("lifecycle_ready", &l, 0, MODEL_SERVING, 0);
    assert_status("enter(a)", lifecycle_enter(&l, &a, NULL), OK);
    assert_status("enter(b)", lifecycle_enter(&l, &b, NULL), OK);
    assert_model("enter(b)", &l, 0, MODEL_SERVING, 2);
    assert_status("swap", lifecycle_swap(&l, &other, NULL), OK);
    assert_number("swap *i_model", other, 1);
    lifecycle_swap_loaded(&l, other);
    assert_model("swap_loaded(1)", &l, 0, MODEL_DRAINING, 2);
    assert_model("swap_loaded(1)", &l, 1, MODEL_SERVING, 0);
    assert_status("enter(c)", lifecycle_enter(&l, &c, NULL), OK);
    assert_number("enter(c) *i_model", c, 1);
    lifecycle_leave(&l, a);
    assert_model("leave(a)", &l, 0, MODEL_DRAINING, 1);
    assert_status("a second swap", lifecycle_swap(&l, &other, NULL), ERR_BUSY);
    lifecycle_leave(&l, b);
    assert_model("leave(b)", &l, 0, MODEL_CLOSING, 0);
    lifecycle_closed(&l, 0);
    assert_model("closed(0)", &l, 0, MODEL_EMPTY, 0);
    lifecycle_terminate(&l, 1000, 500);
    assert_server("terminate(now 1000, drain 500)", &l, SERVER_DRAINING);
    assert_number("drain_until_ns", l.drain_until_ns, 1500);
    lifecycle_leave(&l, c);
    assert_server("leave(c)", &l, SERVER_STOPPED);
}
END_TEST

// --- ready, failed --------------------------------------------------------------------------------

START_TEST(only_a_loading_server_becomes_ready) {
    struct lifecycle l;
    lifecycle_init(&l);
    lifecycle_ready(&l);
    assert_server("lifecycle_ready(loading)", &l, SERVER_READY);
    assert_model("lifecycle_ready(loading)", &l, 0, MODEL_SERVING, 0);
    assert_model("lifecycle_ready(loading)", &l, 1, MODEL_EMPTY, 0);
    for (int s = SERVER_READY; s <= SERVER_STOPPED; s++) {
        l = ready(1, 3, MODEL_EMPTY, 0);
        l.state = (enum server_state)s;
        struct lifecycle before = l;
        lifecycle_ready(&l);
        assert_same("lifecycle_ready, too late", &l, &before);
    }
}
END_TEST

START_TEST(only_a_loading_server_fails) {
    struct lifecycle l;
    lifecycle_init(&l);
    lifecycle_failed(&l);
    assert_server("lifecycle_failed(loading)", &l, SERVER_STOPPED);
    assert_model("lifecycle_failed(loading)", &l, 0, MODEL_LOADING, 0);
    for (int s = SERVER_READY; s <= SERVER_STOPPED; s++) {
        l = ready(0, 2, MODEL_EMPTY, 0);
        l.state = (enum server_state)s;
        lifecycle_failed(&l);
        assert_server("lifecycle_failed, too late", &l, (enum server_state)s);
    }
}
END_TEST

// --- terminate ------------------------------------------------------------------------------------

static const struct {
    enum server_state state;
    int n_old, n_new; // requests that hold each of two models
    int64_t now_ns, drain_ns;
    enum server_state want;
    int64_t until_ns; // SERVER_DRAINING
} terminations[] = {
    {SERVER_READY,    0, 1, 100, 50,            SERVER_DRAINING, 150      },
    {SERVER_READY,    3, 0, 100, 50,            SERVER_DRAINING, 150      },
    {SERVER_READY,    2, 5, 0,   1,             SERVER_DRAINING, 1        },
    {SERVER_READY,    0, 0, 100, 50,            SERVER_STOPPED,  0        },
    {SERVER_READY,    1, 1, 100, 0,             SERVER_STOPPED,  0        },
    {SERVER_READY,    0, 1, 100, -1,            SERVER_STOPPED,  0        },
    {SERVER_READY,    0, 1, 100, INT64_MAX,     SERVER_DRAINING, INT64_MAX},
    {SERVER_READY,    0, 1, 100, INT64_MAX - 9, SERVER_DRAINING, INT64_MAX},
    {SERVER_LOADING,  0, 0, 100, 50,            SERVER_STOPPED,  0        },
    {SERVER_DRAINING, 0, 2, 100, 50,            SERVER_STOPPED,  0        },
    {SERVER_DRAINING, 1, 0, 100, 50,            SERVER_STOPPED,  0        },
    {SERVER_STOPPED,  0, 2, 100, 50,            SERVER_STOPPED,  0        },
};

START_TEST(terminates) {
    char what[128];
    struct lifecycle l =
        ready(1, terminations[_i].n_new, MODEL_DRAINING, terminations[_i].n_old);
    l.state = terminations[_i].state;
    snprintf(what, sizeof(what),
             "lifecycle_terminate(%s, %d in flight, now %lld, drain %lld)",
             lifecycle_name(l.state), l.n_in_flight, (long long)terminations[_i].now_ns,
             (long long)terminations[_i].drain_ns);
    lifecycle_terminate(&l, terminations[_i].now_ns, terminations[_i].drain_ns);
    assert_server(what, &l, terminations[_i].want);
    if (l.state == SERVER_DRAINING)
        assert_number(what, l.drain_until_ns, terminations[_i].until_ns);
    assert_model(what, &l, 1, MODEL_SERVING, terminations[_i].n_new);
}
END_TEST

START_TEST(a_tick_ends_the_drain_exactly_on_time) {
    struct draw d = draw_start("a_tick_ends_the_drain_exactly_on_time");
    int64_t until = draw_int(&d, 1, 1 << 30);
    struct lifecycle l = ready(0, 1, MODEL_EMPTY, 0);
    l.drain_until_ns = until;
    lifecycle_tick(&l, INT64_MAX);
    assert_server("lifecycle_tick(ready)", &l, SERVER_READY);
    l.state = SERVER_DRAINING;
    lifecycle_tick(&l, until - 1);
    assert_server("lifecycle_tick(draining, 1 ns before its end)", &l, SERVER_DRAINING);
    lifecycle_tick(&l, until);
    assert_server("lifecycle_tick(draining, at its end)", &l, SERVER_STOPPED);
}
END_TEST

// --- enter, leave ---------------------------------------------------------------------------------

START_TEST(who_enters_holds_the_model_that_serves) {
    static const enum model_state others[] = {MODEL_EMPTY, MODEL_LOADING, MODEL_DRAINING,
                                              MODEL_CLOSING};
    struct draw d = draw_start("who_enters_holds_the_model_that_serves");
    for (int i = 0; i < 8; i++) {
        int i_serving = i % 2, i_model = -1, n = draw_int(&d, 0, 9);
        struct lifecycle l = ready(i_serving, n, others[i / 2], i / 2 == 2 ? 3 : 0);
        int n_in_flight = l.n_in_flight;
        char what[96];
        snprintf(what, sizeof(what), "lifecycle_enter(models[%d] serves, the other is %s)",
                 i_serving, lifecycle_model_name(others[i / 2]));
        assert_status(what, lifecycle_enter(&l, &i_model, NULL), OK);
        assert_number(what, i_model, i_serving);
        assert_model(what, &l, i_serving, MODEL_SERVING, n + 1);
        assert_number("n_in_flight", l.n_in_flight, n_in_flight + 1);
    }
}
END_TEST

START_TEST(nobody_enters_but_a_ready_server) {
    static const enum server_state states[] = {SERVER_LOADING, SERVER_DRAINING,
                                               SERVER_STOPPED};
    for (int i = 0; i < 3; i++) {
        struct lifecycle l = ready(0, 2, MODEL_EMPTY, 0);
        struct error err = {0};
        int i_model = 77;
        l.state = states[i];
        struct lifecycle before = l;
        assert_status("lifecycle_enter", lifecycle_enter(&l, &i_model, &err), ERR_STATE);
        assert_number("lifecycle_enter, refused: *i_model", i_model, 77);
        assert_same("lifecycle_enter, refused", &l, &before);
        ck_assert_msg(strstr(err.text, lifecycle_name(states[i])) != NULL,
                      "err.text = \"%s\", want %s in it", err.text,
                      lifecycle_name(states[i]));
    }
}
END_TEST

static const struct {
    enum server_state server;
    enum model_state model; // of the one who leaves
    int n_holders, n_other;
    enum server_state want_server;
    enum model_state want_model;
} departures[] = {
    {SERVER_READY,    MODEL_SERVING,  1, 0, SERVER_READY,    MODEL_SERVING },
    {SERVER_READY,    MODEL_SERVING,  5, 2, SERVER_READY,    MODEL_SERVING },
    {SERVER_READY,    MODEL_DRAINING, 2, 0, SERVER_READY,    MODEL_DRAINING},
    {SERVER_READY,    MODEL_DRAINING, 1, 0, SERVER_READY,    MODEL_CLOSING },
    {SERVER_READY,    MODEL_DRAINING, 1, 7, SERVER_READY,    MODEL_CLOSING },
    {SERVER_DRAINING, MODEL_SERVING,  2, 0, SERVER_DRAINING, MODEL_SERVING },
    {SERVER_DRAINING, MODEL_SERVING,  1, 0, SERVER_STOPPED,  MODEL_SERVING },
    {SERVER_DRAINING, MODEL_SERVING,  1, 1, SERVER_DRAINING, MODEL_SERVING },
    {SERVER_DRAINING, MODEL_DRAINING, 1, 1, SERVER_DRAINING, MODEL_CLOSING },
    {SERVER_DRAINING, MODEL_DRAINING, 1, 0, SERVER_STOPPED,  MODEL_CLOSING },
    {SERVER_STOPPED,  MODEL_SERVING,  3, 1, SERVER_STOPPED,  MODEL_SERVING },
    {SERVER_STOPPED,  MODEL_DRAINING, 1, 0, SERVER_STOPPED,  MODEL_CLOSING },
};

START_TEST(leaves) {
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        struct lifecycle l = {.state = departures[_i].server};
        char what[128];
        l.n_in_flight = departures[_i].n_holders + departures[_i].n_other;
        l.models[i] =
            (struct lifecycle_model){departures[_i].model, departures[_i].n_holders};
        l.models[1 - i] = (struct lifecycle_model){
            departures[_i].model == MODEL_SERVING ? MODEL_DRAINING : MODEL_SERVING,
            departures[_i].n_other};
        snprintf(what, sizeof(what), "lifecycle_leave(%d, %s with %d, server %s with %d)",
                 i, lifecycle_model_name(l.models[i].state), l.models[i].n_holders,
                 lifecycle_name(l.state), l.n_in_flight);
        lifecycle_leave(&l, i);
        assert_server(what, &l, departures[_i].want_server);
        assert_model(what, &l, i, departures[_i].want_model, departures[_i].n_holders - 1);
        assert_number("n_holders of the other", l.models[1 - i].n_holders,
                      departures[_i].n_other);
        assert_number("n_in_flight", l.n_in_flight,
                      departures[_i].n_holders + departures[_i].n_other - 1);
    }
}
END_TEST

// --- swap -----------------------------------------------------------------------------------------

START_TEST(a_swap_takes_the_empty_place) {
    for (int i_serving = 0; i_serving < 2; i_serving++) {
        struct lifecycle l = ready(i_serving, 4, MODEL_EMPTY, 0);
        int i_model = -1;
        assert_status("lifecycle_swap", lifecycle_swap(&l, &i_model, NULL), OK);
        assert_number("lifecycle_swap *i_model", i_model, 1 - i_serving);
        assert_model("lifecycle_swap", &l, 1 - i_serving, MODEL_LOADING, 0);
        assert_model("lifecycle_swap", &l, i_serving, MODEL_SERVING, 4);
    }
}
END_TEST

START_TEST(a_second_swap_is_refused_with_the_reason) {
    static const struct {
        enum model_state other;
        int n_other;
        const char *in_text;
    } rows[] = {
        {MODEL_LOADING,  0,    "loading" },
        {MODEL_DRAINING, 4711, "draining"},
        {MODEL_DRAINING, 4711, "4711"    },
        {MODEL_CLOSING,  0,    "closing" },
    };
    for (int i = 0; i < 2 * ROWS(rows); i++) {
        struct lifecycle l = ready(i % 2, 1, rows[i / 2].other, rows[i / 2].n_other);
        struct lifecycle before = l;
        struct error err = {0};
        int i_model = 77;
        assert_status("a second lifecycle_swap", lifecycle_swap(&l, &i_model, &err),
                      ERR_BUSY);
        assert_same("a second lifecycle_swap", &l, &before);
        assert_number("a second lifecycle_swap *i_model", i_model, 77);
        ck_assert_msg(strstr(err.text, rows[i / 2].in_text) != NULL,
                      "err.text = \"%s\", want %s in it", err.text, rows[i / 2].in_text);
    }
}
END_TEST

START_TEST(a_server_that_is_not_ready_swaps_nothing) {
    static const enum server_state states[] = {SERVER_LOADING, SERVER_DRAINING,
                                               SERVER_STOPPED};
    for (int i = 0; i < 3; i++) {
        struct lifecycle l = ready(0, 1, MODEL_EMPTY, 0);
        struct error err = {0};
        int i_model = 77;
        l.state = states[i];
        struct lifecycle before = l;
        assert_status("lifecycle_swap", lifecycle_swap(&l, &i_model, &err), ERR_STATE);
        assert_same("lifecycle_swap, not ready", &l, &before);
        ck_assert_msg(strstr(err.text, lifecycle_name(states[i])) != NULL,
                      "err.text = \"%s\", want %s in it", err.text,
                      lifecycle_name(states[i]));
    }
}
END_TEST

START_TEST(the_new_model_serves_and_the_old_one_drains_or_closes) {
    for (int i = 0; i < 6; i++) {
        int i_old = i % 2, n = i / 2; // 0, 1, 2 requests hold the old one
        struct lifecycle l = ready(i_old, n, MODEL_LOADING, 0);
        char what[80];
        snprintf(what, sizeof(what), "lifecycle_swap_loaded(%d), the other has %d holders",
                 1 - i_old, n);
        lifecycle_swap_loaded(&l, 1 - i_old);
        assert_model(what, &l, 1 - i_old, MODEL_SERVING, 0);
        assert_model(what, &l, i_old, n > 0 ? MODEL_DRAINING : MODEL_CLOSING, n);
        assert_number("n_in_flight", l.n_in_flight, n);
    }
}
END_TEST

START_TEST(a_model_that_comes_too_late_never_serves) {
    for (int s = SERVER_DRAINING; s <= SERVER_STOPPED; s++) {
        struct lifecycle l = ready(0, 2, MODEL_LOADING, 0);
        l.state = (enum server_state)s;
        lifecycle_swap_loaded(&l, 1);
        assert_model("lifecycle_swap_loaded(1), too late", &l, 1, MODEL_CLOSING, 0);
        assert_model("lifecycle_swap_loaded(1), too late", &l, 0, MODEL_SERVING, 2);
        assert_server("lifecycle_swap_loaded(1), too late", &l, (enum server_state)s);
    }
}
END_TEST

START_TEST(a_failed_load_leaves_the_old_model_serving) {
    for (int s = SERVER_READY; s <= SERVER_STOPPED; s++) {
        for (int i_old = 0; i_old < 2; i_old++) {
            struct lifecycle l = ready(i_old, 3, MODEL_LOADING, 0);
            l.state = (enum server_state)s;
            lifecycle_swap_failed(&l, 1 - i_old);
            assert_model("lifecycle_swap_failed", &l, 1 - i_old, MODEL_EMPTY, 0);
            assert_model("lifecycle_swap_failed", &l, i_old, MODEL_SERVING, 3);
        }
    }
}
END_TEST

START_TEST(a_closed_model_makes_room) {
    for (int i_serving = 0; i_serving < 2; i_serving++) {
        struct lifecycle l = ready(i_serving, 2, MODEL_CLOSING, 0);
        lifecycle_closed(&l, 1 - i_serving);
        assert_model("lifecycle_closed", &l, 1 - i_serving, MODEL_EMPTY, 0);
        assert_model("lifecycle_closed", &l, i_serving, MODEL_SERVING, 2);
    }
}
END_TEST

// --- broken invariants ----------------------------------------------------------------------------

static void leave_0(void *l) {
    lifecycle_leave(l, 0);
}

static void loaded_0(void *l) {
    lifecycle_swap_loaded(l, 0);
}

static void failed_0(void *l) {
    lifecycle_swap_failed(l, 0);
}

static void closed_0(void *l) {
    lifecycle_closed(l, 0);
}

static const char returned[] = "it returned", aborted[] = "MUST aborted it";

// Place 0; in place 1 a model serves with 2 requests.
static const struct {
    const char *call;
    void (*run)(void *l);
    enum model_state state;
    int n_holders;
    const char *want;
} invariants[] = {
    {"lifecycle_leave(0)",       leave_0,  MODEL_DRAINING, 1, returned},
    {"lifecycle_leave(0)",       leave_0,  MODEL_CLOSING,  0, aborted },
    {"lifecycle_leave(0)",       leave_0,  MODEL_EMPTY,    0, aborted },
    {"lifecycle_swap_loaded(0)", loaded_0, MODEL_LOADING,  0, returned},
    {"lifecycle_swap_loaded(0)", loaded_0, MODEL_EMPTY,    0, aborted },
    {"lifecycle_swap_loaded(0)", loaded_0, MODEL_DRAINING, 3, aborted },
    {"lifecycle_swap_failed(0)", failed_0, MODEL_LOADING,  0, returned},
    {"lifecycle_swap_failed(0)", failed_0, MODEL_CLOSING,  0, aborted },
    {"lifecycle_closed(0)",      closed_0, MODEL_CLOSING,  0, returned},
    {"lifecycle_closed(0)",      closed_0, MODEL_DRAINING, 3, aborted },
    {"lifecycle_closed(0)",      closed_0, MODEL_LOADING,  0, aborted },
};

START_TEST(what_cannot_be_is_a_broken_invariant) {
    struct lifecycle l = ready(1, 2, invariants[_i].state, invariants[_i].n_holders);
    char what[128];
    snprintf(what, sizeof(what), "%s, models[0] %s with %d holders", invariants[_i].call,
             lifecycle_model_name(invariants[_i].state), invariants[_i].n_holders);
    assert_text(what, ending_of(invariants[_i].run, &l), invariants[_i].want);
}
END_TEST

// --- whatever happens -----------------------------------------------------------------------------

enum { N_REQUESTS = 40 };

// Nobody enters unless ready, a hold ends at the model where it began, a model with holders is never
// closing, and exactly one serves.
struct witness {
    int bound[N_REQUESTS]; // where each request is, -1: outside
    int n_held[LIFECYCLE_MODELS], n_closed, n_served;
};

static void act(struct lifecycle *l, struct witness *w, struct draw *d, int64_t now) {
    int r = draw_int(d, 0, N_REQUESTS - 1), i = lifecycle_find(l, MODEL_LOADING), place;
    int other = lifecycle_find(l, MODEL_CLOSING);
    enum server_state before = l->state;
    switch (draw_int(d, 0, 5)) {
    case 0:
        if (lifecycle_swap(l, &place, NULL) == OK)
            assert_number("the state when a swap began", before, SERVER_READY);
        break;
    case 1:
        if (before == SERVER_LOADING) {
            lifecycle_ready(l);
        } else if (i >= 0 && draw_int(d, 0, 3) == 0) {
            lifecycle_swap_failed(l, i);
        } else if (i >= 0) {
            lifecycle_swap_loaded(l, i);
            w->n_served += before == SERVER_READY;
        }
        break;
    case 2:
        if (other >= 0) {
            lifecycle_closed(l, other);
            w->n_closed++;
        }
        break;
    case 3:
        lifecycle_tick(l, now);
        if (draw_int(d, 0, 40) == 0) lifecycle_terminate(l, now, 50);
        break;
    default:
        if (w->bound[r] >= 0) {
            lifecycle_leave(l, w->bound[r]);
            w->n_held[w->bound[r]]--;
            w->bound[r] = -1;
        } else if (lifecycle_enter(l, &w->bound[r], NULL) == OK) {
            assert_number("the server's state when a request entered", before,
                          SERVER_READY);
            w->n_held[w->bound[r]]++;
        }
    }
}

static void look(const struct lifecycle *l, const struct witness *w) {
    int n_serving = 0;
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        const struct lifecycle_model *m = &l->models[i];
        assert_number("n_holders", m->n_holders, w->n_held[i]);
        n_serving += m->state == MODEL_SERVING;
        ck_assert_msg(m->n_holders == 0 || m->state == MODEL_SERVING ||
                          m->state == MODEL_DRAINING,
                      "models[%d] is %s, but %d requests hold it", i,
                      lifecycle_model_name(m->state), m->n_holders);
        ck_assert_msg(m->n_holders > 0 || m->state != MODEL_DRAINING,
                      "models[%d] is draining, but nobody holds it", i);
    }
    assert_number("n_in_flight", l->n_in_flight, w->n_held[0] + w->n_held[1]);
    if (l->state == SERVER_READY) assert_number("models that serve", n_serving, 1);
    if (l->state == SERVER_DRAINING)
        ck_assert_msg(l->n_in_flight > 0,
                      "the server is draining, but nothing is in flight");
}

START_TEST(keeps_its_promises_under_random_calls) {
    struct draw d = draw_start("keeps_its_promises_under_random_calls");
    int n_closed = 0, n_served = 0;
    for (int round = 0; round < 60; round++) {
        struct lifecycle l;
        struct witness w = {.n_closed = 0};
        int64_t now = 0;
        lifecycle_init(&l);
        for (int i = 0; i < N_REQUESTS; i++) w.bound[i] = -1;
        for (int i = 0; i < 200; i++) {
            enum server_state before = l.state;
            now += draw_int(&d, 0, 20);
            act(&l, &w, &d, now);
            look(&l, &w);
            ck_assert_msg(l.state >= before, "from %s to %s: no such arrow",
                          lifecycle_name(before), lifecycle_name(l.state));
        }
        n_closed += w.n_closed;
        n_served += w.n_served;
    }
    ck_assert_int_gt(n_served, 20); // much has happened
    ck_assert_int_gt(n_closed, 10);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/lifecycle");
    TCase *worked = tcase_in(s, "worked example");
    tcase_add_test(worked, worked_example);
    TCase *server = tcase_in(s, "server");
    tcase_add_test(server, only_a_loading_server_becomes_ready);
    tcase_add_test(server, only_a_loading_server_fails);
    tcase_add_loop_test(server, terminates, 0, ROWS(terminations));
    tcase_add_test(server, a_tick_ends_the_drain_exactly_on_time);
    TCase *requests = tcase_in(s, "requests");
    tcase_add_test(requests, who_enters_holds_the_model_that_serves);
    tcase_add_test(requests, nobody_enters_but_a_ready_server);
    tcase_add_loop_test(requests, leaves, 0, ROWS(departures));
    TCase *swap = tcase_in(s, "swap");
    tcase_add_test(swap, a_swap_takes_the_empty_place);
    tcase_add_test(swap, a_second_swap_is_refused_with_the_reason);
    tcase_add_test(swap, a_server_that_is_not_ready_swaps_nothing);
    tcase_add_test(swap, the_new_model_serves_and_the_old_one_drains_or_closes);
    tcase_add_test(swap, a_model_that_comes_too_late_never_serves);
    tcase_add_test(swap, a_failed_load_leaves_the_old_model_serving);
    tcase_add_test(swap, a_closed_model_makes_room);
    TCase *broken = tcase_in(s, "invariants");
    tcase_add_loop_test(broken, what_cannot_be_is_a_broken_invariant, 0, ROWS(invariants));
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, keeps_its_promises_under_random_calls);
    return s;
}
