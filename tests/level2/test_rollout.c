// Roll-outs of replicas that exist on paper only, on a clock that the test moves: what was done, in which
// order, and where everybody is in the end.
#include "level2-operator/rollout/rollout.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static const int64_t second = 1000000000, look = 200000000;

// One replica as it is drawn for a test. Times in seconds; 0: at once.
struct actor {
    int longest_answer_s; // what is open when it is drained ends then
    int command_s, undo_s, ready_s, up_s;
    bool replace_fails, undo_fails, is_never_ready, is_never_ready_again, goes_down;
    int taken_s;                  // another roll-out drains it then; 0: never
    bool stays_in;                // HAProxy says yes to a drain, and does nothing
    int failing_old, failing_new; // of 10 requests; 10 come a second
};

struct world {
    struct actor actors[4];
    struct haproxy_server servers[4];
    int n_servers;
    int64_t now_ns;
    bool is_new[4], is_out[4];
    int64_t drained_at[4], open_at[4], command_at, command_ends;
    bool command_fails, is_command_of_new;
    int64_t stop_at; // 0: never
    int n_out_most;
    char story[1024];
};

static void tell(struct world *w, const char *what, int i) {
    size_t n = strlen(w->story);
    snprintf(w->story + n, sizeof(w->story) - n, "%s%s %c", n ? ", " : "", what, 'a' + i);
}

static void pass(struct world *w) {
    int n_out = 0;
    w->now_ns += look;
    for (int i = 0; i < w->n_servers; i++) {
        struct haproxy_server *s = &w->servers[i];
        const struct actor *a = &w->actors[i];
        bool is_told = w->is_out[i] && !a->stays_in;
        bool is_up = !is_told && w->now_ns >= w->open_at[i];
        if (a->goes_down && w->is_new[i] && w->now_ns >= w->open_at[i] + second)
            is_up = false;
        s->state = is_told ? HAPROXY_DRAINING : is_up ? HAPROXY_UP : HAPROXY_DOWN;
        if (a->taken_s && w->now_ns >= a->taken_s * second) s->state = HAPROXY_DRAINING;
        s->n_sessions = w->is_out[i] && w->now_ns >= w->drained_at[i] ? 0 : 2;
        n_out += w->is_out[i];
        if (!is_up) continue;
        s->n_requests += 2; // five looks a second
        int failing = w->is_new[i] ? a->failing_new : a->failing_old;
        if (w->now_ns / look % 5 == 0) s->n_errors += failing;
    }
    if (n_out > w->n_out_most) w->n_out_most = n_out;
}

static void start_command(struct world *w, const struct rollout *r, bool is_new) {
    const struct actor *a = &w->actors[r->i_now];
    tell(w, is_new ? "replace" : "undo", r->i_now);
    w->command_ends = w->now_ns + (is_new ? a->command_s : a->undo_s) * second;
    w->command_fails = is_new ? a->replace_fails : a->undo_fails;
    w->is_command_of_new = is_new;
}

static void act(struct world *w, const struct rollout *r, enum rollout_action action) {
    int i = r->i_now;
    switch (action) {
    case ROLLOUT_DO_DRAIN:
        if (!w->is_out[i])
            w->drained_at[i] = w->now_ns + w->actors[i].longest_answer_s * second;
        w->is_out[i] = true;
        tell(w, "drain", i);
        break;
    case ROLLOUT_DO_OPEN:
        w->is_out[i] = false;
        w->open_at[i] = w->now_ns + w->actors[i].up_s * second;
        tell(w, "open", i);
        break;
    case ROLLOUT_DO_REPLACE:
    case ROLLOUT_DO_UNDO:
        ck_assert_msg(w->is_out[i], "%c is replaced while requests come", 'a' + i);
        start_command(w, r, action == ROLLOUT_DO_REPLACE);
        break;
    default:
        break;
    }
    if (action == ROLLOUT_DO_REPLACE) w->is_new[i] = true;
    if (action == ROLLOUT_DO_UNDO) w->is_new[i] = false;
}

