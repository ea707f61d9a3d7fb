// The order of the forward pass, with stages that compute nothing and write down who called them.
// That the right numbers come out is the business of tests/level2/test_forward_bits.c.
#include "level2-operator/model/forward.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/broken.h"
#include "tests/support/suite.h"

enum {
    MAX_LAYERS = 9,
    MAX_CALLS = 2 + 5 * (MAX_LAYERS + 1),
    MAX_TEAM = 4,
    WHAT_BYTES = 128
};
enum { STAGE_NS = 10 }; // what a stage takes on the virtual clock, with one worker

struct call {
    const char *stage;
    int layer; // -1: embed and logits
    const struct run *run;
    const struct step *step;
    uint32_t phase; // barriers passed so far, since the team was opened
};

// What each rank was asked to do. Every rank writes its own row.
static struct call calls[MAX_TEAM][MAX_CALLS];
static int n_calls[MAX_TEAM];
static struct clock virtual_clock;

static void note(const char *stage, int layer, const struct run *run,
                 const struct step *step, struct worker *me) {
    if (n_calls[me->rank] == MAX_CALLS) return; // more than any test wants: wrong already
    calls[me->rank][n_calls[me->rank]++] =
        (struct call){stage, layer, run, step, atomic_load(&me->team->phase.count)};
    if (me->n_active == 1) virtual_clock.virtual_ns += STAGE_NS;
}

static void embed(struct run *r, const struct step *s, struct worker *me) {
    note("embed", -1, r, s, me);
}

static void norm_qkv_store(struct run *r, const struct step *s, int l, struct worker *me) {
    note("norm_qkv_store", l, r, s, me);
}

static void attend(struct run *r, const struct step *s, int l, struct worker *me) {
    note("attend", l, r, s, me);
}

static void out_add(struct run *r, const struct step *s, int l, struct worker *me) {
    note("out_add", l, r, s, me);
}

static void norm_gate_up(struct run *r, const struct step *s, int l, struct worker *me) {
    note("norm_gate_up", l, r, s, me);
}

static void down_add(struct run *r, const struct step *s, int l, struct worker *me) {
    note("down_add", l, r, s, me);
}

static void logits(struct run *r, const struct step *s, struct worker *me) {
    note("logits", -1, r, s, me);
}

static const struct ops ops = {
    .name = "noting",
    .embed = embed,
    .norm_qkv_store = norm_qkv_store,
    .attend = attend,
    .out_add = out_add,
    .norm_gate_up = norm_gate_up,
    .down_add = down_add,
    .logits = logits,
};

// All that a pass needs. The model is nothing but its number of layers.
static struct rig {
    struct arena arena;
    struct team team;
    struct model model;
    struct run run;
    struct step step;
    uint32_t phase; // before the first pass
} rig;

static void rig_open(int n_layers, int n_workers) {
    arena_init(&rig.arena, 64 << 20);
    ck_assert_int_eq(team_open(&rig.team, &rig.arena, n_workers, NULL), OK);
    rig.model.config.n_layers = n_layers;
    rig.run = (struct run){
        .model = &rig.model, .limits = {8, 4, n_workers, 64}
    };
    rig.step = (struct step){.n_rows = 3, .n_logit_rows = 2};
    rig.phase = atomic_load(&rig.team.phase.count);
    memset(n_calls, 0, sizeof(n_calls));
}

static void rig_close(void) {
    team_close(&rig.team);
    arena_free(&rig.arena);
}

// --- the order -----------------------------------------------------------------------------------

static const char *const layer_stages[] = {"norm_qkv_store", "attend", "out_add",
                                           "norm_gate_up", "down_add"};
enum { N_LAYER_STAGES = 5 };

// The name of call k of a pass, and its layer.
static const char *wanted(int k, int n_layers, int *layer) {
    *layer = -1;
    if (k == 0) return "embed";
    if (k == 1 + N_LAYER_STAGES * n_layers) return "logits";
    *layer = (k - 1) / N_LAYER_STAGES;
    return layer_stages[(k - 1) % N_LAYER_STAGES];
}

