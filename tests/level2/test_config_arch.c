// What the metadata of each architecture says, and what it may not leave out: windows, rope bases,
// stretched positions, scales.
#include "level2-operator/model/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/arch_file.h"

static struct gguf_file file;
static struct config c;
static struct error err;

static void setup(void) {
    file_load(&file, tiny_model_path());
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    file_free(&file);
}

static void become(enum arch arch) {
    struct draw d = draw_start("config of an architecture");
    file_free(&file);
    file_load(&file, tiny_model_path());
    file_become(&file, arch, &d);
}

static enum status read_config(void) {
    return file_config(&file, &c, &err);
}

static void read_ok(void) {
    ck_assert_msg(read_config() == OK, "%s", err.text);
}

static void refused(enum status want, const char *key) {
    enum status st = read_config();
    ck_assert_msg(st == want, "%s: %s %s", key, status_name(st), err.text);
    ck_assert_str_eq(err.param, key);
    ck_assert_msg(strstr(err.text, key) != NULL, "%s", err.text);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(each_architecture_has_its_flags) {
    static const struct {
        enum rope_pairing pairing;
        enum activation activation;
        bool has_qkv_bias, has_head_norms, has_post_norms;
        float embedding_scale;
        int d_head;
    } want[ARCH_COUNT] = {
        {ROPE_NEIGHBOURS, ACTIVATION_SILU,      false, false, false, 1, 16       },
        {ROPE_HALVES,     ACTIVATION_SILU,      true,  false, false, 1, 16       },
        {ROPE_HALVES,     ACTIVATION_SILU,      false, true,  false, 1, WIDE_HEAD},
        {ROPE_HALVES,     ACTIVATION_GELU_TANH, false, true,  true,  8, 16       },
    };
    become((enum arch)_i);
    read_ok();
    ck_assert_int_eq(c.arch, _i);
    ck_assert_int_eq(c.rope_pairing, want[_i].pairing);
    ck_assert_int_eq(c.activation, want[_i].activation);
    ck_assert_int_eq(c.has_qkv_bias, want[_i].has_qkv_bias);
    ck_assert_int_eq(c.has_head_norms, want[_i].has_head_norms);
    ck_assert_int_eq(c.has_post_norms, want[_i].has_post_norms);
    ck_assert(c.embedding_scale == want[_i].embedding_scale);
    ck_assert_int_eq(c.d_head, want[_i].d_head);
    assert_close("attention scale", &c.attention_scale,
                 &(float){1 / sqrtf((float)want[_i].d_head)}, 1, 1e-7);
}
END_TEST

START_TEST(every_name_is_found_and_no_other) {
    enum arch a;
    for (int i = 0; i < ARCH_COUNT; i++) {
        const char *name = arch_name((enum arch)i);
        ck_assert(arch_find(&a, name, strlen(name)));
        ck_assert_int_eq(a, i);
        ck_assert(!arch_find(&a, name, strlen(name) - 1));
    }
    ck_assert(!arch_find(&a, "gemma3n", 7));
    ck_assert(!arch_find(&a, "", 0));
}
END_TEST

// position, first key in a layer with a window of 9
static const int windows[][2] = {
    {0,    0   },
    {7,    0   },
    {8,    0   },
    {9,    1   },
    {10,   2   },
    {300,  292 },
    {8191, 8183}
};

START_TEST(the_last_of_six_layers_reads_all_keys) {
    become(ARCH_GEMMA3);
    read_ok();
    ck_assert_int_eq(c.window, GEMMA_WINDOW);
    for (int l = 0; l < GEMMA_LAYERS; l++) {
        ck_assert_msg(config_has_window(&c, l) == (l != 5), "layer %d", l);
        for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
            char what[64];
            snprintf(what, sizeof(what), "first key of layer %d, position %d", l,
                     windows[i][0]);
            assert_number(what, config_first_key(&c, l, windows[i][0]),
                          l == 5 ? 0 : windows[i][1]);
        }
    }
    ck_assert(c.rope_base == 1e6f);
    ck_assert(c.window_rope_base == 10000);
}
END_TEST

