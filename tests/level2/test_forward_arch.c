// The forward pass of each architecture: against the naive pass in double, and to the last bit against
// itself, however the work is cut. Prompts are longer than the window and than one attention segment.
#include "level2-operator/model/forward.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/arch_file.h"
#include "tests/support/forward_rig.h"

enum { N_PROMPT = 28, N_LONG = 268 };

static struct gguf_file file;
static struct bytes bytes;
static struct model model;

static void setup(void) {
    file_load(&file, tiny_model_path());
}

static void teardown(void) {
    model_close(&model);
    bytes_free(&bytes);
    file_free(&file);
}

static void parse_ok(void) {
    struct error err = {0};
    model_close(&model);
    bytes_free(&bytes);
    bytes = file_bytes(&file);
    ck_assert_msg(model_parse(&model, bytes.data, bytes.n, "test.gguf", NULL, &err) == OK,
                  "%s", err.text);
}

static void become(enum arch arch) {
    struct draw d = draw_start("forward of an architecture");
    file_become(&file, arch, &d);
    parse_ok();
}

static void draw_tokens(token_id *tokens, int n, const char *name) {
    struct draw d = draw_start(name);
    for (int i = 0; i < n; i++) tokens[i] = draw_int(&d, 0, model.config.n_vocab - 1);
}

