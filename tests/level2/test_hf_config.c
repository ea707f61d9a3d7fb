// config.json of each family as published folders have it, with the numbers that the engine gets of it.
#include "level2-operator/files/hf_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_folder.h"
#include "level2-operator/files/hf_json.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/gguf/hf_names.h"
#include "level2-operator/model/config.h"
#include "tests/support/suite.h"

static struct arena arena;
static struct hf_config facts;
static struct config config;
static struct gguf g;
static struct error err;

static void setup(void) {
    arena_init(&arena, 1 << 20);
    memset(&g, 0, sizeof(g));
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    arena_free(&arena);
}

// JSON with ' for ". The generation_config.json may be NULL.
static json_t *parse(const char *text) {
    char copy[2048];
    json_t *root = NULL;
    if (!text) return NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    enum status st =
        hf_json_parse(&root, copy, strlen(copy), LIMIT_JSON_VALUES, "f", 0, &err);
    ck_assert_msg(st == OK, "%s", err.text);
    return root;
}

static enum status read(const char *text, const char *generation) {
    json_t *json = parse(text), *more = parse(generation);
    struct key_list keys;
    key_list_init(&keys, HF_FOLDER_KEYS, &arena);
    enum status st = hf_config_read(&facts, &keys, json, more, "f", &err);
    json_decref(json);
    json_decref(more);
    if (st != OK) return st;
    g.is_converted = true;
    ck_assert(key_list_finish(&keys, &g));
    return config_read(&config, &g, "f", &err);
}

static void read_ok(const char *text) {
    ck_assert_msg(read(text, NULL) == OK, "%s", err.text);
}

static void refused(const char *text, enum status want, const char *says) {
    enum status st = read(text, NULL);
    ck_assert_msg(st == want && strstr(err.text, says), "%s: %s", status_name(st),
                  err.text);
}

#define SHAPE                                                                              \
    "'num_hidden_layers':6,'hidden_size':64,'intermediate_size':96,"                       \
    "'num_attention_heads':4,'max_position_embeddings':512,'rms_norm_eps':1e-6,"           \
    "'vocab_size':100,'eos_token_id':2,"

// ---- reference ----------------------------------------------------------------------------------

START_TEST(llama_3_with_its_rope) {
    read_ok("{'model_type':'llama'," SHAPE "'num_key_value_heads':2,'hidden_act':'silu',"
            "'rope_theta':500000.0,'tie_word_embeddings':true,'torch_dtype':'bfloat16',"
            "'rope_scaling':{'factor':32.0,'high_freq_factor':4.0,'low_freq_factor':1.0,"
            "'original_max_position_embeddings':8192,'rope_type':'llama3'}}");
    ck_assert_int_eq(config.arch, ARCH_LLAMA);
    ck_assert_int_eq(config.rope_pairing, ROPE_HALVES);
    ck_assert_int_eq(config.rope_stretch.kind, ROPE_LLAMA3);
    ck_assert_int_eq(config.rope_stretch.n_ctx_trained, 8192);
    ck_assert_float_eq(config.rope_base, 500000);
    ck_assert_int_eq(config.n_kv_heads, 2);
    ck_assert_int_eq(config.d_head, 16);
    ck_assert_int_eq(facts.tie, HF_TIED);
    ck_assert_float_eq(config.norm_offset, 0);
}
END_TEST

START_TEST(mistral_is_a_llama_with_a_window) {
    read_ok("{'model_type':'mistral'," SHAPE "'hidden_act':'silu','sliding_window':128}");
    ck_assert_int_eq(config.arch, ARCH_LLAMA);
    ck_assert_int_eq(config.window, 128);
    ck_assert_int_eq(config.n_kv_heads, 4); // LOAD-21: absent, so as many as heads
    read_ok("{'model_type':'mistral'," SHAPE "'hidden_act':'silu','sliding_window':null}");
    ck_assert_int_eq(config.window, 0);
}
END_TEST

