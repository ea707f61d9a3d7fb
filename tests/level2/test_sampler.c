// The sampler, step by step: worked by hand (cases SMP-01 to SMP-11), then drawn at random and compared
// with a simple oracle. test_sampler_sweep.c goes through many more.
#include "level2-operator/engine/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sampling.h"

enum { MAX_VOCAB = 100 };
static const int sizes[] = {1, 2, 7, 33, MAX_VOCAB};

// clang-format off
// Probabilities 0.1 to 0.4 of tokens 0 to 3; token 3 was drawn before.
static const float worked_logits[] = {0, 0.693147f, 1.098612f, 1.386294f}; // ln 1, 2, 3, 4
static const struct sampling worked = {.temperature = 0.5f, .top_k = 3, .top_p = 0.6f,
                                       .repetition_penalty = 1, .presence_penalty = 0.693147f};
static const float worked_adjusted[] = {0, 0.693147f, 1.098612f, 0.693147f};
static const struct candidate worked_candidates[] = {
    {0, 0, 1.0 / 9}, {1, 0.693147f, 4.0 / 9}, {2, 1.098612f, 1}, {3, 0.693147f, 4.0 / 9}};
static const struct candidate worked_best[] = {{2, 1.098612f, 1}, {1, 0.693147f, 4.0 / 9}};

// seen, a character per token: p is in the prompt, a digit was drawn so often.
static const struct {
    const char *name;
    float repetition, frequency, presence;
    const char *seen;
    float logits[4], want[4];
} adjust_cases[] = {
    {"nothing seen",            2, 1, 1,    "0000", {3, -3, 0, 1},        {3, -3, 0, 1}},
    {"SMP-05 seen once",        50, 0, 0,   "1000", {3, 3, 3, 3},         {.06f, 3, 3, 3}},
    {"SMP-05 seen three times", 50, 0, 0,   "3110", {3, 3, 3, 3},         {.06f, .06f, .06f, 3}},
    {"SMP-09 negative logits",  2, 0, 0,    "11p0", {2, -2, -1, 0},       {1, -4, -2, 0}},
    {"SMP-06 frequency",        1, 5, 0,    "1300", {1, 1, 1, 1},         {-4, -14, 1, 1}},
    {"SMP-06 presence",         1, 0, 5,    "1300", {1, 1, 1, 1},         {-4, -4, 1, 1}},
    {"SMP-06 both",             1, 5, 5,    "1300", {1, 1, 1, 1},         {-9, -19, 1, 1}},
    {"presence and a prompt",   1, 1, 1,    "pp10", {1, 1, 1, 1},         {1, 1, -1, 1}},
    {"all three",               2, 1, 3,    "2p10", {8, 8, -8, 8},        {-1, 4, -20, 8}},
    {"rewards",                 .5f, -1, 0, "2p00", {2, -2, 2, 2},        {6, -1, 2, 2}},
};

static const struct {
    const char *name;
    float repetition, logits[3];
    bool banned[3];
} numeric_cases[] = {
    {"1 NaN 2",                      1,      {1, NAN, 2},                       {false}},
    {"1 2 infinity",                 1,      {1, 2, INFINITY},                  {false}},
    {"a banned NaN, 1 2",            1,      {NAN, 1, 2},                       {true, false, false}},
    {"-infinity three times",        1,      {-INFINITY, -INFINITY, -INFINITY}, {false}},
    {"all banned",                   1,      {1, 2, 3},                         {true, true, true}},
    {"30, repetition_penalty 1e-40", 1e-40f, {30, 1, 1},                        {false}},
};

// SMP-02, SMP-03, SMP-04. Tokens 0 to 3 weigh 1 2 3 4 unless said otherwise; n of them stay.
static const struct {
    const char *name;
    int top_k;
    float top_p, min_p;
    int n;
} filter_cases[] = {
    {"all off",               0, 1,    0,    4},
    {"top_k 1",               1, 1,    0,    1},
    {"top_k 3",               3, 1,    0,    3},
    {"top_p 0",               0, 0,    0,    1},
    {"top_p 0.7",             0, .7f,  0,    2},
    {"top_p 0.41",            0, .41f, 0,    2},
    {"top_p 0.95",            0, .95f, 0,    4},
    {"top_k 2, top_p 0.5",    2, .5f,  0,    1},
    {"top_k 2, top_p 0.6",    2, .6f,  0,    2},
    {"min_p 0.24",            0, 1,    .24f, 4},
    {"min_p 0.26",            0, 1,    .26f, 3},
    {"min_p 0.51",            0, 1,    .51f, 2},
    {"top_p 0.95, min_p 0.5", 0, .95f, .5f,  3},
};

