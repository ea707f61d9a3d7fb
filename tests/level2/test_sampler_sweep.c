// The sampler as a whole: what is given of it, large vocabularies, draws by seed, and many random
// distributions. test_sampler.c judges each step.
#include "level2-operator/engine/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sampling.h"

static token_id draw_once(struct sampler *s, const float *logits,
                          const struct sampling *how) {
    token_id token = -1;
    assert_status("sampler_draw", sampler_draw(s, logits, how, NULL, 0, 0, &token, NULL),
                  OK);
    return token;
}

// --- edges and failures -------------------------------------------------------------------------

START_TEST(forgets_the_last_request) {
    const float logits[] = {1, 2};
    struct sampling how = {.repetition_penalty = 4, .presence_penalty = 1};
    struct sampler *s = sampling_start(2);
    sampler_start(s, (token_id[]){0}, 1);
    sampler_accept(s, 1);
    sampler_start(s, NULL, 0);
    assert_status("sampler_adjust", sampler_adjust(s, logits, &how, NULL, NULL), OK);
    assert_close("sampler_adjust logits", s->logits, logits, 2, 0);
}
END_TEST

START_TEST(never_draws_what_is_banned_or_impossible) {
    const float logits[] = {9, 1, -INFINITY, 8};
    const bool banned[] = {true, false, false, false};
    struct sampling how = sampling_neutral();
    struct sampler *s = sampling_start(4);
    for (how.seed = 0; how.seed < 200; how.seed++) {
        token_id token = -1;
        how.temperature = how.seed % 2 ? 0 : 5;
        sampler_draw(s, logits, &how, banned, 0, 0, &token, NULL);
        ck_assert(token == 1 || token == 3);
        if (how.seed % 2) assert_number("sampler_draw(temperature 0)", token, 3);
    }
}
END_TEST

START_TEST(goes_on_after_a_failure) { // SMP-11
    struct sampling how = sampling_neutral();
    token_id token = 7;
    struct sampler *s = sampling_start(3);
    assert_status("sampler_draw(1 NaN 2)",
                  sampler_draw(s, (float[]){1, NAN, 2}, &how, NULL, 0, 0, &token, NULL),
                  ERR_NUMERIC);
    assert_number("sampler_draw(1 NaN 2) token", token, 7);
    const float fine[] = {-INFINITY, 0, -INFINITY};
    assert_number("sampler_draw(-infinity 0 -infinity)", draw_once(s, fine, &how), 1);
}
END_TEST

START_TEST(refuses_a_bias_far_outside_a_large_vocabulary) { // SMP-10
    static float logits[128256];
    struct logit_bias bias = {191222, -100};
    struct sampling how = sampling_neutral();
    token_id token = 7;
    struct sampler *s = sampling_start(128256);
    how.bias = &bias;
    how.n_bias = 1;
    assert_status("sampler_draw(bias of token 191222)",
                  sampler_draw(s, logits, &how, NULL, 0, 0, &token, NULL), ERR_INPUT);
    how.n_bias = 0;
    draw_once(s, logits, &how);
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
        size_t used = a.used;
        arena_free(&a);
        if (st == OK) {
            assert_number("allocations of sampler_init", n, 4);
            assert_number("sampler_bytes(100)", (int64_t)sampler_bytes(100), (int64_t)used);
            break;
        }
        assert_status("sampler_init", err.code, ERR_MEMORY);
        ck_assert_ptr_null(s.logits);
    }
}
END_TEST

// --- draws --------------------------------------------------------------------------------------

START_TEST(draws_the_best_at_top_p_zero) { // SMP-08
    static float logits[49152];
    struct sampling how = sampling_neutral();
    struct sampler *s = sampling_start(49152);
    for (int v = 0; v < 49152; v++) logits[v] = -(float)((v - 3801) * (v - 3801)) * 1e-9f;
    how.top_p = 0;
    for (how.seed = 0; how.seed < 9; how.seed++)
        assert_number("sampler_draw(top_p 0)", draw_once(s, logits, &how), 3801);
}
END_TEST