static const char *call_text(const char *stage, int layer, char text[64]) {
    if (layer < 0) {
        snprintf(text, 64, "%s", stage);
    } else {
        snprintf(text, 64, "%s of layer %d", stage, layer);
    }
    return text;
}

static void assert_calls(const char *pass, int rank, int n_layers) {
    char what[WHAT_BYTES], got[64], want[64];
    int n_want = 2 + N_LAYER_STAGES * n_layers, layer;
    for (int k = 0; k < n_calls[rank] && k < n_want; k++) {
        const struct call *call = &calls[rank][k];
        const char *stage = wanted(k, n_layers, &layer);
        snprintf(what, sizeof(what), "%s: call %d of worker %d", pass, k, rank);
        assert_text(what, call_text(call->stage, call->layer, got),
                    call_text(stage, layer, want));
        ck_assert_msg(call->run == &rig.run && call->step == &rig.step,
                      "%s got another run or step than forward was given", what);
    }
    snprintf(what, sizeof(what), "%s: calls of worker %d", pass, rank);
    assert_number(what, n_calls[rank], n_want);
}

START_TEST(worked_example) { // one worker, one layer: seven calls
    static const char *const want[] = {"embed",   "norm_qkv_store", "attend",
                                       "out_add", "norm_gate_up",   "down_add",
                                       "logits"};
    char what[WHAT_BYTES];
    rig_open(1, 1);
    forward(&ops, &rig.run, &rig.step, &rig.team);
    for (int k = 0; k < 7 && k < n_calls[0]; k++) {
        snprintf(what, sizeof(what), "forward(1 layer, 1 worker): call %d", k);
        assert_text(what, calls[0][k].stage, want[k]);
    }
    assert_number("forward(1 layer, 1 worker): calls", n_calls[0], 7);
    rig_close();
}
END_TEST

static const struct {
    int n_layers, n_workers;
} sizes[] = {
    {0,          1 },
    {1,          2 },
    {2,          1 },
    {3,          3 },
    {MAX_LAYERS, 4 },
    {-1,         -1}
}; // the last one is drawn
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static int layers_of(int i) {
    struct draw d = draw_start("forward layers");
    int drawn = draw_int(&d, 2, MAX_LAYERS);
    return sizes[i].n_layers < 0 ? drawn : sizes[i].n_layers;
}

static int workers_of(int i) {
    struct draw d = draw_start("forward workers");
    int drawn = draw_int(&d, 2, MAX_TEAM);
    return sizes[i].n_workers < 0 ? drawn : sizes[i].n_workers;
}

static const char *pass_text(int n_layers, int n_workers, char text[WHAT_BYTES]) {
    snprintf(text, WHAT_BYTES, "forward(%d layers, %d workers)", n_layers, n_workers);
    return text;
}

START_TEST(every_worker_calls_every_stage_in_order) {
    char pass[WHAT_BYTES];
    int n_layers = layers_of(_i), n_workers = workers_of(_i);
    rig_open(n_layers, n_workers);
    forward(&ops, &rig.run, &rig.step, &rig.team);
    for (int rank = 0; rank < n_workers; rank++)
        assert_calls(pass_text(n_layers, n_workers, pass), rank, n_layers);
    rig_close();
}
END_TEST

START_TEST(all_workers_meet_once_behind_every_stage) {
    char pass[WHAT_BYTES], what[2 * WHAT_BYTES], text[64];
    int n_layers = layers_of(_i), n_workers = workers_of(_i);
    rig_open(n_layers, n_workers);
    forward(&ops, &rig.run, &rig.step, &rig.team);
    pass_text(n_layers, n_workers, pass);
    for (int rank = 0; rank < n_workers; rank++) {
        for (int k = 0; k < n_calls[rank]; k++) {
            const struct call *call = &calls[rank][k];
            snprintf(what, sizeof(what), "%s: barriers of worker %d before %s", pass, rank,
                     call_text(call->stage, call->layer, text));
            assert_number(what, call->phase - rig.phase, k);
        }
    }
    snprintf(what, sizeof(what), "%s: all barriers, the one of team_run too", pass);
    assert_number(what, atomic_load(&rig.team.phase.count) - rig.phase, n_calls[0] + 1);
    rig_close();
}
END_TEST