static const struct candidate three[] = {{0, 2, 1}, {1, 1, 0.5}, {2, 1, 0.5}};
// clang-format on

// --- adjust -------------------------------------------------------------------------------------

START_TEST(worked_example) {
    struct sampler *s = sampling_start(4);
    sampler_accept(s, 3);
    enum status st = sampler_adjust(s, worked_logits, &worked, NULL, NULL);
    assert_status("sampler_adjust(worked example)", st, OK);
    assert_close("sampler_adjust(worked example) logits", s->logits, worked_adjusted, 4,
                 1e-5);
}
END_TEST

START_TEST(adjusts_as_worked_out_by_hand) {
    for (size_t i = 0; i < sizeof(adjust_cases) / sizeof(adjust_cases[0]); i++) {
        struct sampling how = {.repetition_penalty = adjust_cases[i].repetition,
                               .frequency_penalty = adjust_cases[i].frequency,
                               .presence_penalty = adjust_cases[i].presence};
        struct sampler *s = sampling_start(4);
        s->any_seen = true;
        for (int v = 0; v < 4; v++) {
            s->in_prompt[v] = adjust_cases[i].seen[v] == 'p';
            s->n_output[v] = s->in_prompt[v] ? 0 : adjust_cases[i].seen[v] - '0';
        }
        const char *what = call_text("sampler_adjust(%s) logits", adjust_cases[i].name);
        enum status st = sampler_adjust(s, adjust_cases[i].logits, &how, NULL, NULL);
        assert_status(what, st, OK);
        assert_close(what, s->logits, adjust_cases[i].want, 4, 1e-5);
    }
}
END_TEST

START_TEST(adjusts_as_a_simple_loop_does) {
    struct draw d = draw_start("adjusts_as_a_simple_loop_does");
    for (int round = 0; round < 20; round++) {
        int n_vocab = sizes[round % 5];
        struct logit_bias bias = {draw_int(&d, 0, n_vocab - 1), draw_float(&d, -9, 9)};
        struct sampling how = {.repetition_penalty = draw_float(&d, 0.5f, 2),
                               .frequency_penalty = draw_float(&d, -2, 2),
                               .presence_penalty = draw_float(&d, -2, 2),
                               .bias = &bias,
                               .n_bias = 1};
        float logits[MAX_VOCAB], want[MAX_VOCAB];
        bool banned[MAX_VOCAB];
        struct sampler *s = sampling_start(n_vocab);
        draw_logits(&d, logits, n_vocab, 0, false);
        draw_history(&d, s);
        for (int v = 0; v < n_vocab; v++) banned[v] = v > 0 && draw_int(&d, 0, 3) == 0;
        adjust_simply(want, s, logits, &how, banned);
        const char *what =
            call_text("sampler_adjust(%d tokens, bias, penalties, bans) logits", n_vocab);
        assert_status(what, sampler_adjust(s, logits, &how, banned, NULL), OK);
        assert_close(what, s->logits, want, (size_t)n_vocab, 1e-5);
    }
}
END_TEST

START_TEST(refuses_logits_that_are_not_numbers) { // SMP-11
    struct sampler *s = sampling_start(3);
    struct sampling how = sampling_neutral();
    for (size_t i = 0; i < sizeof(numeric_cases) / sizeof(numeric_cases[0]); i++) {
        sampler_start(s, (token_id[]){0}, 1);
        how.repetition_penalty = numeric_cases[i].repetition;
        enum status st =
            sampler_adjust(s, numeric_cases[i].logits, &how, numeric_cases[i].banned, NULL);
        assert_status(call_text("sampler_adjust(logits %s)", numeric_cases[i].name), st,
                      ERR_NUMERIC);
    }
}
END_TEST

// A penalty may blow a logit up; what is banned is drawn by nobody, so it is no reason to refuse.
START_TEST(forgives_what_a_penalty_does_to_a_banned_token) {
    static const float logits[3] = {3e38f, 1, 2}, want[3] = {-INFINITY, 1, 2};
    static const bool banned[3] = {true, false, false};
    struct sampler *s = sampling_start(3);
    struct sampling how = sampling_neutral();
    sampler_start(s, (token_id[]){0}, 1);
    how.repetition_penalty = .1f;
    const char *what = "sampler_adjust(logits banned 3e38, 1, 2; repetition_penalty 0.1)";
    assert_status(what, sampler_adjust(s, logits, &how, banned, NULL), OK);
    assert_close(what, s->logits, want, 3, 1e-6);
}
END_TEST