static bool is_ready(const struct world *w, const struct rollout *r) {
    const struct actor *a = &w->actors[r->i_now];
    bool is_never = w->is_command_of_new ? a->is_never_ready : a->is_never_ready_again;
    return !is_never && w->now_ns >= w->command_ends + a->ready_s * second;
}

static const struct rollout_rules usual = {.drain_ns = 60 * second,
                                           .command_ns = 30 * second,
                                           .ready_ns = 20 * second,
                                           .watch_ns = 5 * second,
                                           .allowed_failing = 0.05};

// Plays it to its end, which must come.
static void play(struct world *w, struct rollout *r, const struct rollout_rules *rules,
                 int n_replicas) {
    if (!w->n_servers) w->n_servers = n_replicas;
    rollout_init(r, rules, n_replicas);
    for (int i = 0; i < 100000; i++) {
        pass(w);
        const struct rollout_view view = {
            .now_ns = w->now_ns,
            .servers = w->servers,
            .n_servers = w->n_servers,
            .command = w->now_ns < w->command_ends ? ROLLOUT_RUNS
                       : w->command_fails          ? ROLLOUT_FAILED
                                                   : ROLLOUT_DONE,
            .answers_ready = is_ready(w, r),
            .wants_stop = w->stop_at && w->now_ns >= w->stop_at,
        };
        enum rollout_action action = rollout_step(r, &view);
        if (action == ROLLOUT_DO_END) {
            ck_assert_int_eq(r->phase, ROLLOUT_END);
            ck_assert_int_eq(rollout_step(r, &view), ROLLOUT_DO_END);
            return;
        }
        act(w, r, action);
    }
    ck_abort_msg("it does not end: %s, %s", rollout_phase_name(r->phase), w->story);
}

static const char *result_name(enum rollout_result result) {
    static const char *const names[] = {"replaced", "rolled back", "stopped", "stuck"};
    return names[result];
}

// ---- reference ----------------------------------------------------------------------------------

#define THERE_A "drain a, replace a, open a"
#define THERE_B "drain b, replace b, open b"
#define BACK_A  "drain a, undo a, open a"
#define BACK_B  "drain b, undo b, open b"

static const struct {
    const char *name;
    struct actor a, b;
    const char *story;
    enum rollout_result result;
    const char *why; // part of it
} plays[] = {
    {"one after the other",
     {.longest_answer_s = 7, .command_s = 2, .ready_s = 3},
     {0},
     THERE_A ", " THERE_B,
     ROLLOUT_REPLACED,                                                         ""                                         },
    {"an answer that takes too long calls it off, and is not cut",
     {.longest_answer_s = 61},
     {0},
     "drain a, open a",                                   ROLLOUT_ROLLED_BACK,
     "2 still open after 60 s"                                                                                            },
    {"HAProxy says yes and goes on sending requests",
     {.stays_in = true},
     {0},
     "drain a, open a",                                   ROLLOUT_ROLLED_BACK,
     "HAProxy still sends it requests 60 s after it was told"                                                             },
    {"somebody else takes the second one out: it is left alone",
     {0},
     {.taken_s = 7},
     THERE_A,                                             ROLLOUT_STUCK,
     "it is draining, and not by us"                                                                                      },
    {"the command fails",
     {.replace_fails = true},
     {0},
     "drain a, replace a, " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "its replace command failed"               },
    {"the command does not end",
     {.command_s = 31},
     {0},
     "drain a, replace a, " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "its replace command still ran after 30 s" },
    {"the new one does not become ready",
     {.is_never_ready = true},
     {0},
     "drain a, replace a, " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "not ready 20 s after its command"         },
    {"HAProxy does not take it",
     {.up_s = 21},
     {0},
     THERE_A ", " BACK_A,
     ROLLOUT_STUCK,                                                            "HAProxy still has it down after 20 s"     },
    {"the new one fails often",
     {.failing_new = 3},
     {0},
     THERE_A ", " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "3 of 8 requests failed (before: 0 of 100)"},
    {"the new one fails as often as the old ones did",
     {3, .failing_old = 4, .failing_new = 4},
     {.failing_old = 4, .failing_new = 4},
     THERE_A ", " THERE_B,
     ROLLOUT_REPLACED,                                                         ""                                         },
    {"the new one goes down",
     {.goes_down = true},
     {0},
     THERE_A ", " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "down again after 0.8 s"                   },
    {"the second one fails: the first goes back, too",
     {0},
     {.is_never_ready = true},
     THERE_A ", drain b, replace b, " BACK_B ", " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "not ready 20 s"                           },
    {"the second one is not even drained: the first goes back",
     {0},
     {.longest_answer_s = 100},
     THERE_A ", drain b, open b, " BACK_A,
     ROLLOUT_ROLLED_BACK,                                                      "2 still open"                             },
    {"the old one does not come back",
     {.is_never_ready = true, .is_never_ready_again = true},
     {0},
     "drain a, replace a, drain a, undo a",               ROLLOUT_STUCK,
     "not ready 20 s"                                                                                                     },
    {"on the way back long answers are cut",
     {.longest_answer_s = 70, .failing_new = 9},
     {0},
     "",                                                  ROLLOUT_ROLLED_BACK,
     ""                                                                                                                   },
};