START_TEST(qwen2_has_a_window_that_it_does_not_use) {
    read_ok("{'model_type':'qwen2'," SHAPE "'hidden_act':'silu','sliding_window':64}");
    ck_assert_int_eq(config.window, 0); // not without use_sliding_window
    read_ok("{'model_type':'qwen2'," SHAPE "'hidden_act':'silu','sliding_window':32768,"
            "'use_sliding_window':false,'rope_theta':1000000.0,"
            "'layer_types':['full_attention','full_attention','full_attention',"
            "'full_attention','full_attention','full_attention'],"
            "'rope_scaling':{'type':'yarn','factor':4.0,"
            "'original_max_position_embeddings':128}}");
    ck_assert_int_eq(config.window, 0);
    ck_assert(config.has_qkv_bias);
    ck_assert_int_eq(config.rope_stretch.kind, ROPE_YARN);
    ck_assert_int_eq(facts.tie, HF_TIE_UNSAID);
}
END_TEST

#define GEMMA                                                                              \
    "{'model_type':'gemma3_text'," SHAPE "'head_dim':32,"                                  \
    "'hidden_activation':'gelu_pytorch_tanh','sliding_window':512,"                        \
    "'query_pre_attn_scalar':64,"

static void assert_gemma(void) {
    ck_assert_int_eq(config.arch, ARCH_GEMMA3);
    ck_assert_float_eq(config.norm_offset, 1); // safetensors hold w of 1 + w
    ck_assert_float_eq(config.embedding_scale, 8);
    ck_assert_float_eq(config.attention_scale, 0.125f);
    ck_assert_float_eq(config.rope_base, 1000000);
    ck_assert_float_eq(config.window_rope_base, 20000);
    ck_assert_int_eq(config.window, 512);
    ck_assert(!config_has_window(&config, 5) && config_has_window(&config, 4));
}

START_TEST(gemma3_in_both_ways_to_write_it) {
    read_ok(GEMMA "'rope_theta':1000000.0,'rope_local_base_freq':20000.0,"
                  "'sliding_window_pattern':6}");
    assert_gemma();
    read_ok(GEMMA "'layer_types':['sliding_attention','sliding_attention',"
                  "'sliding_attention','sliding_attention','sliding_attention',"
                  "'full_attention'],'rope_parameters':{"
                  "'full_attention':{'rope_type':'default','rope_theta':1000000.0},"
                  "'sliding_attention':{'rope_type':'default','rope_theta':20000.0}}}");
    assert_gemma();
}
END_TEST

START_TEST(generation_says_how_a_text_ends) {
    uint64_t eos, eot;
    double temperature;
    enum status st =
        read("{'model_type':'qwen3'," SHAPE "'hidden_act':'silu','head_dim':32}",
             "{'eos_token_id':[7,9],'temperature':0.6,'top_k':20}");
    ck_assert_msg(st == OK, "%s", err.text);
    ck_assert(gguf_get_u64(gguf_find(&g, "tokenizer.ggml.eos_token_id"), &eos) && eos == 7);
    ck_assert(gguf_get_u64(gguf_find(&g, "tokenizer.ggml.eot_token_id"), &eot) && eot == 9);
    ck_assert(gguf_get_f64(gguf_find(&g, "general.sampling.temp"), &temperature));
    ck_assert(fabs(temperature - 0.6) < 1e-12);
    ck_assert_int_eq(config.d_head, 32);
}
END_TEST

START_TEST(names_go_both_ways) {
    static const struct {
        const char *theirs, *ours;
        bool has_post_norms;
    } names[] = {
        {"model.embed_tokens.weight",                       "token_embd.weight",     false},
        {"lm_head.weight",                                  "output.weight",         false},
        {"model.layers.17.self_attn.k_proj.bias",           "blk.17.attn_k.bias",    false},
        {"model.layers.0.post_attention_layernorm.weight",  "blk.0.ffn_norm.weight", false},
        {"model.layers.0.post_attention_layernorm.weight",
         "blk.0.post_attention_norm.weight",                                         true },
        {"model.layers.3.pre_feedforward_layernorm.weight", "blk.3.ffn_norm.weight", true },
    };
    char name[HF_NAME_BYTES];
    for (int i = 0; i < ROWS(names); i++) {
        ck_assert(hf_name_to(name, names[i].theirs, names[i].has_post_norms));
        assert_text(names[i].theirs, name, names[i].ours);
        ck_assert(hf_name_of(name, names[i].ours, names[i].has_post_norms));
        assert_text(names[i].ours, name, names[i].theirs);
    }
}
END_TEST

