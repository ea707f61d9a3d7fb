// The metadata of a model: the tiny model's own, and what must not be believed or silently ignored.
#include "level2-operator/model/config.h"

#include <math.h>
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

// Reads the config of the file as it stands now.
static enum status read_config(void) {
    return file_config(&file, &c, &err);
}

static void read_ok(void) {
    ck_assert_msg(read_config() == OK, "%s", err.text);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(reads_the_shape_of_the_tiny_model) {
    read_ok();
    ck_assert_int_eq(c.arch, ARCH_LLAMA);
    ck_assert_str_eq(arch_name(c.arch), "llama");
    ck_assert_int_eq(c.n_layers, 3);
    ck_assert_int_eq(c.d_model, 64);
    ck_assert_int_eq(c.n_heads, 4);
    ck_assert_int_eq(c.n_kv_heads, 2);
    ck_assert_int_eq(c.d_head, 16);
    ck_assert_int_eq(c.d_ff, 96);
    ck_assert_int_eq(c.n_vocab, 579);
    ck_assert_int_eq(c.n_ctx, 512);
    ck_assert(c.norm_eps == 1e-5f);
    ck_assert(c.rope_base == 10000.0f);
    ck_assert_int_eq(c.rope_pairing, ROPE_NEIGHBOURS);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(without_kv_heads_every_head_has_its_own) { // LOAD-21
    file_drop(&file, "llama.attention.head_count_kv");
    read_ok();
    ck_assert_int_eq(c.n_kv_heads, 4);
}
END_TEST

static void set_per_layer(const char *name, uint32_t a, uint32_t b, uint32_t third) {
    struct bytes items = {0};
    put_u32(&items, a), put_u32(&items, b), put_u32(&items, third);
    file_set_array(&file, name, GGUF_U32, 3, items.data, items.n);
    bytes_free(&items);
}

START_TEST(one_number_per_layer_is_accepted_if_all_are_equal) { // LOAD-21
    set_per_layer("llama.attention.head_count_kv", 2, 2, 2);
    set_per_layer("llama.feed_forward_length", 96, 96, 96);
    read_ok();
    ck_assert_int_eq(c.n_kv_heads, 2);
    ck_assert_int_eq(c.d_ff, 96);
}
END_TEST

START_TEST(layers_that_differ_are_not_supported) { // LOAD-21
    set_per_layer("llama.attention.head_count_kv", 2, 2, 1);
    ck_assert_int_eq(read_config(), ERR_UNSUPPORTED);
    ck_assert_str_eq(err.param, "llama.attention.head_count_kv");
    ck_assert_msg(strstr(err.text, "layer 2 ") != NULL, "%s", err.text);
}
END_TEST

START_TEST(an_array_must_have_one_item_per_layer) {
    file_set_u32(&file, "llama.block_count", 2);
    set_per_layer("llama.attention.head_count_kv", 2, 2, 2);
    ck_assert_int_eq(read_config(), ERR_FORMAT);
}
END_TEST

START_TEST(an_empty_array_is_no_number) {
    file_set_array(&file, "llama.attention.head_count_kv", GGUF_U32, 0, NULL, 0);
    ck_assert_int_eq(read_config(), ERR_FORMAT);
}
END_TEST

START_TEST(heads_may_be_wider_than_their_share) {
    file_set_u32(&file, "llama.attention.key_length", 32);
    file_set_u32(&file, "llama.attention.value_length", 32);
    file_set_u32(&file, "llama.rope.dimension_count", 32);
    read_ok();
    ck_assert_int_eq(c.d_head, 32);
}
END_TEST

START_TEST(keys_with_a_usual_value_may_be_missing) {
    file_drop(&file, "llama.rope.freq_base");
    file_drop(&file, "llama.rope.dimension_count");
    file_drop(&file, "llama.vocab_size");
    read_ok();
    ck_assert(c.rope_base == 10000.0f);
    ck_assert_int_eq(c.n_vocab, 579);
}
END_TEST

START_TEST(the_vocabulary_may_be_known_by_number_only) {
    file_drop(&file, "tokenizer.ggml.tokens");
    read_ok();
    ck_assert_int_eq(c.n_vocab, 579);
}
END_TEST

START_TEST(rope_scaling_that_changes_nothing_is_accepted) {
    file_set_string(&file, "llama.rope.scaling.type", "none");
    read_ok();
    file_set_string(&file, "llama.rope.scaling.type", "linear");
    file_set_f32(&file, "llama.rope.scaling.factor", 1);
    file_set_u32(&file, "llama.expert_count", 0);
    read_ok();
    ck_assert_int_eq(c.rope_stretch.kind, ROPE_AS_TRAINED);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(every_key_that_is_needed_is_missed_by_name) {
    static const char *const needed[] = {
        "general.architecture",
        "llama.block_count",
        "llama.embedding_length",
        "llama.attention.head_count",
        "llama.feed_forward_length",
        "llama.context_length",
        "llama.attention.layer_norm_rms_epsilon",
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        file_free(&file);
        file_load(&file, tiny_model_path());
        file_drop(&file, needed[i]);
        ck_assert_msg(read_config() == ERR_FORMAT, "%s", needed[i]);
        ck_assert_msg(strstr(err.text, needed[i]) && strstr(err.text, "missing"), "%s",
                      err.text);
        ck_assert_msg(strncmp(err.param, needed[i], sizeof(err.param) - 1) == 0, "%s",
                      err.param);
    }
    file_free(&file);
    file_load(&file, tiny_model_path());
    file_drop(&file, "tokenizer.ggml.tokens");
    file_drop(&file, "llama.vocab_size");
    ck_assert_int_eq(read_config(), ERR_FORMAT);
    ck_assert_str_eq(err.param, "llama.vocab_size");
}
END_TEST

static const struct {
    const char *name, *key;
    uint32_t value;
    enum status want;
} wrong_integers[] = {
    {"no layers",                         "llama.block_count",              0,          ERR_FORMAT     },
    {"more layers than the limit",        "llama.block_count",              1025,       ERR_FORMAT     },
    {"no width",                          "llama.embedding_length",         0,          ERR_FORMAT     },
    {"width above the limit",             "llama.embedding_length",         UINT32_MAX, ERR_FORMAT     },
    {"LOAD-20 no heads",                  "llama.attention.head_count",     0,          ERR_FORMAT     },
    {"no kv heads",                       "llama.attention.head_count_kv",  0,          ERR_FORMAT     },
    {"kv heads that do not divide",       "llama.attention.head_count_kv",  3,          ERR_FORMAT     },
    {"more kv heads than heads",          "llama.attention.head_count_kv",  8,          ERR_FORMAT     },
    {"keys of no width",                  "llama.attention.key_length",     0,          ERR_FORMAT     },
    {"keys whose widths overflow",        "llama.attention.key_length",     1u << 31,   ERR_FORMAT     },
    {"values of another width than keys", "llama.attention.value_length",   32,
     ERR_UNSUPPORTED                                                                                   },
    {"half of a head turns",              "llama.rope.dimension_count",     8,          ERR_UNSUPPORTED},
    {"no feed-forward",                   "llama.feed_forward_length",      0,          ERR_FORMAT     },
    {"no context",                        "llama.context_length",           0,          ERR_FORMAT     },
    {"context above the limit",           "llama.context_length",           1u << 30,   ERR_FORMAT     },
    {"experts",                           "llama.expert_count",             8,          ERR_UNSUPPORTED},
    {"a window above the limit",          "llama.attention.sliding_window", 1u << 30,   ERR_FORMAT     },
    {"architecture as a number",          "general.architecture",           1,          ERR_FORMAT     },
    {"tokens as a number",                "tokenizer.ggml.tokens",          1,          ERR_FORMAT     },
};

START_TEST(wrong_integers_are_refused_with_key_and_offset) {
    const char *name = wrong_integers[_i].name;
    file_set_u32(&file, wrong_integers[_i].key, wrong_integers[_i].value);
    enum status st = read_config();
    ck_assert_msg(st == wrong_integers[_i].want, "%s: %s %s", name, status_name(st),
                  err.text);
    ck_assert_int_eq(err.code, st);
    ck_assert_msg(strncmp(err.text, "test.gguf: key ", 15) == 0, "%s: %s", name, err.text);
    ck_assert_str_eq(err.param, wrong_integers[_i].key);
}
END_TEST

static const struct {
    const char *name, *key;
    uint32_t value;
    const char *names; // the key that cannot stand beside this value
} disagreements[] = {
    {"heads that do not divide", "llama.attention.head_count", 6,
     "llama.attention.key_length"                                                               },
    {"more heads than width",    "llama.attention.head_count", 128,
     "llama.attention.key_length"                                                               },
    {"heads of odd width",       "llama.attention.head_count", 64,  "llama.attention.key_length"},
    {"another vocabulary size",  "llama.vocab_size",           580, "tokenizer.ggml.tokens"     },
};

START_TEST(numbers_that_disagree_are_refused) {
    file_set_u32(&file, disagreements[_i].key, disagreements[_i].value);
    ck_assert_msg(read_config() == ERR_FORMAT, "%s: %s", disagreements[_i].name, err.text);
    ck_assert_str_eq(err.param, disagreements[_i].names);
}
END_TEST

static const struct {
    const char *name, *key;
    float value;
    enum status want;
} wrong_reals[] = {
    {"epsilon 0",                 "llama.attention.layer_norm_rms_epsilon", 0,        ERR_FORMAT     },
    {"epsilon that is no number", "llama.attention.layer_norm_rms_epsilon", NAN,
     ERR_FORMAT                                                                                      },
    {"negative rope base",        "llama.rope.freq_base",                   -1,       ERR_FORMAT     },
    {"infinite rope base",        "llama.rope.freq_base",                   INFINITY, ERR_FORMAT     },
    {"rope factor 0",             "llama.rope.scaling.factor",              0,        ERR_FORMAT     },
    {"old name of the factor",    "llama.rope.scale_linear",                -2,       ERR_FORMAT     },
    {"capped scores",             "llama.attn_logit_softcapping",           50,       ERR_UNSUPPORTED},
    {"capped logits",             "llama.final_logit_softcapping",          30,       ERR_UNSUPPORTED},
    {"a scaled embedding",        "llama.embedding_scale",                  12,       ERR_UNSUPPORTED},
    {"another yarn",              "llama.rope.scaling.attn_factor",         2,        ERR_UNSUPPORTED},
    {"a fraction of a layer",     "llama.block_count",                      2.5f,     ERR_FORMAT     },
};

START_TEST(wrong_reals_are_refused_with_key_and_offset) {
    file_set_f32(&file, wrong_reals[_i].key, wrong_reals[_i].value);
    ck_assert_msg(read_config() == wrong_reals[_i].want, "%s: %s", wrong_reals[_i].name,
                  err.text);
    ck_assert_str_eq(err.param, wrong_reals[_i].key);
    ck_assert_msg(strstr(err.text, " at byte ") != NULL, "%s", err.text);
}
END_TEST

START_TEST(other_architectures_and_scalings_are_named) {
    file_set_string(&file, "llama.rope.scaling.type", "longrope");
    ck_assert_int_eq(read_config(), ERR_UNSUPPORTED);
    ck_assert_str_eq(err.param, "llama.rope.scaling.type");
    ck_assert_ptr_nonnull(strstr(err.text, "longrope"));
    file_set_string(&file, "general.architecture", "mamba");
    ck_assert_int_eq(read_config(), ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.text, "mamba"));
    ck_assert_ptr_nonnull(strstr(err.text, "llama, qwen2, qwen3, gemma3"));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/config");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, reads_the_shape_of_the_tiny_model);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, without_kv_heads_every_head_has_its_own);
    tcase_add_test(edges, one_number_per_layer_is_accepted_if_all_are_equal);
    tcase_add_test(edges, layers_that_differ_are_not_supported);
    tcase_add_test(edges, an_array_must_have_one_item_per_layer);
    tcase_add_test(edges, an_empty_array_is_no_number);
    tcase_add_test(edges, heads_may_be_wider_than_their_share);
    tcase_add_test(edges, keys_with_a_usual_value_may_be_missing);
    tcase_add_test(edges, the_vocabulary_may_be_known_by_number_only);
    tcase_add_test(edges, rope_scaling_that_changes_nothing_is_accepted);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, every_key_that_is_needed_is_missed_by_name);
    tcase_add_loop_test(failures, wrong_integers_are_refused_with_key_and_offset, 0,
                        (int)(sizeof(wrong_integers) / sizeof(wrong_integers[0])));
    tcase_add_loop_test(failures, numbers_that_disagree_are_refused, 0,
                        (int)(sizeof(disagreements) / sizeof(disagreements[0])));
    tcase_add_loop_test(failures, wrong_reals_are_refused_with_key_and_offset, 0,
                        (int)(sizeof(wrong_reals) / sizeof(wrong_reals[0])));
    tcase_add_test(failures, other_architectures_and_scalings_are_named);
    suite_add_tcase(s, failures);
    return s;
}
