// What comes out of the serial engine, one request at a time: tokens, how an answer ends, what a
// cancel, a full queue of events and an error do.
#include <math.h>
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

static void check_tokens(const struct answer *a, token_id first, int n) {
    ck_assert_int_eq(a->n_tokens, n);
    for (int i = 0; i < n; i++) ck_assert_int_eq(a->tokens[i], (first + i) % N_VOCAB);
}

// --- how an answer ends -------------------------------------------------------------------------

START_TEST(draws_as_many_tokens_as_asked_for) {
    struct answer a;
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    struct engine_params p = rig_greedy(&rig, 1, 5); // the prompt ends in 3
    rig_ask(&rig, &p, &a);
    check_tokens(&a, 4, 5);
    ck_assert_int_eq(a.finish.reason, FINISH_LENGTH);
    ck_assert_int_eq(a.finish.n_prompt, 1);
    ck_assert_int_eq(a.finish.n_prefilled, 1);
    ck_assert_int_eq(a.finish.n_cached, 0);
    ck_assert_int_eq(a.finish.n_completion, 5);
    ck_assert_int_eq(a.n_progress, 1);
    ck_assert(!engine_step(rig.engine));

    struct engine_stats stats = rig_stats(&rig);
    ck_assert_uint_eq(stats.n_finished, 1);
    ck_assert_uint_eq(stats.n_prompt_tokens, 1);
    ck_assert_uint_eq(stats.n_completion_tokens, 5);
    ck_assert_uint_eq(stats.n_steps, 5);
    ck_assert_int_eq(stats.n_kv_tokens, 5); // the last one was never fed
    ck_assert_int_eq(stats.n_kv_capacity, N_CTX);
}
END_TEST

START_TEST(stops_before_the_end_token) {
    struct answer a;
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    rig.prompt[0] = EOS - 4;
    struct engine_params p = rig_greedy(&rig, 1, 50);
    rig_ask(&rig, &p, &a);
    check_tokens(&a, EOS - 3, 3); // neither reported nor counted
    ck_assert_int_eq(a.finish.reason, FINISH_STOP);

    p.ignore_eos = true; // now a token like any other
    p.max_tokens = 6;
    rig_ask(&rig, &p, &a);
    check_tokens(&a, EOS - 3, 6);
    ck_assert_int_eq(a.finish.reason, FINISH_LENGTH);
}
END_TEST

START_TEST(stops_before_a_stop_id) {
    struct answer a;
    token_id stop_ids[] = {20, 9};
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    struct engine_params p = rig_greedy(&rig, 1, 50);
    p.stop_ids = stop_ids;
    p.n_stop_ids = 2;
    rig_ask(&rig, &p, &a);
    check_tokens(&a, 4, 5);
    ck_assert_int_eq(a.finish.reason, FINISH_STOP);
}
END_TEST

START_TEST(ends_with_nothing_when_the_first_token_is_the_end) {
    struct answer a;
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    rig.prompt[0] = EOS - 1;
    struct engine_params p = rig_greedy(&rig, 1, 50);
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.n_tokens, 0);
    ck_assert_int_eq(a.finish.reason, FINISH_STOP);
}
END_TEST

START_TEST(does_not_draw_an_end_before_min_tokens) {
    struct answer a;
    token_id stop_ids[] = {1};
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    rig.prompt[0] = EOS - 1;
    struct engine_params p = rig_greedy(&rig, 1, 50);
    p.stop_ids = stop_ids;
    p.n_stop_ids = 1;
    p.min_tokens = 4;
    rig_ask(&rig, &p,
            &a); // 39 is banned: 0; 1 is banned: 2; then 3, 4, 5 and all the way to 39
    static const token_id want[] = {0, 2, 3, 4, 5, 6};
    for (int i = 0; i < 6; i++) ck_assert_int_eq(a.tokens[i], want[i]);
    ck_assert_int_eq(a.tokens[a.n_tokens - 1], EOS - 1);
    ck_assert_int_eq(a.finish.reason, FINISH_STOP);
}
END_TEST

