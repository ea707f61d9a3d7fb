// The sampler: hand-worked distributions (cases SMP-01 to SMP-13), and the same answers as a simple
// one that sorts everything.
#include "level2-operator/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { MAX_VOCAB = 700 };

static struct arena arena;
static struct sampler sampler;

static void sampler_make(int n_vocab) {
    arena_free(&arena);
    arena_init(&arena, 64 << 20);
    ck_assert_int_eq(sampler_init(&sampler, n_vocab, &arena, NULL), OK);
}

static void close_arena(void) {
    arena_free(&arena);
}

static struct sampling neutral(void) {
    return (struct sampling){.temperature = 1, .top_p = 1, .repetition_penalty = 1};
}

// --- cases with answers worked out by hand ------------------------------------------------------

// Settings in the order of struct sampling: temperature, top_k, top_p, min_p, repetition,
// frequency, presence. The history was drawn.
// clang-format off
static const struct {
    const char *name;
    float p[5];
    struct { float t; int k; float p, min, rep, freq, pres; } how;
    int n_history;
    token_id history[5];
    int n_want;
    float want[5];
} cases[] = {
#define P    {.1f, .2f, .3f, .4f}
#define FIVE {.2f, .2f, .2f, .2f, .2f}
    {"SMP-01 temperature 1",   P, {1, 0, 1, 0, 1, 0, 0}, 0, {0}, 4, {.4f, .3f, .2f, .1f}},
    {"SMP-01 temperature 0",   P, {0, 0, 1, 0, 1, 0, 0}, 0, {0}, 1, {1}},
    {"SMP-02 top_k 1",         P, {1, 1, 1, 0, 1, 0, 0}, 0, {0}, 1, {1}},
    {"SMP-02 top_k 3",         P, {1, 3, 1, 0, 1, 0, 0}, 0, {0}, 3, {.44444f, .33333f, .22222f}},
    {"SMP-02 top_k 0 is off",  P, {1, 0, 1, 0, 1, 0, 0}, 0, {0}, 4, {.4f, .3f, .2f, .1f}},
    {"top_k above n_vocab",    P, {1, 9, 1, 0, 1, 0, 0}, 0, {0}, 4, {.4f, .3f, .2f, .1f}},
    {"SMP-03 top_p 0: one",    P, {1, 0, 0, 0, 1, 0, 0}, 0, {0}, 1, {1}},
    {"SMP-03 top_p 0.7",       P, {1, 0, .7f, 0, 1, 0, 0}, 0, {0}, 2, {.571429f, .428571f}},
    {"top_p 0.4: just the best", P, {1, 0, .4f, 0, 1, 0, 0}, 0, {0}, 1, {1}},
    {"top_p 0.9",              P, {1, 0, .9f, 0, 1, 0, 0}, 0, {0}, 3, {.44444f, .33333f, .22222f}},
    {"top_p after top_k",      P, {1, 2, .5f, 0, 1, 0, 0}, 0, {0}, 1, {1}},
    {"SMP-04 min_p 0.24",      P, {1, 0, 1, .24f, 1, 0, 0}, 0, {0}, 4, {.4f, .3f, .2f, .1f}},
    {"SMP-04 min_p 0.26",      P, {1, 0, 1, .26f, 1, 0, 0}, 0, {0}, 3, {.44444f, .33333f, .22222f}},
    {"SMP-04 min_p 0.51",      P, {1, 0, 1, .51f, 1, 0, 0}, 0, {0}, 2, {.571429f, .428571f}},
    {"SMP-05 repeated once",   FIVE, {1, 0, 1, 0, 50, 0, 0}, 1, {0}, 5, {.25f, .25f, .25f, .25f}},
    {"SMP-05 repeated often",  FIVE, {1, 0, 1, 0, 50, 0, 0}, 5, {0, 1, 2, 0, 0}, 5, {.5f, .5f}},
    {"SMP-06 both penalties",  FIVE, {1, 0, 1, 0, 1, 5, 5}, 1, {0}, 5,
                               {.249997f, .249997f, .249997f, .249997f, .000011f}},
#undef P
#undef FIVE
};
// clang-format on