START_TEST(mistral_has_a_window_in_every_layer) {
    file_set_u32(&file, "llama.attention.sliding_window", 4);
    read_ok();
    for (int l = 0; l < 3; l++) ck_assert_int_eq(config_first_key(&c, l, 10), 7);
    ck_assert(c.window_rope_base == 0); // one base for all
}
END_TEST

START_TEST(no_window_means_all_keys) {
    read_ok();
    ck_assert_int_eq(config_first_key(&c, 0, 1000000), 0);
    become(ARCH_GEMMA3);
    file_set_u32(&file, "gemma3.attention.sliding_window", 0);
    read_ok();
    for (int l = 0; l < GEMMA_LAYERS; l++) ck_assert(!config_has_window(&c, l));
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_pattern_may_be_said_as_number_or_layer_by_layer) {
    unsigned char layers[GEMMA_LAYERS] = {1, 1, 1, 1, 1, 0, 1};
    static const char key[] = "gemma3.attention.sliding_window_pattern";
    become(ARCH_GEMMA3);
    file_set_u32(&file, key, 6);
    read_ok();
    file_set_array(&file, key, GGUF_BOOL, GEMMA_LAYERS, layers, GEMMA_LAYERS);
    read_ok();
    layers[2] = 0;
    file_set_array(&file, key, GGUF_BOOL, GEMMA_LAYERS, layers, GEMMA_LAYERS);
    refused(ERR_UNSUPPORTED, key);
    ck_assert_ptr_nonnull(strstr(err.text, "layer 2 "));
    file_set_array(&file, key, GGUF_BOOL, 2, layers, 2);
    refused(ERR_UNSUPPORTED, key);
    file_set_u32(&file, key, 2);
    refused(ERR_UNSUPPORTED, key);
}
END_TEST

START_TEST(windows_may_name_their_rope_base) {
    become(ARCH_GEMMA3);
    file_set_f32(&file, "gemma3.rope.freq_base_swa", 5000);
    read_ok();
    ck_assert(c.window_rope_base == 5000);
}
END_TEST

START_TEST(
    the_largest_gemma_divides_scores_by_its_width) { // 5376 / 32 = 168, heads are 128 wide
    become(ARCH_GEMMA3);
    file_set_u32(&file, "gemma3.block_count", 62);
    file_set_u32(&file, "gemma3.embedding_length", 5376);
    file_set_u32(&file, "gemma3.attention.head_count", 32);
    file_set_u32(&file, "gemma3.attention.head_count_kv", 16);
    file_set_u32(&file, "gemma3.attention.key_length", 128);
    file_set_u32(&file, "gemma3.attention.value_length", 128);
    file_set_u32(&file, "gemma3.rope.dimension_count", 128);
    read_ok();
    assert_close("scale", &c.attention_scale, &(float){0.0771516750f}, 1, 1e-7);
}
END_TEST

START_TEST(positions_stretch_linearly_under_both_names) {
    file_set_string(&file, "llama.rope.scaling.type", "linear");
    file_set_f32(&file, "llama.rope.scaling.factor", 8);
    read_ok();
    ck_assert_int_eq(c.rope_stretch.kind, ROPE_LINEAR);
    ck_assert(c.rope_stretch.factor == 8);
    file_drop(&file, "llama.rope.scaling.type");
    file_drop(&file, "llama.rope.scaling.factor");
    file_set_f32(&file, "llama.rope.scale_linear", 4);
    read_ok();
    ck_assert(c.rope_stretch.kind == ROPE_LINEAR && c.rope_stretch.factor == 4);
    file_set_string(&file, "llama.rope.scaling.type", "none");
    read_ok();
    ck_assert_int_eq(c.rope_stretch.kind, ROPE_AS_TRAINED);
}
END_TEST