START_TEST(workers_that_are_not_active_do_nothing) {
    rig_open(2, 4);
    team_set_active(&rig.team, 2);
    rig.run.limits.max_workers = 2;
    forward(&ops, &rig.run, &rig.step, &rig.team);
    assert_calls("forward(2 layers, 2 of 4 workers)", 0, 2);
    assert_calls("forward(2 layers, 2 of 4 workers)", 1, 2);
    for (int rank = 2; rank < 4; rank++)
        assert_number("forward(2 layers, 2 of 4 workers): calls of the others",
                      n_calls[rank], 0);
    rig_close();
}
END_TEST

// A second pass, of another run and another team, while the first is under way: this embed begins it.
static struct rig_of_one {
    struct team team;
    struct run run;
    struct step step;
} inner;

static void embed_and_begin_another(struct run *r, const struct step *s,
                                    struct worker *me) {
    note("embed", -1, r, s, me);
    forward(&ops, &inner.run, &inner.step, &inner.team);
}

START_TEST(two_teams_may_run_at_a_time) {
    struct ops outer = ops;
    char what[WHAT_BYTES];
    rig_open(1, 1);
    ck_assert_int_eq(team_open(&inner.team, &rig.arena, 1, NULL), OK);
    inner.run = rig.run;
    inner.step = rig.step;
    outer.embed = embed_and_begin_another;
    forward(&outer, &rig.run, &rig.step, &rig.team);
    assert_number("forward within a stage of forward: calls of both", n_calls[0], 14);
    for (int k = 0; k < 14; k++) {
        // embed of the outer pass, all of the inner one, the rest
        const struct call *call = &calls[0][k];
        bool is_inner = k >= 1 && k < 8;
        snprintf(what, sizeof(what), "forward within a stage of forward: run of call %d",
                 k);
        assert_text(what, call->run == &inner.run ? "inner" : "outer",
                    is_inner ? "inner" : "outer");
        ck_assert_msg(call->step == (is_inner ? &inner.step : &rig.step),
                      "%s fits, but its step is the other's", what);
    }
    team_close(&inner.team);
    rig_close();
}
END_TEST

// --- the trace -----------------------------------------------------------------------------------

static void trace_open(struct trace *trace, int n_lanes) {
    clock_init_virtual(&virtual_clock, 1000);
    ck_assert_int_eq(trace_init(trace, &rig.arena, n_lanes, &virtual_clock, NULL), OK);
    team_set_trace(&rig.team, trace);
}

// The stages on a lane, in order. What team_barrier writes, "wait", is counted in n_waits[k]: after k stages.
static void assert_spans(const struct trace *trace, int rank, int n_layers, int *n_waits) {
    char what[WHAT_BYTES], got[64], want[64];
    int k = 0, n_want = 2 + N_LAYER_STAGES * n_layers, layer;
    for (int i = 0; i < trace->lanes[rank].n_spans && k <= n_want; i++) {
        const struct trace_span *span = &trace->lanes[rank].spans[i];
        if (strcmp(span->name, "wait") == 0) {
            n_waits[k]++;
            continue;
        }
        const char *stage = wanted(k, n_layers, &layer);
        snprintf(what, sizeof(what), "forward: span %d of lane %d", k, rank);
        assert_text(what, call_text(span->name, (int)span->arg, got),
                    call_text(stage, layer, want));
        k++;
    }
    snprintf(what, sizeof(what), "forward: spans of lane %d", rank);
    assert_number(what, k, n_want);
}

// At a barrier all wait but the last to come, and their waiting stands behind the span of the stage: a span
// that held its barrier would stand behind it.
START_TEST(every_call_is_a_span_of_its_lane) {
    int n_waits[MAX_CALLS + 1] = {0}, n_calls_wanted = 2 + N_LAYER_STAGES * 2;
    char what[WHAT_BYTES];
    struct trace trace;
    rig_open(2, _i);
    trace_open(&trace, _i);
    forward(&ops, &rig.run, &rig.step, &rig.team);
    for (int rank = 0; rank < _i; rank++) assert_spans(&trace, rank, 2, n_waits);
    for (int k = 0; k < n_calls_wanted; k++) {
        snprintf(what, sizeof(what), "forward(%d workers): waits right before span %d", _i,
                 k);
        assert_number(what, n_waits[k], k == 0 ? 0 : _i - 1);
    }
    rig_close();
}
END_TEST

