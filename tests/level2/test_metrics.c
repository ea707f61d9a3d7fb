// Histograms and counters: where a value falls, what an answer's times become, and the page.
#include "level2-operator/service/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "level2-operator/server/http_server.h"
#include "tests/support/http_house.h"

static const double bounds[] = {1, 2, 5};

// ---- histogram ----------------------------------------------------------------------------------

START_TEST(a_value_falls_below_the_first_bound_that_is_not_less) {
    static const struct {
        double value;
        int want; // bucket
    } rows[] = {
        {-1,   0},
        {0,    0},
        {1,    0},
        {1.01, 1},
        {2,    1},
        {5,    2},
        {5.1,  3},
        {1e30, 3}
    };
    struct histogram h;
    histogram_init(&h, bounds, 3);
    histogram_add(&h, rows[_i].value);
    for (int i = 0; i <= 3; i++) {
        ck_assert_msg(h.counts[i] == (i == rows[_i].want), "%g in bucket %d: %d",
                      rows[_i].value, i, (int)h.counts[i]);
    }
    ck_assert(h.sum == rows[_i].value);
}
END_TEST

START_TEST(every_value_is_counted_once_and_summed) {
    struct draw d = draw_start("histogram");
    struct histogram h;
    double sum = 0;
    uint64_t n = 0;
    histogram_init(&h, bounds, 3);
    for (int i = 0; i < 1000; i++) {
        int value = draw_int(&d, 0, 9);
        histogram_add(&h, value);
        sum += value;
    }
    for (int i = 0; i <= 3; i++) n += h.counts[i];
    ck_assert_int_eq((int)n, 1000);
    ck_assert(h.sum == sum); // whole numbers: exact
}
END_TEST

// ---- a sequence ---------------------------------------------------------------------------------

static const int64_t ms = 1000000;

static void token_at(struct metrics *m, struct metrics_times *t, int64_t at_ms) {
    metrics_event(m, t,
                  &(struct engine_event){
                      .kind = EVENT_TOKEN, .started_ns = 15 * ms, .at_ns = at_ms * ms});
}

START_TEST(the_times_of_a_sequence_add_up) {
    struct metrics m;
    struct metrics_times t = {.submitted_ns = 10 * ms};
    metrics_init(&m);
    metrics_event(&m, &t,
                  &(struct engine_event){
                      .kind = EVENT_PROGRESS, .started_ns = 15 * ms, .at_ns = 20 * ms});
    token_at(&m, &t, 40);
    token_at(&m, &t, 43);
    token_at(&m, &t, 52);
    metrics_end(&m, &t, METRICS_LENGTH, 7, 3);

    assert_close("queue", &(float){(float)m.queue_s.sum}, &(float){0.005f}, 1, 1e-6);
    assert_close("prefill", &(float){(float)m.prefill_s.sum}, &(float){0.025f}, 1, 1e-6);
    assert_close("decode", &(float){(float)m.decode_s.sum}, &(float){0.012f}, 1, 1e-6);
    assert_close("gaps", &(float){(float)m.gap_s.sum}, &(float){0.012f}, 1, 1e-6);
    assert_close("per token", &(float){(float)m.per_token_s.sum}, &(float){0.006f}, 1,
                 1e-6);
    ck_assert(m.n_prompt.sum == 7 && m.n_generated.sum == 3);
    ck_assert_int_eq((int)m.ended[METRICS_LENGTH], 1);
}
END_TEST

START_TEST(what_was_cut_off_is_counted_and_not_measured) {
    struct metrics m;
    struct metrics_times t = {.submitted_ns = 10 * ms};
    metrics_init(&m);
    token_at(&m, &t, 40);
    metrics_end(&m, &t, METRICS_ABORT, 7, 1);
    metrics_end(&m, &t, METRICS_ERROR, 7, 1);
    ck_assert(m.queue_s.sum == 0 && m.n_prompt.sum == 0);
    ck_assert_int_eq((int)m.ended[METRICS_ABORT], 1);
    ck_assert_int_eq((int)m.ended[METRICS_ERROR], 1);
}
END_TEST

START_TEST(refusals_are_told_apart_as_far_as_there_is_room) {
    struct metrics m;
    uint64_t n = 0;
    metrics_init(&m);
    for (int status = 400; status < 500; status++) {
        metrics_refuse(&m, status, NULL);
        metrics_refuse(&m, 400, "");
        metrics_refuse(&m, 400, "a");
    }
    ck_assert_int_eq(m.n_refusals, METRICS_REFUSALS);
    for (int i = 0; i < m.n_refusals; i++) n += m.refusals[i].n;
    ck_assert_int_eq((int)n, 300); // none is lost
    ck_assert_int_eq((int)m.refusals[0].n, 101);
    ck_assert_int_eq((int)m.refusals[1].n, 100);
    assert_text("the rest", m.refusals[METRICS_REFUSALS - 1].code, "other");
}
END_TEST

// ---- the page -----------------------------------------------------------------------------------

START_TEST(the_page_is_there_while_the_model_loads_and_after) {
    start_loading();
    const char *page = get("/metrics");
    assert_has("type", page, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    assert_has("loading", page, "ladder_server_state{state=\"loading\"} 1\n");
    assert_lacks("loading", page, "model_name");
    start_ready();
    while (!strstr(get("/ready"), " 200 ")) nap_ms(1);
    set_stats(1, 9);
    post("/v1/completions", "", "{}");
    page = get("/metrics");
    assert_has("ready", page, "ladder_server_state{state=\"ready\"} 1\n");
    assert_has("running", page, "vllm:num_requests_running{model_name=\"tiny\"} 1\n");
    assert_lacks("no price", page, "usd");
    get("/nowhere");
    assert_has("refused", get("/metrics"),
               "ladder_requests_refused_total{status=\"404\",code=\"unknown_url\"} 1\n");
}
END_TEST

START_TEST(the_page_wants_a_key_where_all_do) {
    ck_assert_int_eq(http_keys_add(&house.keys, "sk-1", NULL), OK);
    start();
    assert_has("no key", get("/metrics"), " 401 ");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/metrics");
    TCase *histograms = tcase_create("histogram"), *sequences = tcase_create("sequence");
    TCase *page = house_tcase(s, "page");
    tcase_add_loop_test(histograms, a_value_falls_below_the_first_bound_that_is_not_less, 0,
                        8);
    tcase_add_test(histograms, every_value_is_counted_once_and_summed);
    tcase_add_test(sequences, the_times_of_a_sequence_add_up);
    tcase_add_test(sequences, what_was_cut_off_is_counted_and_not_measured);
    tcase_add_test(sequences, refusals_are_told_apart_as_far_as_there_is_room);
    tcase_add_test(page, the_page_is_there_while_the_model_loads_and_after);
    tcase_add_test(page, the_page_wants_a_key_where_all_do);
    suite_add_tcase(s, histograms);
    suite_add_tcase(s, sequences);
    return s;
}