START_TEST(names_of_unknown_parts_stay_as_they_are) {
    static const char *const names[] = {"model.layers.0.mlp.experts.0.up_proj.weight",
                                        "model.layers.x.mlp.up_proj.weight",
                                        "model.layers.",
                                        "model.layers.1",
                                        "weight",
                                        ".weight",
                                        "",
                                        "model.norm.scale",
                                        "vision.model.norm.weight",
                                        "model.layers.0.pre_feedforward_layernorm.weight"};
    char name[HF_NAME_BYTES];
    for (int i = 0; i < ROWS(names); i++) {
        ck_assert(!hf_name_to(name, names[i], false));
        assert_text("unknown", name, names[i]);
    }
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(what_would_change_the_answer_is_refused) {
    refused("{'model_type':'gemma3'}", ERR_UNSUPPORTED,
            "model_type: gemma3 is not supported");
    refused("{'model_type':'llama','text_config':{}}", ERR_UNSUPPORTED, "model_type");
    refused("{'model_type':'qwen3'," SHAPE "'hidden_act':'silu'}", ERR_FORMAT,
            "f/config.json: head_dim: missing");
    refused("{'model_type':'llama'," SHAPE "'partial_rotary_factor':0.5}", ERR_UNSUPPORTED,
            "partial_rotary_factor: not supported; only 1 is");
    refused(GEMMA "'sliding_window_pattern':2}", ERR_UNSUPPORTED, "sliding_window_pattern");
    refused(GEMMA "'layer_types':['full_attention',2,3,4,5,6]}", ERR_UNSUPPORTED,
            "layer_types: layer 0 is not sliding_attention");
    refused("{'model_type':'qwen2'," SHAPE "'sliding_window':64,'use_sliding_window':true}",
            ERR_UNSUPPORTED,
            "f/config.json: use_sliding_window: true is not supported for qwen2");
    refused("{'model_type':'llama'," SHAPE "'num_key_value_heads':[2,2,2,2,2,1]}",
            ERR_UNSUPPORTED,
            "f/config.json: num_key_value_heads: one number for each layer");
}
END_TEST

START_TEST(rope_without_its_numbers_is_refused) {
    refused("{'model_type':'llama'," SHAPE "'rope_scaling':{'rope_type':'llama3'}}",
            ERR_FORMAT, "low_freq_factor: missing");
    refused(
        "{'model_type':'llama'," SHAPE "'rope_scaling':{'rope_type':'llama3','factor':8,"
        "'low_freq_factor':4,'high_freq_factor':1,'original_max_position_embeddings':64}}",
        ERR_FORMAT, "f/config.json: low_freq_factor: 4 is not below 1");
    refused("{'model_type':'llama'," SHAPE "'rope_scaling':{'factor':8}}", ERR_FORMAT,
            "rope_type: must be there");
    refused("{'model_type':'llama'," SHAPE "'rope_scaling':{'type':'yarn','mscale':1}}",
            ERR_UNSUPPORTED, "mscale: not supported with yarn");
    refused("{'model_type':'llama'," SHAPE "'rope_parameters':{'sliding_attention':"
            "{'rope_theta':1}}}",
            ERR_FORMAT, "rope_parameters: must be an object");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/hf_config");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, llama_3_with_its_rope);
    tcase_add_test(reference, mistral_is_a_llama_with_a_window);
    tcase_add_test(reference, qwen2_has_a_window_that_it_does_not_use);
    tcase_add_test(reference, gemma3_in_both_ways_to_write_it);
    tcase_add_test(reference, generation_says_how_a_text_ends);
    tcase_add_test(reference, names_go_both_ways);
    tcase_add_test(reference, names_of_unknown_parts_stay_as_they_are);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, what_would_change_the_answer_is_refused);
    tcase_add_test(failures, rope_without_its_numbers_is_refused);
    suite_add_tcase(s, failures);
    return s;
}