START_TEST(refuses_a_bias_for_a_token_that_does_not_exist) { // SMP-10
    static const token_id nowhere[] = {7, 191222, -1};
    static const float logits[7] = {0};
    struct sampler *s = sampling_start(7);
    for (int i = 0; i < 3; i++) {
        struct logit_bias bias = {nowhere[i], -100};
        struct sampling how = {.repetition_penalty = 1, .bias = &bias, .n_bias = 1};
        struct error err = {0};
        assert_status(call_text("sampler_adjust(7 tokens, bias of token %d)", nowhere[i]),
                      sampler_adjust(s, logits, &how, NULL, &err), ERR_INPUT);
        assert_text("err.param", err.param, "logit_bias");
    }
}
END_TEST

// --- filter -------------------------------------------------------------------------------------

START_TEST(filters_the_worked_example) {
    struct candidate c[4];
    memcpy(c, worked_candidates, sizeof(c));
    int n = sampler_filter(c, 4, &worked);
    assert_candidates("sampler_filter(worked example)", c, n, worked_best, 2);
}
END_TEST

START_TEST(keeps_what_the_cases_keep) {
    for (size_t i = 0; i < sizeof(filter_cases) / sizeof(filter_cases[0]); i++) {
        struct candidate c[4], best[4];
        for (int v = 0; v < 4; v++)
            best[3 - v] = c[v] = (struct candidate){v, (float)v, v + 1};
        struct sampling how = {.top_k = filter_cases[i].top_k,
                               .top_p = filter_cases[i].top_p,
                               .min_p = filter_cases[i].min_p};
        const char *what =
            call_text("sampler_filter(weights 1 2 3 4, %s)", filter_cases[i].name);
        int n = sampler_filter(c, 4, &how);
        assert_candidates(what, c, n, best, filter_cases[i].n);
    }
}
END_TEST

START_TEST(takes_a_sum_that_reaches_top_p_on_paper) { // the float 0.6 is above 0.4 + 0.2
    struct candidate c[4];
    struct sampling how = {.top_p = 0.6f};
    for (int i = 0; i < 4; i++) c[i] = (struct candidate){i, 0, 0.2};
    c[1] = (struct candidate){1, 1, 0.4};
    const struct candidate want[] = {c[1], c[0]};
    int n = sampler_filter(c, 4, &how);
    assert_candidates("sampler_filter(weights 0.2 0.4 0.2 0.2, top_p 0.6)", c, n, want, 2);
}
END_TEST

START_TEST(keeps_what_a_full_sort_would_keep) {
    struct draw d = draw_start("keeps_what_a_full_sort_would_keep");
    for (int round = 0; round < 60; round++) {
        int n = sizes[round % 5], n_steps = round % 2 ? 5 : 500; // few steps: many equals
        struct candidate c[MAX_VOCAB], want[MAX_VOCAB];
        for (int i = 0; i < n; i++) {
            float logit = (float)draw_int(&d, -n_steps, n_steps) * 3 / (float)n_steps;
            c[i] = want[i] = (struct candidate){3 * i + round, logit, exp((double)logit)};
        }
        qsort(want, (size_t)n, sizeof(*want), candidate_compare);
        struct sampling how = draw_filters(&d, want, n);
        int n_want = filter_sorted(want, n, &how);
        const char *what = call_text("sampler_filter(n %d, top_k %d, top_p %g, min_p %g)",
                                     n, how.top_k, (double)how.top_p, (double)how.min_p);
        assert_candidates(what, c, sampler_filter(c, n, &how), want, n_want);
    }
}
END_TEST

// --- draw ---------------------------------------------------------------------------------------

START_TEST(weighs_the_worked_example) {
    struct sampler *s = sampling_start(4);
    memcpy(s->logits, worked_adjusted, sizeof(worked_adjusted));
    int n = sampler_weigh(s, 0.5f);
    assert_candidates("sampler_weigh(worked example, temperature 0.5)", s->candidates, n,
                      worked_candidates, 4);
}
END_TEST

