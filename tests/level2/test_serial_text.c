// The serial engine gives the same text whatever else differs: step size, cache, team, neighbours.
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

// --- penalties ----------------------------------------------------------------------------------

START_TEST(penalises_what_this_prompt_holds_and_what_was_drawn) {
    struct answer a;
    const struct logit_bias bias = {.token = rig.prompt[0], .bias = 100};
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 1);
    p.sampling.bias = &bias;
    p.sampling.n_bias = 1;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.tokens[0], bias.token);
    p.sampling.repetition_penalty = 1000;
    rig_ask(&rig, &p, &a);
    ck_assert_int_ne(a.tokens[0], bias.token);
    p.prompt = rig.prompt + 1; // the token is not in it
    p.max_tokens = 2;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.tokens[0], bias.token);
    ck_assert_int_ne(a.tokens[1], bias.token);
}
END_TEST

START_TEST(penalises_nothing_that_the_last_request_drew) {
    struct answer want, got;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 20, 30), other = rig_greedy(&rig, 7, 30);
    p.sampling.frequency_penalty = other.sampling.frequency_penalty = 2;
    rig_ask(&rig, &p, &want);
    ck_assert_int_gt(want.n_tokens, 0);
    rig_ask(&rig, &other, &got);
    rig_ask(&rig, &p, &got);
    rig_check_same("again", &got, &want);
}
END_TEST

// --- the same text, whatever else differs -------------------------------------------------------

START_TEST(gives_the_same_text_for_any_step_size_and_cache) {
    static const int step_rows[] = {1, 3, 7, 64};
    struct answer want, got;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, N_PROMPT, 60);
    rig_ask(&rig, &p, &want);
    ck_assert_int_gt(want.n_tokens, 0);
    for (int i = 0; i < 4; i++) {
        for (int no_cache = 0; no_cache < 2; no_cache++) {
            rig.options.step_rows = step_rows[i];
            rig.options.no_cache = no_cache;
            rig_start(&rig);
            rig_ask(&rig, &p, &got);
            rig_check_same("first", &got, &want);
            ck_assert_int_eq(got.n_progress, (N_PROMPT + step_rows[i] - 1) / step_rows[i]);
            rig_ask(&rig, &p, &got); // all of the prompt is there already
            rig_check_same("again", &got, &want);
            ck_assert_int_eq(got.finish.n_cached, no_cache ? 0 : N_PROMPT - 1); // KV-03
        }
    }
}
END_TEST

START_TEST(gives_the_same_text_with_other_requests_in_between) {
    struct answer want, got;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, N_PROMPT, 40),
                         other = rig_greedy(&rig, N_PROMPT - 20, 40);
    rig_ask(&rig, &p, &want);
    for (int n_steps = 0; n_steps < 8; n_steps++) {
        request_id noise = rig_submit(&rig, &other), id = rig_submit(&rig, &p);
        for (int i = 0; i < n_steps; i++) engine_step(rig.engine);
        engine_cancel(rig.engine, noise);
        rig_finish(&rig, id, &got);
        rig_check_same("after a cancelled one", &got, &want);
    }
}
END_TEST

// All tokens are equal: nothing but the generator decides.
static void fill_flat(void *ctx, float *logits, int n_vocab, const token_id *history,
                      int n_tokens) {
    (void)ctx, (void)history, (void)n_tokens;
    for (int v = 0; v < n_vocab; v++) logits[v] = 0;
}

START_TEST(draws_anew_at_every_position) {
    struct answer a;
    int n_drawn[N_VOCAB] = {0}, n_different = 0;
    rig_start(&rig);
    fake_ops_script(fill_flat, NULL);
    struct engine_params p = rig_greedy(&rig, 1, N_CTX);
    p.ignore_eos = true;
    p.sampling.temperature = 1;
    rig_ask(&rig, &p, &a);
    for (int i = 0; i < a.n_tokens; i++) n_different += n_drawn[a.tokens[i]]++ == 0;
    ck_assert_int_gt(n_different, N_VOCAB * 3 / 4);
}
END_TEST

START_TEST(draws_by_seed_and_choice) { // SMP-13
    struct answer a, b;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 20, 30);
    p.ignore_eos = true;
    p.sampling.temperature = 1;
    p.sampling.seed = 7;
    request_id first = rig_submit(&rig, &p), second = rig_submit(&rig, &p);
    rig_finish(&rig, first, &a);
    rig_finish(&rig, second, &b);
    rig_check_same("one seed", &b, &a);

    p.choice = 1;
    rig_ask(&rig, &p, &b);
    ck_assert_int_ne(memcmp(a.tokens, b.tokens, 30 * sizeof(token_id)), 0);
    p.choice = 0;
    p.sampling.seed = 8;
    rig_ask(&rig, &p, &b);
    ck_assert_int_ne(memcmp(a.tokens, b.tokens, 30 * sizeof(token_id)), 0);
}
END_TEST

// --- the cache ----------------------------------------------------------------------------------

START_TEST(computes_only_what_is_new) {
    struct answer a;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 40, 11);
    p.ignore_eos = true;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(fake_ops_rows(), 40 + 10);

    rig.prompt[25]++; // the first 25 are shared
    fake_ops_script(NULL, NULL);
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.finish.n_cached, 25);
    ck_assert_int_eq(fake_ops_rows(), 15 + 10);

    struct engine_params longer =
        rig_greedy(&rig, 60, 1); // a conversation goes on: prompt and answer known
    memcpy(rig.prompt + 40, a.tokens, 11 * sizeof(token_id));
    rig_ask(&rig, &longer, &a);
    ck_assert_int_eq(a.finish.n_cached, 50);
    ck_assert_int_eq(a.finish.n_prefilled, 60);
    ck_assert_uint_eq(rig_stats(&rig).n_cached_tokens, 75);
}
END_TEST