START_TEST(a_span_begins_before_its_call_and_ends_after_it) { // each stage takes 10 ns
    char what[WHAT_BYTES];
    struct trace trace;
    rig_open(1, 1);
    trace_open(&trace, 1);
    forward(&ops, &rig.run, &rig.step, &rig.team);
    for (int k = 0; k < trace.lanes[0].n_spans; k++) {
        const struct trace_span *span = &trace.lanes[0].spans[k];
        snprintf(what, sizeof(what), "forward: begin_ns of span %d, %s", k, span->name);
        assert_number(what, span->begin_ns, 1000 + k * STAGE_NS);
        snprintf(what, sizeof(what), "forward: end_ns of span %d, %s", k, span->name);
        assert_number(what, span->end_ns, 1000 + (k + 1) * STAGE_NS);
    }
    rig_close();
}
END_TEST

// --- limits --------------------------------------------------------------------------------------

static const struct {
    const char *name;
    int n_rows, n_logit_rows, max_workers;
    bool is_allowed;
} limits[] = {
  // max_rows 8, max_logit_rows 4
    {"one row, no logits",     1, 0, 1, true },
    {"as much as fits",        8, 4, 1, true },
    {"all rows want logits",   2, 2, 1, true },
    {"no row",                 0, 0, 1, false},
    {"one row too many",       9, 0, 1, false},
    {"more logits than rows",  2, 3, 1, false},
    {"one logit row too many", 8, 5, 1, false},
    {"one worker too many",    1, 1, 0, false},
};

// Ends by another signal when it is called in spite of the limits.
static void too_late(struct run *run, const struct step *step, struct worker *me) {
    if (step->n_rows < 1 || step->n_rows > run->limits.max_rows ||
        step->n_logit_rows > step->n_rows ||
        step->n_logit_rows > run->limits.max_logit_rows ||
        me->n_active > run->limits.max_workers)
        raise(SIGUSR1);
}

static void run_forward(void *unused) {
    struct ops strict = ops;
    (void)unused;
    strict.embed = too_late;
    forward(&strict, &rig.run, &rig.step, &rig.team);
}

START_TEST(a_step_beyond_its_limits_is_a_broken_invariant) {
    char what[WHAT_BYTES];
    rig_open(1, 1);
    rig.step.n_rows = limits[_i].n_rows;
    rig.step.n_logit_rows = limits[_i].n_logit_rows;
    rig.run.limits.max_workers = limits[_i].max_workers;
    snprintf(what, sizeof(what), "forward(%s: %d rows, %d with logits)", limits[_i].name,
             limits[_i].n_rows, limits[_i].n_logit_rows);
    assert_text(what, ending_of(run_forward, NULL),
                limits[_i].is_allowed ? "it returned" : "MUST aborted it");
    rig_close();
}
END_TEST

static TCase *tcase(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/forward");
    tcase_add_test(tcase(s, "worked example"), worked_example);

    TCase *order = tcase(s, "order");
    tcase_add_loop_test(order, every_worker_calls_every_stage_in_order, 0, N_SIZES);
    tcase_add_loop_test(order, all_workers_meet_once_behind_every_stage, 0, N_SIZES);
    tcase_add_test(order, workers_that_are_not_active_do_nothing);
    tcase_add_test(order, two_teams_may_run_at_a_time);

    TCase *spans = tcase(s, "trace");
    tcase_add_loop_test(spans, every_call_is_a_span_of_its_lane, 1, 4);
    tcase_add_test(spans, a_span_begins_before_its_call_and_ends_after_it);

    TCase *beyond = tcase(s, "limits");
    tcase_add_loop_test(beyond, a_step_beyond_its_limits_is_a_broken_invariant, 0,
                        sizeof(limits) / sizeof(limits[0]));
    return s;
}