START_TEST(weighs_by_the_distance_to_the_best) {
    static const float bases[] = {0, 5000, -5000};
    struct draw d = draw_start("weighs_by_the_distance_to_the_best");
    for (int round = 0; round < 30; round++) {
        int n_vocab = sizes[round % 5];
        float temperature = draw_float(&d, 0.3f, 2), base = bases[round % 3];
        struct candidate want[MAX_VOCAB];
        struct sampler *s = sampling_start(n_vocab);
        draw_logits(&d, s->logits, n_vocab, base, false);
        int n_want = weigh_simply(want, s->logits, n_vocab, temperature);
        const char *what = call_text("sampler_weigh(%d logits near %g, temperature %g)",
                                     n_vocab, (double)base, (double)temperature);
        int n = sampler_weigh(s, temperature);
        assert_candidates(what, s->candidates, n, want, n_want);
    }
}
END_TEST

START_TEST(weighs_only_the_best_when_it_is_cold) { // SMP-01, SMP-07
    static const float temperatures[] = {0, 1e-8f, 1e-45f};
    struct sampler *s = sampling_start(4);
    for (int i = 0; i < 3; i++) { // two are equal: only temperature 0 has to choose
        float third = i ? -5.5f : -5;
        memcpy(s->logits, (float[]){-7, -5, third, -6}, 4 * sizeof(float));
        const char *what = call_text("sampler_weigh(logits -7 -5 %g -6, temperature %g)",
                                     (double)third, (double)temperatures[i]);
        int n = sampler_weigh(s, temperatures[i]);
        assert_candidates(what, s->candidates, n, &(struct candidate){1, -5, 1}, 1);
    }
}
END_TEST

START_TEST(picks_where_the_running_sum_passes_the_unit) {
    static const double units[] = {0, 0.49, 0.5, 0.51, 0.74, 0.75, 0.999};
    static const token_id want[] = {0, 0, 1, 1, 1, 2, 2};
    assert_number("sampler_pick(worked example, unit 0.5)",
                  sampler_pick(worked_best, 2, 0.5), 2);
    assert_number("sampler_pick(worked example, unit 0.7)",
                  sampler_pick(worked_best, 2, 0.7), 1);
    for (int i = 0; i < 7; i++)
        assert_number(call_text("sampler_pick(weights 1 0.5 0.5, unit %g)", units[i]),
                      sampler_pick(three, 3, units[i]), want[i]);
}
END_TEST

START_TEST(picks_each_as_often_as_it_weighs) {
    enum { N_UNITS = 1000 };
    struct draw d = draw_start("picks_each_as_often_as_it_weighs");
    for (int round = 0; round < 30; round++) {
        int n = round ? draw_int(&d, 2, 40) : 1;
        float got[40] = {0}, want[40];
        double sum = 0;
        struct candidate *c = malloc(sizeof(*c) * (size_t)n); // a step too far is seen
        for (int i = 0; i < n; i++) {
            c[i] = (struct candidate){n - 1 - i, 0, (double)draw_float(&d, 0.1f, 1) / 3};
            sum += c[i].weight;
        }
        for (int i = 0; i < n; i++) want[n - 1 - i] = (float)(c[i].weight / sum);
        for (int i = 0; i < N_UNITS; i++) {
            token_id token = sampler_pick(c, n, (i + 0.5) / N_UNITS);
            if (token < 0 || token >= n) assert_number("sampler_pick token", token, 0);
            got[token] += 1.0f / N_UNITS;
        }
        assert_close("share of each token in 1000 even units", got, want, (size_t)n, 2e-3);
        assert_number("sampler_pick(unit 1 - 2^-53)", sampler_pick(c, n, 1 - 0x1p-53), 0);
        free(c);
    }
}
END_TEST

// --- log probabilities --------------------------------------------------------------------------

START_TEST(finds_log_probabilities_in_the_worked_example) { // SRV-15
    const struct token_logprob want_drawn = {0, -2.302585f};
    const struct token_logprob want[] = {
        {3, -0.916291f},
        {2, -1.203973f}
    };
    struct token_logprob drawn = {0}, top[2] = {{0}};
    sampler_logprobs(worked_logits, 4, 0, &drawn, top, 2);
    assert_logprobs("sampler_logprobs(worked example) drawn", &drawn, &want_drawn, 1);
    assert_logprobs("sampler_logprobs(worked example) top", top, want, 2);
}
END_TEST