START_TEST(gives_the_distributions_worked_out_by_hand) {
    int n_vocab = cases[_i].p[4] > 0 ? 5 : 4, n = 0;
    float logits[5], got[5];
    struct sampling how = {.temperature = cases[_i].how.t,
                           .top_k = cases[_i].how.k,
                           .top_p = cases[_i].how.p,
                           .min_p = cases[_i].how.min,
                           .repetition_penalty = cases[_i].how.rep,
                           .frequency_penalty = cases[_i].how.freq,
                           .presence_penalty = cases[_i].how.pres};

    // Moving all logits changes nothing, unless a penalty multiplies them.
    for (float moved = -3; moved <= 3; moved += 0.75f) {
        for (int v = 0; v < n_vocab; v++)
            logits[v] = logf(cases[_i].p[v]) + (how.repetition_penalty == 1 ? moved : 0);
        sampler_make(n_vocab);
        for (int i = 0; i < cases[_i].n_history; i++)
            sampler_accept(&sampler, cases[_i].history[i]);
        ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
        ck_assert_msg(n == cases[_i].n_want, "%s: %d tokens stay, want %d", cases[_i].name,
                      n, cases[_i].n_want);
        for (int i = 0; i < n; i++) got[i] = sampler.candidates[i].p;
        assert_close(cases[_i].name, got, cases[_i].want, (size_t)n, 1e-5);
    }
}
END_TEST

static token_id draw_once(const float *logits, const struct sampling *how) {
    token_id token = -1;
    ck_assert_int_eq(sampler_draw(&sampler, logits, how, NULL, 0, 0, &token, NULL), OK);
    return token;
}

START_TEST(draws_the_best_at_the_smallest_temperatures) { // SMP-07
    static const float temperatures[] = {0, 1e-8f, 1e-45f};
    float logits[] = {1, 3, 2};
    sampler_make(3);
    for (int i = 0; i < 3; i++) {
        struct sampling how = neutral();
        how.temperature = temperatures[i];
        for (how.seed = 0; how.seed < 50; how.seed++)
            ck_assert_int_eq(draw_once(logits, &how), 1);
    }
}
END_TEST

START_TEST(draws_the_best_at_top_p_zero) { // SMP-08
    static float logits[49152];
    sampler_make(49152);
    for (int v = 0; v < 49152; v++) logits[v] = -(float)((v - 3801) * (v - 3801)) * 1e-9f;
    struct sampling how = neutral();
    how.top_p = 0;
    for (how.seed = 0; how.seed < 9; how.seed++)
        ck_assert_int_eq(draw_once(logits, &how), 3801);
}
END_TEST

START_TEST(makes_repeats_less_likely_on_both_sides_of_zero) { // SMP-09
    float logits[] = {2, -2};
    token_id prompt[] = {0};
    struct sampling how = neutral();
    int n;
    how.repetition_penalty = 2;
    sampler_make(2);
    sampler_start(&sampler, prompt, 1); // one seen in the prompt, one in the output
    sampler_accept(&sampler, 1);
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    ck_assert_float_eq(sampler.logits[0], 1);
    ck_assert_float_eq(sampler.logits[1], -4);
}
END_TEST

START_TEST(counts_only_the_output_for_frequency_and_presence) {
    float logits[] = {0, 0, 0};
    token_id prompt[] = {0, 0, 1};
    struct sampling how = neutral();
    int n;
    how.frequency_penalty = 0.5f;
    how.presence_penalty = 0.25f;
    sampler_make(3);
    sampler_start(&sampler, prompt, 3);
    for (int i = 0; i < 3; i++) sampler_accept(&sampler, 1);
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    ck_assert_float_eq(sampler.logits[0], 0);
    ck_assert_float_eq(sampler.logits[1], -1.75f);
    ck_assert_float_eq(sampler.logits[2], 0);
}
END_TEST