START_TEST(plays_end_as_they_should) {
    struct world w = {
        .actors = {plays[_i].a, plays[_i].b}
    };
    struct rollout_rules rules = usual;
    struct rollout r;
    bool is_cutting = plays[_i].story[0] == '\0';

    rules.cuts = is_cutting;
    play(&w, &r, &rules, 2);
    assert_text(plays[_i].name, result_name(r.result), result_name(plays[_i].result));
    if (!is_cutting) assert_text(plays[_i].name, w.story, plays[_i].story);
    ck_assert_msg(strstr(r.why, plays[_i].why), "%s: why: %s", plays[_i].name, r.why);
    ck_assert_msg(plays[_i].why[0] || r.result != ROLLOUT_REPLACED || !r.why[0],
                  "%s: a reason for nothing: %s", plays[_i].name, r.why);
    assert_number(plays[_i].name, w.n_out_most, 1);
    for (int i = 0; i < 2; i++) {
        bool is_stuck = r.result == ROLLOUT_STUCK;
        if (!is_stuck)
            ck_assert_msg(!w.is_out[i], "%s: %c is out", plays[_i].name, 'a' + i);
        if (!is_stuck) ck_assert_int_eq(r.is_new[i], w.is_new[i]);
        if (!is_stuck) ck_assert_int_eq(w.is_new[i], r.result == ROLLOUT_REPLACED);
    }
}
END_TEST

START_TEST(what_is_too_slow_is_cut_off_where_that_is_wanted) {
    struct world w = {.actors = {{.longest_answer_s = 600}}};
    struct rollout_rules rules = usual;
    struct rollout r;
    rules.cuts = true;
    play(&w, &r, &rules, 2);
    assert_text("story", w.story, THERE_A ", " THERE_B);
    assert_text("result", result_name(r.result), "replaced");
    assert_number("it took the time given", w.now_ns / second >= 60, 1);
}
END_TEST

// Two servers of which the first has just been replaced.
struct watch {
    struct rollout r;
    struct haproxy_server s[2];
    struct rollout_view v;
};

static void watch_begin(struct watch *w) {
    memset(w, 0, sizeof(*w));
    w->s[0].state = w->s[1].state = HAPROXY_UP;
    w->v = (struct rollout_view){
        .servers = w->s, .n_servers = 2, .command = ROLLOUT_DONE, .answers_ready = true};
    rollout_init(&w->r, &usual, 1);
    while (w->r.phase != ROLLOUT_WATCH) {
        if (w->r.phase == ROLLOUT_DRAIN) w->s[0].state = HAPROXY_DRAINING;
        if (w->r.phase == ROLLOUT_OPEN) w->s[0].state = HAPROXY_UP;
        rollout_step(&w->r, &w->v);
        w->v.now_ns += second;
    }
}