START_TEST(lists_alternatives_as_a_full_sort_would) {
    struct draw d = draw_start("lists_alternatives_as_a_full_sort_would");
    for (int round = 0; round < 40; round++) {
        int n_vocab = round ? draw_int(&d, 2, MAX_VOCAB) : 1;
        int n_top = draw_int(&d, 0, n_vocab < MAX_TOP ? n_vocab : MAX_TOP);
        token_id token = draw_int(&d, 0, n_vocab - 1);
        float logits[MAX_VOCAB], base = round % 3 ? 0 : 1000;
        struct token_logprob drawn, want_drawn, top[MAX_TOP], want[MAX_TOP];
        draw_logits(&d, logits, n_vocab, base, round % 2);
        const char *what =
            call_text("sampler_logprobs(%d logits near %g, token %d, n_top %d)", n_vocab,
                      (double)base, token, n_top);
        logprobs_sorted(logits, n_vocab, token, &want_drawn, want, n_top);
        sampler_logprobs(logits, n_vocab, token, &drawn, n_top > 0 ? top : NULL, n_top);
        assert_logprobs(what, &drawn, &want_drawn, 1);
        assert_logprobs(what, top, want, n_top);
    }
}
END_TEST

// --- whole --------------------------------------------------------------------------------------

START_TEST(gives_the_distribution_of_the_worked_example) {
    const float want[] = {9.0f / 13, 4.0f / 13};
    float p[2];
    int n = 0;
    struct sampler *s = sampling_start(4);
    sampler_accept(s, 3);
    assert_status("sampler_distribution(worked example)",
                  sampler_distribution(s, worked_logits, &worked, NULL, &n, NULL), OK);
    assert_number("sampler_distribution(worked example) n", n, 2);
    for (int i = 0; i < 2; i++) p[i] = (float)s->candidates[i].weight;
    assert_close("sampler_distribution(worked example) weights", p, want, 2, 1e-5);
}
END_TEST

START_TEST(draws_the_best_nine_times_of_thirteen) {
    enum { N_DRAWS = 2000 };
    struct draw d = draw_start("draws_the_best_nine_times_of_thirteen");
    struct sampling how = worked;
    float share = 0, want = 9.0f / 13;
    struct sampler *s = sampling_start(4);
    how.seed = draw_u64(&d);
    sampler_accept(s, 3);
    for (uint32_t position = 0; position < N_DRAWS; position++) {
        token_id token = -1;
        sampler_draw(s, worked_logits, &how, NULL, 0, position, &token, NULL);
        if (token != 1) assert_number("sampler_draw(worked example) token", token, 2);
        share += token == 2 ? 1.0f / N_DRAWS : 0;
    }
    // Six standard deviations: a right sampler misses this once in 500 million seeds.
    assert_close("share of token 2 in 2000 draws of the worked example", &share, &want, 1,
                 0.062 / (1 + 9.0 / 13));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/sampler");
    tcase_add_test(sampling_tcase(s, "adjust worked example"), worked_example);
    TCase *adjust = sampling_tcase(s, "adjust logits");
    tcase_add_test(adjust, adjusts_as_worked_out_by_hand);
    tcase_add_test(adjust, adjusts_as_a_simple_loop_does);
    tcase_add_test(adjust, refuses_logits_that_are_not_numbers);
    tcase_add_test(adjust, forgives_what_a_penalty_does_to_a_banned_token);
    tcase_add_test(adjust, refuses_a_bias_for_a_token_that_does_not_exist);
    TCase *filter = sampling_tcase(s, "filter candidates");
    tcase_add_test(filter, filters_the_worked_example);
    tcase_add_test(filter, keeps_what_the_cases_keep);
    tcase_add_test(filter, takes_a_sum_that_reaches_top_p_on_paper);
    tcase_add_test(filter, keeps_what_a_full_sort_would_keep);
    TCase *draw = sampling_tcase(s, "draw a token");
    tcase_add_test(draw, weighs_the_worked_example);
    tcase_add_test(draw, weighs_by_the_distance_to_the_best);
    tcase_add_test(draw, weighs_only_the_best_when_it_is_cold);
    tcase_add_test(draw, picks_where_the_running_sum_passes_the_unit);
    tcase_add_test(draw, picks_each_as_often_as_it_weighs);
    TCase *logprobs = sampling_tcase(s, "logprobs of a token");
    tcase_add_test(logprobs, finds_log_probabilities_in_the_worked_example);
    tcase_add_test(logprobs, lists_alternatives_as_a_full_sort_would);
    TCase *whole = sampling_tcase(s, "whole sampler");
    tcase_add_test(whole, gives_the_distribution_of_the_worked_example);
    tcase_add_test(whole, draws_the_best_nine_times_of_thirteen);
    return s;
}
