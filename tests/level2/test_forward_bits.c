// The forward pass on the tiny model: against a naive one in double, and to the last bit against
// itself, however the work is cut: into steps, blocks, batches or workers.
#include "level2-operator/model/forward.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/support/forward_rig.h"
#include "tests/support/suite.h"

enum { N_PROMPT = 40 };

static struct model model;

static void model_setup(void) {
    struct error err = {0};
    ck_assert_msg(model_open(&model, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
}

static void model_teardown(void) {
    model_close(&model);
}

static void draw_tokens(token_id *tokens, int n, const char *name) {
    struct draw d = draw_start(name);
    for (int i = 0; i < n; i++) tokens[i] = draw_int(&d, 0, model.config.n_vocab - 1);
}

static float *logits_new(int n_tokens) {
    return pass_logits_new(&model, n_tokens);
}

static void assert_same_logits(const float *got, const float *want, int n_tokens,
                               const char *what, int value) {
    pass_assert_same_logits(&model, got, want, n_tokens, what, value);
}

static void logits_of(float *out, const token_id *tokens, int n_tokens, int n_workers,
                      int block_len, int chunk) {
    struct forward_cut cut = {n_workers, block_len, chunk};
    pass_logits_of(out, &model, tokens, n_tokens, cut);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(logits_match_a_naive_pass_in_double) {
    static const int lengths[] = {1, 2, 7, N_PROMPT};
    int n = lengths[_i];
    token_id tokens[N_PROMPT];
    float *got = logits_new(n);

    draw_tokens(tokens, n, "forward oracle");
    logits_of(got, tokens, n, 2, 16, 7);
    pass_assert_naive(&model, got, tokens, n, "tiny model");
    free(got);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_step_without_logits_still_fills_the_cache) {
    token_id tokens[8];
    int position[8], sequence[8] = {0};
    float *with = logits_new(9), *without = logits_new(1);
    struct forward_rig g;
    for (int i = 0; i < 8; i++) position[i] = i;
    draw_tokens(tokens, 8, "forward without logits");

    logits_of(with, tokens, 8, 2, 16, 8);
    pass_open(&g, &model, 2, 16);
    pass_step(&g, tokens, position, sequence, 7, 0);
    g.tables[0].n_tokens = 7;
    pass_feed(&g, without, tokens + 7, 1, 0, 1);
    assert_same_logits(without, with + 7L * model.config.n_vocab, 1, "after", 7);
    pass_close(&g);
    free(with);
    free(without);
}
END_TEST

START_TEST(only_the_rows_that_ask_get_logits) {
    token_id tokens[5];
    int position[5] = {0, 1, 2, 3, 4}, sequence[5] = {0}, wanted[2] = {1, 4};
    float *all = logits_new(5);
    struct forward_rig g;
    draw_tokens(tokens, 5, "forward some logits");
    logits_of(all, tokens, 5, 1, 16, 5);

    pass_open(&g, &model, 1, 16);
    struct step step = {5,      tokens, position, sequence, g.tables,
                        N_SEQS, wanted, 2,        &g.plan};
    attention_plan_simple(&g.plan, &step, model.config.n_heads);
    forward(&ops_plain, g.run, &step, &g.team);
    for (int i = 0; i < 2; i++)
        assert_same_logits(ops_plain.logit_row(g.run, i),
                           all + (long)wanted[i] * model.config.n_vocab, 1, "row",
                           wanted[i]);
    pass_close(&g);
    free(all);
}
END_TEST

// ---- failures: broken invariants abort instead of writing past an end ---------------------------

START_TEST(a_step_beyond_its_limits_is_a_broken_invariant) {
    static token_id token[MAX_ROWS + 1];
    static int position[MAX_ROWS + 1], sequence[MAX_ROWS + 1];
    struct forward_rig g;
    pass_open(&g, &model, 1, 16);
    struct step step = {1, token, position, sequence, g.tables, N_SEQS, NULL, 0, &g.plan};
    if (_i == 0) step.n_rows = 0;
    if (_i == 1) step.n_rows = MAX_ROWS + 1;
    if (_i == 2) step.n_logit_rows = 2;
    if (_i == 3) token[0] = model.config.n_vocab;
    if (_i == 4) token[0] = -1;
    if (_i == 5) position[0] = N_CTX; // no block holds it
    g.plan.n_parts = _i == 6;         // partial results are not for plain ops
    g.plan.n_items = 0;
    forward(&ops_plain, g.run, &step, &g.team);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(any_chunking_gives_the_same_bits) { // 300 tokens: past one attention segment
    static const int chunks[] = {1, 3, 7};
    token_id tokens[300];
    float *want = logits_new(300), *got = logits_new(300);
    draw_tokens(tokens, 300, "forward chunks");
    logits_of(want, tokens, 300, 1, 16, 64);
    logits_of(got, tokens, 300, 1, 16, chunks[_i]);
    assert_same_logits(got, want, 300, "chunks of", chunks[_i]);
    free(want);
    free(got);
}
END_TEST

START_TEST(any_number_of_workers_gives_the_same_bits) {
    token_id tokens[N_PROMPT];
    float *want = logits_new(N_PROMPT), *got = logits_new(N_PROMPT);
    draw_tokens(tokens, N_PROMPT, "forward workers");
    logits_of(want, tokens, N_PROMPT, 1, 16, 64);
    logits_of(got, tokens, N_PROMPT, _i, 16, 7);
    assert_same_logits(got, want, N_PROMPT, "workers", _i);
    free(want);
    free(got);
}
END_TEST

START_TEST(
    any_block_length_gives_the_same_bits) { // N_CTX: one long block, a contiguous cache
    static const int block_lens[] = {1, 2, 5, 16, 256, N_CTX};
    token_id tokens[300];
    float *want = logits_new(300), *got = logits_new(300);
    draw_tokens(tokens, 300, "forward blocks");
    logits_of(want, tokens, 300, 1, 64, 64);
    logits_of(got, tokens, 300, 2, block_lens[_i], 64);
    assert_same_logits(got, want, 300, "blocks of", block_lens[_i]);
    free(want);
    free(got);
}
END_TEST

START_TEST(sequences_in_one_step_equal_each_alone) {
    static const int starts[N_SEQS] = {9, 0, 30},
                     n_rows[N_SEQS] = {1, 20, 5}; // a mixed batch
    token_id tokens[N_SEQS][N_PROMPT], token[MAX_ROWS];
    int position[MAX_ROWS], sequence[MAX_ROWS], n = 0;
    float *alone = logits_new(N_PROMPT), *ignored = logits_new(N_PROMPT);
    struct forward_rig g;

    pass_open(&g, &model, 2, 16);
    for (int s = 0; s < N_SEQS; s++) {
        draw_tokens(tokens[s], N_PROMPT, s == 0 ? "one" : s == 1 ? "two" : "three");
        pass_feed(&g, ignored, tokens[s], starts[s], s, 64);
        for (int i = 0; i < n_rows[s]; i++, n++) {
            token[n] = tokens[s][starts[s] + i];
            position[n] = starts[s] + i;
            sequence[n] = s;
        }
    }
    pass_step(&g, token, position, sequence, n, n);
    for (int s = 0, row = 0; s < N_SEQS; s++) {
        logits_of(alone, tokens[s], starts[s] + n_rows[s], 1, 16, 64);
        for (int i = 0; i < n_rows[s]; i++, row++)
            assert_same_logits(ops_plain.logit_row(g.run, row),
                               alone + (long)(starts[s] + i) * model.config.n_vocab, 1,
                               "sequence", s);
    }
    pass_close(&g);
    free(alone);
    free(ignored);
}
END_TEST

START_TEST(a_truncated_sequence_goes_on_as_if_nothing_had_been) {
    token_id tokens[20], others[9];
    float *want = logits_new(20), *got = logits_new(20);
    struct forward_rig g;
    draw_tokens(tokens, 20, "forward truncate");
    draw_tokens(others, 9, "forward others");
    logits_of(want, tokens, 20, 1, 4, 64);

    pass_open(&g, &model, 1, 4);
    pass_feed(&g, got, tokens, 10, 0, 64);
    pass_feed(&g, got + 10L * model.config.n_vocab, others, 9, 0, 64); // guesses, rejected
    kv_table_truncate(&g.tables[0], 10);
    pass_feed(&g, got + 10L * model.config.n_vocab, tokens + 10, 10, 0, 64);
    assert_same_logits(got, want, 20, "truncated at", 10);
    pass_close(&g);
    free(want);
    free(got);
}
END_TEST

static uint32_t barriers_of_a_step(void) {
    token_id token = 1;
    int position = 0, sequence = 0;
    struct forward_rig g;
    pass_open(&g, &model, 2, 16);
    uint32_t before = atomic_load(&g.team.phase.count);
    pass_step(&g, &token, &position, &sequence, 1, 1);
    uint32_t after = atomic_load(&g.team.phase.count);
    pass_close(&g);
    return after - before;
}

START_TEST(a_layer_meets_at_most_six_times) {
    uint32_t whole = barriers_of_a_step();
    model.config.n_layers--;
    uint32_t without_one = barriers_of_a_step();
    model.config.n_layers++;
    ck_assert_msg(whole - without_one <= 6 && whole > without_one, "%u barriers",
                  whole - without_one);
}
END_TEST

static TCase *with_model(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, model_setup, model_teardown);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/forward_bits");
    TCase *reference = with_model(s, "reference");
    tcase_add_loop_test(reference, logits_match_a_naive_pass_in_double, 0, 4);

    TCase *edges = with_model(s, "edges");
    tcase_add_test(edges, a_step_without_logits_still_fills_the_cache);
    tcase_add_test(edges, only_the_rows_that_ask_get_logits);

    TCase *failures = with_model(s, "failures");
    tcase_add_loop_test_raise_signal(
        failures, a_step_beyond_its_limits_is_a_broken_invariant, SIGABRT, 0, 7);

    TCase *property = with_model(s, "property");
    tcase_add_loop_test(property, any_chunking_gives_the_same_bits, 0, 3);
    tcase_add_loop_test(property, any_number_of_workers_gives_the_same_bits, 2, 4);
    tcase_add_loop_test(property, any_block_length_gives_the_same_bits, 0, 6);
    tcase_add_test(property, sequences_in_one_step_equal_each_alone);
    tcase_add_test(property, a_truncated_sequence_goes_on_as_if_nothing_had_been);
    tcase_add_test(property, a_layer_meets_at_most_six_times);
    return s;
}