START_TEST(two_failures_may_be_chance_and_three_may_not) {
    for (int n = 2; n <= 3; n++) {
        struct watch w;
        watch_begin(&w);
        w.s[0].n_requests += 3;
        w.s[0].n_errors += n;
        rollout_step(&w.r, &w.v);
        assert_number("turned around", w.r.is_back, n == 3);
    }
}
END_TEST

START_TEST(one_request_is_no_plural) {
    static const char *want[] = {"new: 0 requests, 0 failed", "new: 1 request, 0 failed",
                                 "new: 2 requests, 0 failed"};
    for (int n = 0; n < 3; n++) {
        struct watch w;
        watch_begin(&w);
        w.s[0].n_requests += n;
        w.v.now_ns += usual.watch_ns;
        rollout_step(&w.r, &w.v);
        assert_text("what it says", w.r.note, want[n]);
    }
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_server_alone_is_never_taken_out) {
    struct world w = {.n_servers = 1};
    struct rollout r;
    play(&w, &r, &usual, 1);
    assert_text("result", result_name(r.result), "rolled back");
    assert_text("nothing was taken out", w.story, "open a");
    ck_assert(strstr(r.why, "no other replica is up"));
}
END_TEST

START_TEST(one_of_three_may_be_replaced_alone) {
    struct world w = {.n_servers = 3};
    struct rollout r;
    play(&w, &r, &usual, 1);
    assert_text("a canary", w.story, THERE_A);
    assert_text("result", result_name(r.result), "replaced");
}
END_TEST

START_TEST(nothing_begins_while_one_is_down) {
    struct world w = {
        .n_servers = 2, .open_at = {0, 3600 * second}
    };
    struct rollout r;
    play(&w, &r, &usual, 2);
    assert_text("result", result_name(r.result), "stuck");
    assert_text("nothing was done", w.story, "");
    assert_text("why", r.why, "it is down before anything was done");
    assert_number("which", r.i_now, 1);
}
END_TEST

START_TEST(without_a_watch_it_does_not_wait) {
    struct world w = {0};
    struct rollout_rules rules = usual;
    struct rollout r;
    rules.watch_ns = 0;
    play(&w, &r, &rules, 2);
    assert_text("story", w.story, THERE_A ", " THERE_B);
    ck_assert(w.now_ns < 5 * second);
}
END_TEST