START_TEST(ends_at_the_context) { // KV-10
    struct answer a;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, N_PROMPT, 1 << 30);
    p.ignore_eos = true;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.n_tokens, N_CTX - N_PROMPT);
    ck_assert_int_eq(a.finish.reason, FINISH_LENGTH);
}
END_TEST

// --- log probabilities --------------------------------------------------------------------------

START_TEST(reports_the_drawn_token_with_its_own_log_probability) { // SRV-15
    struct answer a;
    struct logit_bias bias[] = {
        {4, -100}
    }; // the best after 3; so 5 is drawn
    rig_start(&rig);
    fake_ops_script(fake_fill_count, NULL);
    struct engine_params p = rig_greedy(&rig, 1, 1);
    p.sampling.bias = bias;
    p.sampling.n_bias = 1;
    p.n_top_logprobs = 3;
    rig_ask(&rig, &p, &a);

    double sum = exp(10.0) + exp(9.0) + (N_VOCAB - 2);
    ck_assert_int_eq(a.tokens[0], 5);
    ck_assert_int_eq(a.last_token.drawn.token, 5);
    ck_assert_float_eq_tol(a.last_token.drawn.logprob, (float)(9 - log(sum)), 1e-5);
    ck_assert_int_eq(a.last_token.n_top, 3);
    static const token_id top[] = {4, 5, 0};
    static const double logits[] = {10, 9, 0};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(a.last_token.top[i].token, top[i]);
        ck_assert_float_eq_tol(a.last_token.top[i].logprob, (float)(logits[i] - log(sum)),
                               1e-5);
    }
}
END_TEST

// --- cancel -------------------------------------------------------------------------------------

START_TEST(a_cancelled_waiting_request_never_runs) { // SRV-06
    struct answer first, second, third;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 10, 20), q = rig_greedy(&rig, 70, 20);
    request_id one = rig_submit(&rig, &p), two = rig_submit(&rig, &q);
    request_id three = rig_submit(&rig, &p);
    engine_step(rig.engine);
    engine_cancel(rig.engine, two);
    rig_finish(&rig, one, &first);
    rig_finish(&rig, three, &third);
    rig_check_same("the third", &third, &first);
    ck_assert_int_eq(fake_ops_rows(), 10 + first.n_tokens - 1 + 1 + third.n_tokens - 1);

    engine_cancel(rig.engine, two); // it is gone: nothing
    engine_cancel(rig.engine, 12345);
    ck_assert(!engine_step(rig.engine));
    memset(&second, 0, sizeof(second));
    rig_drain(&rig, two, &second);
    ck_assert_int_eq(second.n_finishes, 0); // it came while the first ran
    ck_assert_uint_eq(rig_stats(&rig).n_cancelled, 1);
}
END_TEST

// steps before the cancel: 0: waiting; 1: half of the prompt is computed; 3: decoding
START_TEST(leaves_nothing_behind_when_cancelled) { // KV-09
    static const int n_steps_before[] = {0, 1, 3};
    struct answer want, a;
    rig.options.no_cache = true; // else the second prompt is computed in one step
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, N_PROMPT, 100),
                         after = rig_greedy(&rig, 30, 20);
    rig_ask(&rig, &after, &want);
    for (int i = 0; i < 100; i++) {
        request_id id = rig_submit(&rig, &p);
        for (int k = 0; k < n_steps_before[_i]; k++) engine_step(rig.engine);
        engine_cancel(rig.engine, id);
        ck_assert(engine_step(rig.engine));
        memset(&a, 0, sizeof(a));
        rig_drain(&rig, id, &a);
        ck_assert_int_eq(a.n_finishes, 1);
        ck_assert_int_eq(a.finish.reason, FINISH_CANCELLED);
        ck_assert_int_eq(a.finish.n_completion, _i == 2 ? 2 : 0);
        ck_assert(!engine_step(rig.engine));
    }
    struct engine_stats stats = rig_stats(&rig);
    ck_assert_int_eq(stats.n_waiting, 0);
    ck_assert_int_eq(stats.n_running, 0);
    ck_assert_uint_eq(stats.n_cancelled, 100);
    ck_assert_uint_eq(stats.n_finished, 1);
    rig_ask(&rig, &after, &a);
    rig_check_same("the next request", &a, &want);
}
END_TEST