// The model's logits of drawn tokens are those of the naive pass.
static void assert_right(const char *what) {
    token_id tokens[N_PROMPT];
    float *got = pass_logits_new(&model, N_PROMPT);
    draw_tokens(tokens, N_PROMPT, what);
    pass_logits_of(got, &model, tokens, N_PROMPT, (struct forward_cut){2, 16, 7});
    pass_assert_naive(&model, got, tokens, N_PROMPT, what);
    free(got);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(logits_match_a_naive_pass_in_double) {
    become((enum arch)_i);
    assert_right(arch_name((enum arch)_i));
}
END_TEST

START_TEST(any_matrix_may_have_a_bias) {
    struct draw d = draw_start("bias");
    char name[64];
    for (int l = 0; l < 3; l++) {
        file_draw_tensor(&file, layer_name(name, l, "attn_output.bias"), 1, 64, -1, 1, &d);
        file_draw_tensor(&file, layer_name(name, l, "ffn_up.bias"), 1, 96, -1, 1, &d);
        file_draw_tensor(&file, layer_name(name, l, "ffn_gate.bias"), 1, 96, -1, 1, &d);
        file_draw_tensor(&file, layer_name(name, l, "ffn_down.bias"), 1, 64, -1, 1, &d);
    }
    parse_ok();
    ck_assert_ptr_nonnull(model.layers[2].down.bias);
    ck_assert_ptr_null(model.layers[2].q.bias);
    assert_right("biases");
}
END_TEST

START_TEST(mistral_reads_its_last_keys_in_every_layer) {
    file_set_u32(&file, "llama.attention.sliding_window", 5);
    parse_ok();
    assert_right("mistral");
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

// A window as long as the text changes nothing; one key shorter does, at the last row alone.
START_TEST(a_window_begins_to_matter_with_the_first_key_outside) {
    token_id tokens[N_PROMPT];
    float *all, *same, *shorter;
    struct forward_cut cut = {2, 16, 7};
    long last = (long)(N_PROMPT - 1);

    parse_ok();
    all = pass_logits_new(&model, N_PROMPT);
    same = pass_logits_new(&model, N_PROMPT);
    shorter = pass_logits_new(&model, N_PROMPT);
    draw_tokens(tokens, N_PROMPT, "window");
    pass_logits_of(all, &model, tokens, N_PROMPT, cut);
    file_set_u32(&file, "llama.attention.sliding_window", N_PROMPT);
    parse_ok();
    pass_logits_of(same, &model, tokens, N_PROMPT, cut);
    pass_assert_same_logits(&model, same, all, N_PROMPT, "window of", N_PROMPT);

    file_set_u32(&file, "llama.attention.sliding_window", N_PROMPT - 1);
    parse_ok();
    pass_logits_of(shorter, &model, tokens, N_PROMPT, cut);
    pass_assert_same_logits(&model, shorter, all, N_PROMPT - 1, "window of", N_PROMPT - 1);
    last *= model.config.n_vocab;
    ck_assert(memcmp(shorter + last, all + last, sizeof(float) * 64) != 0);
    free(all);
    free(same);
    free(shorter);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

static const struct forward_cut cuts[] = {
    {1, 5,     1       },
    {2, 1,     64      },
    {3, N_CTX, 7       },
    {2, 256,   MAX_ROWS},
};

START_TEST(any_cut_gives_the_same_bits) {
    token_id tokens[N_PROMPT];
    become((enum arch)_i);
    float *want = pass_logits_new(&model, N_PROMPT);
    float *got = pass_logits_new(&model, N_PROMPT);
    draw_tokens(tokens, N_PROMPT, "cuts");
    pass_logits_of(want, &model, tokens, N_PROMPT, (struct forward_cut){1, 16, 64});
    for (int i = 0; i < (int)(sizeof(cuts) / sizeof(cuts[0])); i++) {
        pass_logits_of(got, &model, tokens, N_PROMPT, cuts[i]);
        pass_assert_same_logits(&model, got, want, N_PROMPT, arch_name((enum arch)_i), i);
    }
    free(want);
    free(got);
}
END_TEST

START_TEST(windows_that_lie_across_two_segments_give_the_same_bits) {
    token_id tokens[N_LONG];
    become(ARCH_GEMMA3);
    float *want = pass_logits_new(&model, N_LONG), *got = pass_logits_new(&model, N_LONG);
    draw_tokens(tokens, N_LONG, "segments");
    pass_logits_of(want, &model, tokens, N_LONG, (struct forward_cut){2, N_CTX, 64});
    pass_logits_of(got, &model, tokens, N_LONG, (struct forward_cut){2, 5, 37});
    pass_assert_same_logits(&model, got, want, N_LONG, "chunks of", 37);
    free(want);
    free(got);
}
END_TEST

START_TEST(sequences_in_one_step_equal_each_alone) {
    static const int starts[N_SEQS] = {20, 0, 7}, n_rows[N_SEQS] = {1, 20, 9};
    token_id tokens[N_SEQS][N_PROMPT], token[MAX_ROWS];
    int position[MAX_ROWS], sequence[MAX_ROWS], n = 0;
    struct forward_rig g;

    become((enum arch)_i);
    float *alone = pass_logits_new(&model, N_PROMPT);
    float *ignored = pass_logits_new(&model, N_PROMPT);
    pass_open(&g, &model, 2, 4);
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
        struct forward_cut cut = {1, 16, 64};
        pass_logits_of(alone, &model, tokens[s], starts[s] + n_rows[s], cut);
        for (int i = 0; i < n_rows[s]; i++, row++)
            pass_assert_same_logits(&model, ops_plain.logit_row(g.run, row),
                                    alone + (long)(starts[s] + i) * model.config.n_vocab, 1,
                                    "sequence", s);
    }
    pass_close(&g);
    free(alone);
    free(ignored);
}
END_TEST

static TCase *with_file(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/forward_arch");
    TCase *reference = with_file(s, "reference");
    tcase_add_loop_test(reference, logits_match_a_naive_pass_in_double, 0, ARCH_COUNT);
    tcase_add_test(reference, any_matrix_may_have_a_bias);
    tcase_add_test(reference, mistral_reads_its_last_keys_in_every_layer);

    TCase *edges = with_file(s, "edges");
    tcase_add_test(edges, a_window_begins_to_matter_with_the_first_key_outside);

    TCase *property = with_file(s, "property");
    tcase_add_loop_test(property, any_cut_gives_the_same_bits, 0, ARCH_COUNT);
    tcase_add_test(property, windows_that_lie_across_two_segments_give_the_same_bits);
    tcase_add_loop_test(property, sequences_in_one_step_equal_each_alone, 0, ARCH_COUNT);
    return s;
}