START_TEST(shares_nothing_between_scopes) {
    struct answer a;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 40, 3);
    p.cache_scope = 1;
    rig_ask(&rig, &p, &a);
    p.cache_scope = 2;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.finish.n_cached, 0);
    p.cache_scope = 1; // 2 has taken its place
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.finish.n_cached, 0);
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.finish.n_cached, 39);
}
END_TEST

// --- the tiny generated model -------------------------------------------------------------------

START_TEST(tiny_model_gives_the_same_text_for_any_team_step_size_and_cache) {
    static const int step_rows[] = {1, 3, 7, 64};
    static struct answer want, got;
    struct engine_params p = rig_greedy(&rig, 70, 30);
    p.ignore_eos = true;
    p.n_top_logprobs = 2;
    for (int n_workers = 1; n_workers <= 3; n_workers++) {
        rig_open_tiny(&rig, n_workers);
        for (int i = 0; i < 4; i++) {
            rig.options.step_rows = step_rows[i];
            rig.options.no_cache = i == 2;
            rig_start(&rig);
            rig_ask(&rig, &p, &got);
            if (n_workers == 1 && i == 0) want = got;
            rig_check_same("first", &got, &want);
            ck_assert_float_eq(got.last_token.drawn.logprob, want.last_token.drawn.logprob);
            request_id other =
                rig_submit(&rig, &(struct engine_params){.prompt = rig.prompt + 2,
                                                         .n_prompt = 30,
                                                         .max_tokens = 9,
                                                         .sampling = p.sampling});
            engine_step(rig.engine);
            engine_cancel(rig.engine, other);
            rig_ask(&rig, &p, &got);
            rig_check_same("after a cancelled one", &got, &want);
            rig_ask(&rig, &p, &got);
            rig_check_same("from the cache", &got, &want);
            ck_assert_int_eq(got.finish.n_cached, rig.options.no_cache ? 0 : 69);
        }
        rig_close(&rig);
    }
}
END_TEST

// Plain ops whose logits break when told to.
static bool is_broken;
static float broken_row[1 << 16];

static const float *breakable_row(const struct run *run, int i) {
    return is_broken ? broken_row : ops_plain.logit_row(run, i);
}

START_TEST(tiny_model_goes_on_after_logits_that_are_not_numbers) {
    static struct answer want, got;
    struct ops ops = ops_plain;
    rig_open_tiny(&rig, 1);
    ck_assert_int_le(rig.model.config.n_vocab, 1 << 16);
    for (int v = 0; v < 1 << 16; v++) broken_row[v] = NAN;
    ops.logit_row = breakable_row;
    rig.options.ops = &ops;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 20, 8);
    rig_ask(&rig, &p, &want);
    is_broken = true;
    rig_ask(&rig, &p, &got);
    ck_assert_int_eq(got.finish.reason, FINISH_ERROR);
    ck_assert_int_eq(got.finish.err.code, ERR_NUMERIC);
    is_broken = false;
    rig_ask(&rig, &p, &got);
    rig_check_same("the next one", &got, &want);
    ck_assert_int_eq(got.finish.n_cached, 0);
    rig_close(&rig);
}
END_TEST

START_TEST(tiny_model_takes_exactly_what_the_ledger_says) {
    struct engine_ledger l;
    struct arena arena;
    struct engine *e;
    rig_open_tiny(&rig, 2);
    ck_assert_int_eq(engine_serial_ledger(&rig.model, &rig.options, &l, NULL), OK);
    ck_assert_uint_gt(l.weights_bytes, 10000);
    arena_init(&arena, l.kv_bytes + l.activation_bytes + l.other_bytes);
    ck_assert_int_eq(engine_serial_create_in(&e, &rig.model, &rig.options, &arena, NULL),
                     OK);
    ck_assert_uint_eq(arena.used, arena.limit);
    engine_destroy(e);
    arena_free(&arena);
    rig_close(&rig);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/serial_text");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, open_fake, close_rig);
    tcase_add_test(reference, computes_only_what_is_new);
    tcase_add_test(reference, shares_nothing_between_scopes);
    tcase_add_test(reference, penalises_what_this_prompt_holds_and_what_was_drawn);
    tcase_add_test(reference, penalises_nothing_that_the_last_request_drew);
    suite_add_tcase(s, reference);
    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, open_fake, close_rig);
    tcase_set_timeout(property, 120);
    tcase_add_test(property, gives_the_same_text_for_any_step_size_and_cache);
    tcase_add_test(property, gives_the_same_text_with_other_requests_in_between);
    tcase_add_test(property, draws_anew_at_every_position);
    tcase_add_test(property, draws_by_seed_and_choice);
    suite_add_tcase(s, property);
    TCase *tiny = tcase_create("tiny");
    tcase_set_timeout(tiny, 120);
    tcase_add_test(tiny, tiny_model_gives_the_same_text_for_any_team_step_size_and_cache);
    tcase_add_test(tiny, tiny_model_goes_on_after_logits_that_are_not_numbers);
    tcase_add_test(tiny, tiny_model_takes_exactly_what_the_ledger_says);
    suite_add_tcase(s, tiny);
    return s;
}