// --- a full queue -------------------------------------------------------------------------------

START_TEST(a_full_event_queue_stops_the_engine_and_loses_nothing) {
    rig_close(&rig);
    rig_open_fake(&rig, N_VOCAB, 1500, EOS);
    struct answer want, a = {0};
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 10, 1400);
    p.ignore_eos = true;
    rig_ask(&rig, &p, &want);
    ck_assert_int_eq(want.n_tokens, 1400);

    request_id id = rig_submit(&rig, &p), waiting = rig_submit(&rig, &p);
    int n_steps = 0;
    while (engine_step(rig.engine)) n_steps++;
    ck_assert_int_lt(n_steps, LIMIT_ENGINE_EVENTS);
    engine_park(rig.engine,
                1000 * 1000); // with a queue this full it sleeps; it must come back
    engine_cancel(rig.engine, waiting); // its last event still finds a place
    ck_assert(engine_step(rig.engine));
    ck_assert(!engine_step(rig.engine));
    while (a.n_finishes == 0) {
        rig_drain(&rig, id, &a);
        engine_step(rig.engine);
    }
    rig_check_same("polled late", &a, &want);
    ck_assert_uint_eq(rig_stats(&rig).n_cancelled, 1);
}
END_TEST

// --- errors -------------------------------------------------------------------------------------

// NaN once the history has *ctx tokens; the count otherwise.
static void fill_nan_at(void *ctx, float *logits, int n_vocab, const token_id *history,
                        int n_tokens) {
    fake_fill_count(NULL, logits, n_vocab, history, n_tokens);
    if (n_tokens == *(int *)ctx) logits[7] = NAN;
}

START_TEST(an_error_ends_one_request_only) { // SMP-11
    struct answer a;
    int n_at = 12;
    rig_start(&rig);
    fake_ops_script(fill_nan_at, &n_at);
    rig.prompt[9] = 3;
    struct engine_params p = rig_greedy(&rig, 10, 20);
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.n_tokens, 2);
    ck_assert_int_eq(a.finish.reason, FINISH_ERROR);
    ck_assert_int_eq(a.finish.err.code, ERR_NUMERIC);
    ck_assert_ptr_nonnull(strstr(a.finish.err.text, "token 7"));
    ck_assert_uint_eq(rig_stats(&rig).n_failed, 1);

    n_at = 0;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.finish.n_cached, 0); // what was computed is not trusted
    ck_assert_int_eq(a.finish.reason, FINISH_LENGTH);
    ck_assert_int_eq(a.finish.err.code, OK);
    check_tokens(&a, 4, 20);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/serial_events");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, open_fake, close_rig);
    tcase_add_test(reference, draws_as_many_tokens_as_asked_for);
    tcase_add_test(reference, stops_before_the_end_token);
    tcase_add_test(reference, stops_before_a_stop_id);
    tcase_add_test(reference, ends_with_nothing_when_the_first_token_is_the_end);
    tcase_add_test(reference, does_not_draw_an_end_before_min_tokens);
    tcase_add_test(reference, ends_at_the_context);
    tcase_add_test(reference, reports_the_drawn_token_with_its_own_log_probability);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, open_fake, close_rig);
    tcase_add_test(edges, a_cancelled_waiting_request_never_runs);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, open_fake, close_rig);
    tcase_add_test(failures, a_full_event_queue_stops_the_engine_and_loses_nothing);
    tcase_add_test(failures, an_error_ends_one_request_only);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, open_fake, close_rig);
    tcase_set_timeout(property, 120);
    tcase_add_loop_test(property, leaves_nothing_behind_when_cancelled, 0, 3);
    suite_add_tcase(s, property);
    return s;
}