// NUM-04: q and k each get longer by 1.13863, so that a score grows by its square.
START_TEST(yarn_scales_scores_by_the_square) {
    become(ARCH_QWEN3);
    file_set_string(&file, "qwen3.rope.scaling.type", "yarn");
    file_set_f32(&file, "qwen3.rope.scaling.factor", 4);
    file_set_u32(&file, "qwen3.rope.scaling.original_context_length", 128);
    read_ok();
    ck_assert_int_eq(c.rope_stretch.kind, ROPE_YARN);
    ck_assert_int_eq(c.rope_stretch.n_ctx_trained, 128);
    ck_assert(c.rope_stretch.low == 1 && c.rope_stretch.high == 32);
    assert_close("scale", &c.attention_scale,
                 &(float){1.13863f * 1.13863f / sqrtf(WIDE_HEAD)}, 1, 1e-5);
}
END_TEST

START_TEST(a_scale_of_its_own_is_taken) {
    file_set_f32(&file, "llama.attention.scale", 0.5f);
    read_ok();
    ck_assert(c.attention_scale == 0.5f);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(what_each_architecture_needs_is_missed_by_its_name) {
    static const char *const suffixes[] = {
        "block_count",         "embedding_length", "attention.head_count",
        "feed_forward_length", "context_length",   "attention.layer_norm_rms_epsilon",
    };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char key[64];
        become((enum arch)_i);
        snprintf(key, sizeof(key), "%s.%s", arch_name((enum arch)_i), suffixes[i]);
        file_drop(&file, key);
        enum status st = read_config();
        ck_assert_msg(st == ERR_FORMAT && strstr(err.text, "missing"), "%s", err.text);
        ck_assert_msg(strstr(err.text, key) != NULL, "%s", err.text);
    }
}
END_TEST

START_TEST(gemma3_must_name_its_window) {
    become(ARCH_GEMMA3);
    file_drop(&file, "gemma3.attention.sliding_window");
    refused(ERR_FORMAT, "gemma3.attention.sliding_window");
}
END_TEST

START_TEST(
    windows_of_unknown_layers_are_refused) { // Qwen2's config has a second key for them
    become(ARCH_QWEN2);
    file_set_u32(&file, "qwen2.attention.sliding_window", 0);
    read_ok();
    file_set_u32(&file, "qwen2.attention.sliding_window", 4096);
    refused(ERR_UNSUPPORTED, "qwen2.attention.sliding_window");
}
END_TEST

START_TEST(yarn_without_its_numbers_is_refused) {
    file_set_string(&file, "llama.rope.scaling.type", "yarn");
    file_set_f32(&file, "llama.rope.scaling.factor", 4);
    ck_assert_int_eq(read_config(), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "original_context_length: missing"));
    file_set_u32(&file, "llama.rope.scaling.original_context_length", 128);
    read_ok();
    file_set_f32(&file, "llama.rope.scaling.yarn_beta_slow", 40);
    refused(ERR_FORMAT, "llama.rope.scaling.yarn_beta_slow");
    become(ARCH_GEMMA3);
    file_set_string(&file, "gemma3.rope.scaling.type", "yarn");
    refused(ERR_UNSUPPORTED, "gemma3.rope.scaling.type");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/config_arch");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, each_architecture_has_its_flags, 0, ARCH_COUNT);
    tcase_add_test(reference, every_name_is_found_and_no_other);
    tcase_add_test(reference, the_last_of_six_layers_reads_all_keys);
    tcase_add_test(reference, mistral_has_a_window_in_every_layer);
    tcase_add_test(reference, no_window_means_all_keys);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_pattern_may_be_said_as_number_or_layer_by_layer);
    tcase_add_test(edges, windows_may_name_their_rope_base);
    tcase_add_test(edges, the_largest_gemma_divides_scores_by_its_width);
    tcase_add_test(edges, positions_stretch_linearly_under_both_names);
    tcase_add_test(edges, yarn_scales_scores_by_the_square);
    tcase_add_test(edges, a_scale_of_its_own_is_taken);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, what_each_architecture_needs_is_missed_by_its_name, 0,
                        ARCH_COUNT);
    tcase_add_test(failures, gemma3_must_name_its_window);
    tcase_add_test(failures, windows_of_unknown_layers_are_refused);
    tcase_add_test(failures, yarn_without_its_numbers_is_refused);
    suite_add_tcase(s, failures);
    return s;
}