START_TEST(forgets_the_last_request) {
    float logits[] = {1, 2};
    token_id prompt[] = {0};
    struct sampling how = neutral();
    int n;
    how.repetition_penalty = 4;
    how.presence_penalty = 1;
    sampler_make(2);
    sampler_start(&sampler, prompt, 1);
    sampler_accept(&sampler, 1);
    sampler_start(&sampler, NULL, 0);
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    ck_assert_float_eq(sampler.logits[0], 1);
    ck_assert_float_eq(sampler.logits[1], 2);
}
END_TEST

START_TEST(adds_the_bias_before_the_penalties) {
    float logits[] = {1, 0};
    token_id prompt[] = {0};
    struct logit_bias bias[] = {
        {0, 3   },
        {1, -100}
    };
    struct sampling how = neutral();
    int n;
    how.bias = bias;
    how.n_bias = 2;
    how.repetition_penalty = 2;
    sampler_make(2);
    sampler_start(&sampler, prompt, 1);
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    ck_assert_float_eq(sampler.logits[0], 2);
    ck_assert_float_eq(sampler.logits[1], -100);
}
END_TEST

START_TEST(takes_the_first_of_equals) {
    float logits[] = {1, 5, 5, 5, 2};
    struct sampling how = neutral();
    int n;
    sampler_make(5);
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    static const token_id order[] = {1, 2, 3, 4, 0};
    for (int i = 0; i < 5; i++) ck_assert_int_eq(sampler.candidates[i].token, order[i]);
    how.temperature = 0;
    ck_assert_int_eq(draw_once(logits, &how), 1);
}
END_TEST

// --- edges and failures -------------------------------------------------------------------------

START_TEST(never_draws_what_is_banned_or_impossible) {
    float logits[] = {9, 1, -INFINITY, 8};
    bool banned[] = {true, false, false, false};
    struct sampling how = neutral();
    sampler_make(4);
    for (how.seed = 0; how.seed < 200; how.seed++) {
        token_id token = -1;
        how.temperature = how.seed % 2 ? 0 : 5;
        ck_assert_int_eq(sampler_draw(&sampler, logits, &how, banned, 0, 0, &token, NULL),
                         OK);
        ck_assert(token == 1 || token == 3);
        if (how.seed % 2) ck_assert_int_eq(token, 3);
    }
}
END_TEST

START_TEST(refuses_logits_that_are_not_numbers) { // SMP-11
    static const struct {
        const char *name;
        float logits[3];
        bool banned[3];
    } bad[] = {
        {"one NaN",                     {1, NAN, 2},                       {false}             },
        {"all NaN",                     {NAN, NAN, NAN},                   {false}             },
        {"+inf",                        {1, 2, INFINITY},                  {false}             },
        {"a banned NaN is still a NaN", {NAN, 1, 2},                       {true, false, false}},
        {"nothing but -inf",            {-INFINITY, -INFINITY, -INFINITY}, {false}             },
        {"everything banned",           {1, 2, 3},                         {true, true, true}  },
    };
    sampler_make(3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (float temperature = 0; temperature < 2; temperature++) {
            struct sampling how = neutral();
            struct error err = {0};
            token_id token = 7;
            how.temperature = temperature;
            enum status st = sampler_draw(&sampler, bad[i].logits, &how, bad[i].banned, 0,
                                          0, &token, &err);
            ck_assert_msg(st == ERR_NUMERIC, "%s: %s", bad[i].name, status_name(st));
            ck_assert_int_eq(err.code, ERR_NUMERIC);
            ck_assert_int_eq(token, 7);
        }
    }
    float fine[] = {-INFINITY, 0, -INFINITY}; // and the next request works
    struct sampling how = neutral();
    ck_assert_int_eq(draw_once(fine, &how), 1);
}
END_TEST