START_TEST(a_haproxy_that_counts_from_zero_again_is_no_failure) {
    struct world w = {
        .actors = {{.failing_old = 9}, {.failing_old = 9}}
    };
    struct rollout r;
    for (int i = 0; i < 2; i++) w.servers[i].n_requests = w.servers[i].n_errors = 1000000;
    play(&w, &r, &usual, 2);
    assert_text("result", result_name(r.result), "replaced");
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

// At each moment of a roll-out somebody asks to stop: nobody is left out, and each is old or new.
START_TEST(a_stop_leaves_nobody_out) {
    for (int64_t at = 0; at < 60 * second; at += look) {
        struct world w = {
            .actors = {{.longest_answer_s = 3, .command_s = 2, .ready_s = 2},
                       {.longest_answer_s = 3, .command_s = 2, .ready_s = 2}},
            .stop_at = at + 1
        };
        struct rollout r;
        play(&w, &r, &usual, 2);
        ck_assert(!w.is_out[0] && !w.is_out[1]);
        ck_assert(r.is_new[0] == w.is_new[0] && r.is_new[1] == w.is_new[1]);
        bool is_over = w.is_new[0] && w.is_new[1];
        assert_text("result", result_name(r.result), is_over ? "replaced" : "stopped");
    }
}
END_TEST

START_TEST(a_stop_does_not_stop_the_way_back) {
    struct world w = {
        .actors = {{0}, {.is_never_ready = true}},
          .stop_at = 30 * second
    };
    struct rollout r;
    play(&w, &r, &usual, 2);
    assert_text("result", result_name(r.result), "rolled back");
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// Whatever happens: it ends, at most one is out, what is up last is never taken out, and the plan knows
// which are new, unless it says that it is stuck.
START_TEST(any_luck_ends_well_or_says_so) {
    struct draw d = draw_start("luck");
    int n_of[4] = {0};
    for (int i = 0; i < 3000; i++) {
        struct world w = {.n_servers = draw_int(&d, 1, 4)};
        struct rollout r;
        for (int s = 0; s < w.n_servers; s++)
            w.actors[s] = (struct actor){
                .longest_answer_s = draw_int(&d, 0, 9) ? draw_int(&d, 0, 20) : 90,
                .command_s = draw_int(&d, 0, 9) ? draw_int(&d, 0, 20) : 40,
                .undo_s = draw_int(&d, 0, 9) ? draw_int(&d, 0, 20) : 40,
                .ready_s = draw_int(&d, 0, 9) ? draw_int(&d, 0, 15) : 30,
                .up_s = draw_int(&d, 0, 9) ? draw_int(&d, 0, 15) : 30,
                .replace_fails = !draw_int(&d, 0, 9),
                .undo_fails = !draw_int(&d, 0, 9),
                .is_never_ready = !draw_int(&d, 0, 9),
                .goes_down = !draw_int(&d, 0, 9),
                .failing_old = draw_int(&d, 0, 2),
                .failing_new = draw_int(&d, 0, 5)};
        if (!draw_int(&d, 0, 3)) w.stop_at = draw_int(&d, 1, 100) * second;
        int n_replicas = draw_int(&d, 1, w.n_servers);
        play(&w, &r, &usual, n_replicas);
        n_of[r.result]++;
        ck_assert_msg(w.n_out_most <= 1, "%d out: %s", w.n_out_most, w.story);
        if (r.result == ROLLOUT_STUCK) continue;
        for (int s = 0; s < w.n_servers; s++) {
            ck_assert_msg(!w.is_out[s], "%c is out: %s", 'a' + s, w.story);
            bool wants_new = r.result == ROLLOUT_REPLACED && s < n_replicas;
            if (r.result != ROLLOUT_STOPPED)
                ck_assert_msg(w.is_new[s] == wants_new, "%c: %s", 'a' + s, w.story);
        }
    }
    for (int i = 0; i < 4; i++)
        ck_assert_msg(n_of[i] > 10, "%s came only %d times",
                      result_name((enum rollout_result)i), n_of[i]);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rollout");
    TCase *reference = tcase_create("reference"), *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures"), *property = tcase_create("property");
    tcase_add_loop_test(reference, plays_end_as_they_should, 0,
                        (int)(sizeof(plays) / sizeof(plays[0])));
    tcase_add_test(reference, what_is_too_slow_is_cut_off_where_that_is_wanted);
    tcase_add_test(reference, two_failures_may_be_chance_and_three_may_not);
    tcase_add_test(reference, one_request_is_no_plural);
    tcase_add_test(edges, a_server_alone_is_never_taken_out);
    tcase_add_test(edges, one_of_three_may_be_replaced_alone);
    tcase_add_test(edges, nothing_begins_while_one_is_down);
    tcase_add_test(edges, without_a_watch_it_does_not_wait);
    tcase_add_test(edges, a_haproxy_that_counts_from_zero_again_is_no_failure);
    tcase_add_test(failures, a_stop_leaves_nobody_out);
    tcase_add_test(failures, a_stop_does_not_stop_the_way_back);
    tcase_add_test(property, any_luck_ends_well_or_says_so);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    suite_add_tcase(s, property);
    return s;
}