// Chi-square of at most 8 degrees of freedom: above 60 for one seed in two billion.
START_TEST(draws_each_token_as_often_as_the_distribution_says) {
    enum { N_VOCAB = 9, N_DRAWS = 20000 };
    static const struct sampling ways[] = {
        {.temperature = 1, .top_p = 1},
        {                   .temperature = 1,      .top_p = 1, .top_k = 5},
        {                   .temperature = 1,    .top_p = .8f          },
        { .temperature = 1.5f,    .top_p = 1,              .min_p = .2f},
    };
    struct draw d = draw_start("draws_each_token_as_often_as_the_distribution_says");
    struct sampling how = ways[_i];
    struct sampler *s = sampling_start(N_VOCAB);
    float logits[N_VOCAB];
    double want[N_VOCAB] = {0}, chi_square = 0;
    int n = 0, n_drawn[N_VOCAB] = {0};

    how.seed = draw_u64(&d) + (uint64_t)_i;
    how.repetition_penalty = 1;
    for (int v = 0; v < N_VOCAB; v++) logits[v] = draw_float(&d, -2, 2);
    assert_status("sampler_distribution",
                  sampler_distribution(s, logits, &how, NULL, &n, NULL), OK);
    for (int i = 0; i < n; i++)
        want[s->candidates[i].token] = s->candidates[i].weight * N_DRAWS;
    for (uint32_t position = 0; position < N_DRAWS; position++) {
        token_id token = -1;
        sampler_draw(s, logits, &how, NULL, 0, position, &token, NULL);
        ck_assert(token >= 0 && token < N_VOCAB && want[token] > 0);
        n_drawn[token]++;
    }
    for (int v = 0; v < N_VOCAB; v++) {
        double off = n_drawn[v] - want[v];
        if (want[v] > 0) chi_square += off * off / want[v];
    }
    ck_assert_msg(chi_square < 60, "way %d: chi-square %g, want below 60", _i, chi_square);
}
END_TEST

START_TEST(draws_by_seed_choice_and_position_alone) { // SMP-13
    enum { N_VOCAB = 64, N = 50 };
    const float logits[N_VOCAB] = {0};
    struct sampling how = sampling_neutral(), other = sampling_neutral();
    token_id first[N], again[N];
    int n_same_choice = 0, n_same_seed = 0;
    struct sampler *s = sampling_start(N_VOCAB);

    how.seed = 7;
    other.seed = 8;
    for (uint32_t i = 0; i < N; i++)
        sampler_draw(s, logits, &how, NULL, 0, i, &first[i], NULL);
    for (uint32_t i = N; i-- > 0;) { // another order, another request in between
        draw_once(s, logits, &other);
        sampler_draw(s, logits, &how, NULL, 0, i, &again[i], NULL);
    }
    assert_ids("tokens of seed 7, drawn again", again, N, first, N);
    for (uint32_t i = 0; i < N; i++) {
        token_id token = -1;
        sampler_draw(s, logits, &how, NULL, 1, i, &token, NULL);
        n_same_choice += token == first[i];
        sampler_draw(s, logits, &other, NULL, 0, i, &token, NULL);
        n_same_seed += token == first[i];
    }
    ck_assert_int_lt(n_same_choice, N / 2);
    ck_assert_int_lt(n_same_seed, N / 2);
}
END_TEST

// --- against a sampler that sorts everything ----------------------------------------------------