START_TEST(refuses_a_bias_for_a_token_that_does_not_exist) { // SMP-10
    static float logits[128256];
    struct logit_bias bias[] = {
        {191222, -100}
    };
    struct sampling how = neutral();
    struct error err = {0};
    token_id token;
    sampler_make(128256);
    how.bias = bias;
    how.n_bias = 1;
    ck_assert_int_eq(sampler_draw(&sampler, logits, &how, NULL, 0, 0, &token, &err),
                     ERR_INPUT);
    ck_assert_str_eq(err.param, "logit_bias");
    bias[0].token = -1;
    ck_assert_int_eq(sampler_draw(&sampler, logits, &how, NULL, 0, 0, &token, &err),
                     ERR_INPUT);
    how.n_bias = 0;
    ck_assert_int_eq(sampler_draw(&sampler, logits, &how, NULL, 0, 0, &token, &err), OK);
}
END_TEST

START_TEST(refuses_a_penalty_that_leaves_the_range_of_floats) {
    float logits[] = {30, 1};
    token_id prompt[] = {0};
    struct sampling how = neutral();
    token_id token;
    how.repetition_penalty = 1e-40f;
    sampler_make(2);
    sampler_start(&sampler, prompt, 1);
    ck_assert_int_eq(sampler_draw(&sampler, logits, &how, NULL, 0, 0, &token, NULL),
                     ERR_NUMERIC);
}
END_TEST

START_TEST(says_so_when_memory_is_short) {
    for (long n = 0;; n++) {
        struct arena a;
        struct sampler s;
        struct error err = {0};
        arena_init(&a, 1 << 20);
        arena_fail_after(&a, n);
        enum status st = sampler_init(&s, 100, &a, &err);
        arena_free(&a);
        if (st == OK) {
            ck_assert_int_eq(n, 4);
            break;
        }
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_ptr_null(s.logits);
    }
}
END_TEST

// --- against a sampler that sorts everything ----------------------------------------------------

static int by_logit(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

static int oracle(struct candidate *c, const float *logits, int n_vocab,
                  const struct sampling *how) {
    for (int v = 0; v < n_vocab; v++) c[v] = (struct candidate){v, logits[v]};
    qsort(c, (size_t)n_vocab, sizeof(*c), by_logit);
    int n = how->top_k > 0 && how->top_k < n_vocab ? how->top_k : n_vocab;
    double best = (double)c[0].p, sum = 0, kept = 0;
    for (int i = 0; i < n; i++) {
        c[i].p = (float)exp(((double)c[i].p - best) / (double)how->temperature);
        sum += (double)c[i].p;
    }
    int n_kept = 0;
    while (n_kept < n) {
        if (n_kept > 0 && c[n_kept].p < how->min_p) break;
        if (n_kept > 0 && how->top_p < 1 && kept >= ((double)how->top_p - 1e-6) * sum)
            break;
        kept += (double)c[n_kept++].p;
    }
    for (int i = 0; i < n_kept; i++) c[i].p = (float)((double)c[i].p / kept);
    return n_kept;
}

START_TEST(keeps_what_a_full_sort_would_keep) {
    static const int sizes[] = {1, 2, 7, 8, 9, 33, 257, MAX_VOCAB};
    static struct candidate want[MAX_VOCAB];
    static float logits[MAX_VOCAB];
    struct draw d = draw_start("keeps_what_a_full_sort_would_keep");

    for (int round = 0; round < 800; round++) {
        int n_vocab = sizes[round % 8], n;
        bool has_ties = draw_int(&d, 0, 1);
        struct sampling how = neutral();
        how.temperature = draw_float(&d, 0.3f, 2.0f);
        how.top_k = draw_int(&d, 0, 1) ? draw_int(&d, 1, n_vocab + 3) : 0;
        how.top_p = draw_int(&d, 0, 1) ? draw_float(&d, 0.0f, 1.0f) : 1;
        how.min_p = draw_int(&d, 0, 1) ? draw_float(&d, 0.0f, 1.0f) : 0;
        for (int v = 0; v < n_vocab; v++)
            logits[v] = has_ties ? (float)draw_int(&d, -3, 3) : draw_float(&d, -9, 9);

        sampler_make(n_vocab);
        ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
        int n_want = oracle(want, logits, n_vocab, &how);
        ck_assert_msg(n == n_want, "round %d: %d of %d stay, want %d", round, n, n_vocab,
                      n_want);
        double sum = 0;
        for (int i = 0; i < n; i++) {
            ck_assert_int_eq(sampler.candidates[i].token, want[i].token);
            ck_assert_float_eq_tol(sampler.candidates[i].p, want[i].p, 1e-6);
            sum += (double)sampler.candidates[i].p;
        }
        ck_assert_double_eq_tol(sum, 1, 1e-5);
    }
}
END_TEST

START_TEST(draws_each_token_as_often_as_the_distribution_says) {
    static const struct sampling ways[] = {
        {1,    0, 1,   0,   1, 0, 0, 0, NULL, 0},
        {1,    5, 1,   0,   1, 0, 0, 0, NULL, 0},
        {1,    0, .8f, 0,   1, 0, 0, 0, NULL, 0},
        {1.5f, 0, 1,   .2f, 1, 0, 0, 0, NULL, 0},
    };
    enum { N_VOCAB = 9, N_DRAWS = 40000 };
    float logits[N_VOCAB];
    struct draw d = draw_start("draws_each_token_as_often_as_the_distribution_says");
    sampler_make(N_VOCAB);
    for (int v = 0; v < N_VOCAB; v++) logits[v] = draw_float(&d, -2, 2);

    int n, n_drawn[N_VOCAB] = {0};
    float got[N_VOCAB] = {0}, want[N_VOCAB] = {0};
    struct sampling how = ways[_i];
    ck_assert_int_eq(sampler_distribution(&sampler, logits, &how, NULL, &n, NULL), OK);
    for (int i = 0; i < n; i++) want[sampler.candidates[i].token] = sampler.candidates[i].p;
    for (uint32_t position = 0; position < N_DRAWS; position++) {
        token_id token = -1;
        ck_assert_int_eq(
            sampler_draw(&sampler, logits, &how, NULL, 0, position, &token, NULL), OK);
        n_drawn[token]++;
    }
    for (int v = 0; v < N_VOCAB; v++) {
        got[v] = (float)n_drawn[v] / N_DRAWS;
        if (want[v] == 0) ck_assert_int_eq(n_drawn[v], 0);
    }
    assert_close("share", got, want, N_VOCAB, 0.01);
}
END_TEST

START_TEST(draws_by_seed_choice_and_position_alone) { // SMP-13
    enum { N_VOCAB = 64, N = 50 };
    float logits[N_VOCAB] = {0};
    struct sampling how = neutral();
    token_id first[N], other[N];
    int n_same_choice = 0, n_same_seed = 0;
    sampler_make(N_VOCAB);

    how.seed = 7;
    for (uint32_t i = 0; i < N; i++)
        sampler_draw(&sampler, logits, &how, NULL, 0, i, &first[i], NULL);
    for (int i = N - 1; i >= 0; i--) { // another order, another request in between
        how.seed = 99;
        draw_once(logits, &how);
        how.seed = 7;
        sampler_draw(&sampler, logits, &how, NULL, 0, (uint32_t)i, &other[i], NULL);
        ck_assert_int_eq(first[i], other[i]);
    }
    for (uint32_t i = 0; i < N; i++) {
        token_id token = -1;
        sampler_draw(&sampler, logits, &how, NULL, 1, i, &token, NULL);
        n_same_choice += token == first[i];
        how.seed = 8;
        sampler_draw(&sampler, logits, &how, NULL, 0, i, &token, NULL);
        n_same_seed += token == first[i];
        how.seed = 7;
    }
    ck_assert_int_lt(n_same_choice, N / 2);
    ck_assert_int_lt(n_same_seed, N / 2);
}
END_TEST

// --- log probabilities --------------------------------------------------------------------------

START_TEST(reports_the_drawn_token_with_its_own_value) { // SRV-15
    float logits[] = {logf(.1f) + 50, logf(.2f) + 50, logf(.3f) + 50, logf(.4f) + 50};
    struct token_logprob drawn, top[4];
    sampler_logprobs(logits, 4, 2, &drawn, top, 4);
    ck_assert_int_eq(drawn.token, 2);
    ck_assert_float_eq_tol(drawn.logprob, logf(.3f), 1e-5);
    static const float p[] = {.4f, .3f, .2f, .1f};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(top[i].token, 3 - i);
        ck_assert_float_eq_tol(top[i].logprob, logf(p[i]), 1e-5);
    }
    sampler_logprobs(logits, 4, 0, &drawn, NULL, 0);
    ck_assert_float_eq_tol(drawn.logprob, logf(.1f), 1e-5);
}
END_TEST