START_TEST(keeps_what_a_full_sort_would_keep) {
    static const int sizes[] = {1, 2, 7, 8, 9, 33, 257, MAX_CANDIDATES};
    static struct candidate want[MAX_CANDIDATES];
    static float logits[MAX_CANDIDATES], adjusted[MAX_CANDIDATES];
    struct draw d = draw_start("keeps_what_a_full_sort_would_keep");

    for (int round = 0; round < 400; round++) {
        struct sampler *s = sampling_start(sizes[round % 8]);
        struct sampling how = {.repetition_penalty = draw_float(&d, 0.8f, 1.5f),
                               .presence_penalty = draw_float(&d, -1, 1)};
        draw_logits(&d, logits, s->n_vocab, 0, round % 3 == 0);
        draw_history(&d, s);
        float temperature = draw_float(&d, 0.3f, 2);
        sampler_adjust(s, logits, &how, NULL, NULL); // its last bit decides who comes first
        memcpy(adjusted, s->logits, sizeof(*adjusted) * (size_t)s->n_vocab);
        int n = 0, n_want = weigh_simply(want, adjusted, s->n_vocab, temperature);
        qsort(want, (size_t)n_want, sizeof(*want), candidate_compare);
        struct sampling filters = draw_filters(&d, want, n_want);
        how.temperature = temperature;
        how.top_k = filters.top_k;
        how.top_p = filters.top_p;
        how.min_p = filters.min_p;

        double sum = 0;
        n_want = filter_sorted(want, n_want, &how);
        for (int i = 0; i < n_want; i++) sum += want[i].weight;
        for (int i = 0; i < n_want; i++) want[i].weight /= sum;
        assert_status("sampler_distribution",
                      sampler_distribution(s, logits, &how, NULL, &n, NULL), OK);
        assert_candidates(call_text("sampler_distribution(round %d)", round), s->candidates,
                          n, want, n_want);
    }
}
END_TEST

START_TEST(lists_alternatives_as_a_full_sort_would) {
    static float logits[MAX_CANDIDATES];
    struct draw d = draw_start("lists_alternatives_as_a_full_sort_would");
    for (int round = 0; round < 300; round++) {
        int n_vocab = draw_int(&d, 1, MAX_CANDIDATES);
        int n_top = draw_int(&d, 0, n_vocab < MAX_TOP ? n_vocab : MAX_TOP);
        struct token_logprob drawn, want_drawn, top[MAX_TOP], want[MAX_TOP];
        draw_logits(&d, logits, n_vocab, 0, round % 2);
        logprobs_sorted(logits, n_vocab, 0, &want_drawn, want, n_top);
        sampler_logprobs(logits, n_vocab, 0, &drawn, top, n_top);
        assert_logprobs(call_text("sampler_logprobs(round %d) drawn", round), &drawn,
                        &want_drawn, 1);
        assert_logprobs(call_text("sampler_logprobs(round %d) top", round), top, want,
                        n_top);
    }
}
END_TEST

START_TEST(takes_candidates_best_first) {
    struct candidate c[33];
    struct draw d = draw_start("takes_candidates_best_first");
    for (int n = 1; n <= 33; n++) {
        for (int i = 0; i < n; i++)
            c[i] = (struct candidate){i, (float)draw_int(&d, -9, 9), i};
        candidate_heap_build(c, n);
        for (int i = 0; i < n; i++) candidate_heap_take(c, i, n);
        for (int i = 0; i < n; i++) {
            ck_assert(c[i].weight == c[i].token); // what belongs together stays so
            if (i > 0) ck_assert_int_lt(candidate_compare(&c[i - 1], &c[i]), 0);
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/sampler_sweep");
    TCase *failures = sampling_tcase(s, "failures");
    tcase_add_test(failures, forgets_the_last_request);
    tcase_add_test(failures, never_draws_what_is_banned_or_impossible);
    tcase_add_test(failures, goes_on_after_a_failure);
    tcase_add_test(failures, refuses_a_bias_far_outside_a_large_vocabulary);
    tcase_add_test(failures, says_so_when_memory_is_short);
    TCase *property = sampling_tcase(s, "property");
    tcase_set_timeout(property, 30);
    tcase_add_test(property, draws_the_best_at_top_p_zero);
    tcase_add_loop_test(property, draws_each_token_as_often_as_the_distribution_says, 0, 4);
    tcase_add_test(property, draws_by_seed_choice_and_position_alone);
    tcase_add_test(property, keeps_what_a_full_sort_would_keep);
    tcase_add_test(property, lists_alternatives_as_a_full_sort_would);
    tcase_add_test(property, takes_candidates_best_first);
    return s;
}