START_TEST(lists_alternatives_as_a_full_sort_would) {
    static struct candidate want[MAX_VOCAB];
    static float logits[MAX_VOCAB];
    struct draw d = draw_start("lists_alternatives_as_a_full_sort_would");
    for (int round = 0; round < 300; round++) {
        int n_vocab = draw_int(&d, 1, MAX_VOCAB);
        int n_top =
            draw_int(&d, 0, n_vocab < LIMIT_TOP_LOGPROBS ? n_vocab : LIMIT_TOP_LOGPROBS);
        struct token_logprob drawn, top[LIMIT_TOP_LOGPROBS];
        for (int v = 0; v < n_vocab; v++) {
            logits[v] = round % 2 ? (float)draw_int(&d, -3, 3) : draw_float(&d, -9, 9);
            if (draw_int(&d, 0, 9) == 0 && v > 0) logits[v] = -INFINITY;
            want[v] = (struct candidate){v, logits[v]};
        }
        qsort(want, (size_t)n_vocab, sizeof(*want), by_logit);
        sampler_logprobs(logits, n_vocab, 0, &drawn, top, n_top);
        double sum = 0;
        for (int v = 0; v < n_vocab; v++) sum += exp((double)logits[v]);
        ck_assert_float_eq_tol(drawn.logprob, logits[0] - (float)log(sum), 1e-4);
        for (int i = 0; i < n_top; i++) ck_assert_int_eq(top[i].token, want[i].token);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/sampler");
    TCase *reference = tcase_create("reference");
    tcase_add_unchecked_fixture(reference, NULL, close_arena);
    tcase_add_loop_test(reference, gives_the_distributions_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(reference, draws_the_best_at_the_smallest_temperatures);
    tcase_add_test(reference, draws_the_best_at_top_p_zero);
    tcase_add_test(reference, makes_repeats_less_likely_on_both_sides_of_zero);
    tcase_add_test(reference, counts_only_the_output_for_frequency_and_presence);
    tcase_add_test(reference, forgets_the_last_request);
    tcase_add_test(reference, adds_the_bias_before_the_penalties);
    tcase_add_test(reference, takes_the_first_of_equals);
    tcase_add_test(reference, reports_the_drawn_token_with_its_own_value);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, never_draws_what_is_banned_or_impossible);
    tcase_add_test(failures, refuses_logits_that_are_not_numbers);
    tcase_add_test(failures, refuses_a_bias_for_a_token_that_does_not_exist);
    tcase_add_test(failures, refuses_a_penalty_that_leaves_the_range_of_floats);
    tcase_add_test(failures, says_so_when_memory_is_short);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 30);
    tcase_add_test(property, keeps_what_a_full_sort_would_keep);
    tcase_add_loop_test(property, draws_each_token_as_often_as_the_distribution_says, 0, 4);
    tcase_add_test(property, draws_by_seed_choice_and_position_alone);
    tcase_add_test(property, lists_alternatives_as_a_full_sort_would);
    suite_add_tcase(s, property);
    return s;
}
