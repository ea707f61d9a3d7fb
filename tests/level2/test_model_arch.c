// Binding the tensors that not every architecture has: biases, norms, factors of rotary positions.
#include "level2-operator/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/arch_file.h"

static struct gguf_file file;
static struct bytes bytes;
static struct model m;
static struct error err;

static void setup(void) {
    file_load(&file, tiny_model_path());
}

static void teardown(void) {
    model_close(&m);
    bytes_free(&bytes);
    file_free(&file);
}

static enum status parse(void) {
    model_close(&m);
    bytes_free(&bytes);
    bytes = file_bytes(&file);
    memset(&err, 0, sizeof(err));
    return model_parse(&m, bytes.data, bytes.n, "test.gguf", NULL, &err);
}

static void parse_ok(void) {
    ck_assert_msg(parse() == OK, "%s", err.text);
}

static void refused(enum status want, const char *tensor) {
    enum status st = parse();
    ck_assert_msg(st == want, "%s: %s %s", tensor, status_name(st), err.text);
    ck_assert_str_eq(err.param, tensor);
}

static void become(enum arch arch) {
    struct draw d = draw_start("model of an architecture");
    file_free(&file);
    file_load(&file, tiny_model_path());
    file_become(&file, arch, &d);
}

static void assert_floats(const char *tensor, const float *got, size_t n) {
    const struct file_tensor *t = file_tensor(&file, tensor);
    ck_assert_msg(t && t->data.n == n * sizeof(float), "%s", tensor);
    float want[128];
    memcpy(want, t->data.data, t->data.n);
    assert_close(tensor, got, want, n, 0);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(qwen2_has_biases) {
    become(ARCH_QWEN2);
    parse_ok();
    assert_floats("blk.2.attn_q.bias", m.layers[2].q.bias, 64);
    assert_floats("blk.0.attn_k.bias", m.layers[0].k.bias, 32);
    assert_floats("blk.1.attn_v.bias", m.layers[1].v.bias, 32);
    ck_assert_ptr_null(m.layers[0].o.bias);
    ck_assert_ptr_null(m.layers[0].q_norm);
}
END_TEST

START_TEST(qwen3_has_head_norms_and_heads_wider_than_their_share) {
    become(ARCH_QWEN3);
    parse_ok();
    assert_floats("blk.0.attn_q_norm.weight", m.layers[0].q_norm, WIDE_HEAD);
    assert_floats("blk.2.attn_k_norm.weight", m.layers[2].k_norm, WIDE_HEAD);
    ck_assert_int_eq(m.layers[0].q.n_out, 4 * WIDE_HEAD);
    ck_assert_int_eq(m.layers[0].o.n_in, 4 * WIDE_HEAD);
    ck_assert_int_eq(m.layers[0].v.n_out, 2 * WIDE_HEAD);
    ck_assert_ptr_null(m.layers[0].attn_post_norm);
}
END_TEST

START_TEST(gemma3_has_post_norms_and_two_rope_bases) {
    become(ARCH_GEMMA3);
    parse_ok();
    assert_floats("blk.6.post_attention_norm.weight", m.layers[6].attn_post_norm, 64);
    assert_floats("blk.1.post_ffw_norm.weight", m.layers[1].ffn_post_norm, 64);
    for (int l = 0; l < GEMMA_LAYERS; l++) {
        double base = l == 5 ? 1e6 : 1e4;
        float want[8];
        for (int i = 0; i < 8; i++) want[i] = (float)pow(base, -i / 8.0);
        assert_close("frequencies", m.layers[l].rope_freq, want, 8, 1e-7);
    }
}
END_TEST

START_TEST(factors_divide_the_frequencies) { // Llama 3.x
    float want[8];
    struct file_tensor *t = file_add_tensor(&file, "rope_freqs.weight");
    t->n_dims = 1;
    t->dim[0] = 8;
    for (int i = 0; i < 8; i++) {
        put_f32(&t->data, (float)(1 + i));
        want[i] = (float)(pow(10000, -i / 8.0) / (1 + i));
    }
    parse_ok();
    for (int l = 0; l < 3; l++)
        assert_close("frequencies", m.layers[l].rope_freq, want, 8, 1e-7);
}
END_TEST

START_TEST(a_linear_factor_divides_them_too) {
    float want[8];
    for (int i = 0; i < 8; i++) want[i] = (float)(pow(10000, -i / 8.0) / 4);
    file_set_f32(&file, "llama.rope.scaling.factor", 4);
    parse_ok();
    assert_close("frequencies", m.layers[0].rope_freq, want, 8, 1e-7);
}
END_TEST

// Gemma 3 4B and larger: only layers that read all keys are stretched.
START_TEST(windows_are_not_stretched) {
    become(ARCH_GEMMA3);
    file_set_string(&file, "gemma3.rope.scaling.type", "linear");
    file_set_f32(&file, "gemma3.rope.scaling.factor", 8);
    parse_ok();
    assert_close("with a window", m.layers[0].rope_freq, &(float){1}, 1, 0);
    assert_close("with all keys", m.layers[5].rope_freq, &(float){0.125f}, 1, 0);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

// Of layer 1: what it has beyond llama's among the rest.
START_TEST(every_missing_tensor_is_named) {
    become((enum arch)_i);
    size_t n_tensors = file.n_tensors;
    for (size_t i = 0; i < n_tensors; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s", file.tensors[i].name);
        if (strncmp(name, "blk.1.", 6) != 0) continue;
        file_drop_tensor(&file, name);
        refused(ERR_FORMAT, name);
        ck_assert_msg(strstr(err.text, "missing") != NULL, "%s", err.text);
        become((enum arch)_i);
    }
}
END_TEST

static const struct {
    enum arch arch;
    const char *tensor;
} vectors[] = {
    {ARCH_LLAMA,  "blk.1.attn_output.bias"          },
    {ARCH_QWEN2,  "blk.0.attn_q.bias"               },
    {ARCH_QWEN2,  "blk.2.attn_v.bias"               },
    {ARCH_QWEN3,  "blk.1.attn_q_norm.weight"        },
    {ARCH_QWEN3,  "blk.1.attn_k_norm.weight"        },
    {ARCH_GEMMA3, "blk.6.post_attention_norm.weight"},
    {ARCH_GEMMA3, "blk.0.post_ffw_norm.weight"      },
    {ARCH_LLAMA,  "rope_freqs.weight"               },
};

START_TEST(a_vector_of_another_length_is_named) {
    struct draw d = draw_start("wrong vector");
    become(vectors[_i].arch);
    file_draw_tensor(&file, vectors[_i].tensor, 1, 17, 1, 2, &d);
    refused(ERR_FORMAT, vectors[_i].tensor);
    file_draw_tensor(&file, vectors[_i].tensor, 2, 64, 1, 2, &d);
    refused(ERR_FORMAT, vectors[_i].tensor);
}
END_TEST

START_TEST(factors_that_cannot_divide_are_refused) {
    static const float wrong[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct draw d = draw_start("factors");
        file_draw_tensor(&file, "rope_freqs.weight", 1, 8, 1, 2, &d);
        memcpy(file_tensor(&file, "rope_freqs.weight")->data.data + 12, &wrong[i], 4);
        refused(ERR_FORMAT, "rope_freqs.weight");
        ck_assert_msg(strstr(err.text, "pair 3") != NULL, "%s", err.text);
    }
}
END_TEST

// What would be divided twice, or in layers that nobody named, is not guessed.
START_TEST(factors_that_could_mean_two_things_are_refused) {
    struct draw d = draw_start("two things");
    file_draw_tensor(&file, "rope_freqs.weight", 1, 8, 1, 2, &d);
    file_set_f32(&file, "llama.rope.scaling.factor", 4);
    refused(ERR_UNSUPPORTED, "rope_freqs.weight");
    become(ARCH_GEMMA3);
    file_draw_tensor(&file, "rope_freqs.weight", 1, 8, 1, 2, &d);
    refused(ERR_UNSUPPORTED, "rope_freqs.weight");
}
END_TEST

// A norm of another family would be left out in silence.
START_TEST(parts_of_other_architectures_are_refused) {
    static const char *const parts[] = {"attn_q_norm.weight", "post_ffw_norm.weight",
                                        "attn_sub_norm.weight", "ffn_gate_inp.weight"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[64];
        become(ARCH_QWEN2);
        file_copy_tensor(&file, "blk.1.attn_norm.weight", layer_name(name, 1, parts[i]));
        refused(ERR_UNSUPPORTED, name);
    }
}
END_TEST

START_TEST(survives_a_failure_of_every_allocation) {
    struct model_options options = {0};
    enum status st = ERR_MEMORY;
    become((enum arch)_i);
    bytes = file_bytes(&file);
    while (st != OK) {
        options.fail_at++;
        st = model_parse(&m, bytes.data, bytes.n, "test.gguf", &options, &err);
        ck_assert_msg(st == OK || st == ERR_MEMORY, "allocation %ld: %s", options.fail_at,
                      err.text);
        ck_assert(st == OK || m.arena.chunks == NULL);
    }
    ck_assert_int_gt(options.fail_at, 16);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// A changed byte in header or tables: refused with a reason, or a model whose tables can be read.
START_TEST(a_changed_file_is_refused_or_is_a_whole_model) {
    struct draw d = draw_start("mutations of an architecture");
    int n_accepted = 0, n_refused = 0;
    float touched = 0;
    become((enum arch)_i);
    parse_ok();
    int n_tables = (int)m.gguf.data_offset;

    for (int i = 0; i < 300; i++) {
        int at = draw_int(&d, 0, n_tables - 1);
        unsigned char old = bytes.data[at];
        bytes.data[at] = (unsigned char)draw_u64(&d);
        model_close(&m);
        memset(&err, 0, sizeof(err));
        if (model_parse(&m, bytes.data, bytes.n, "test.gguf", NULL, &err) == OK) {
            const struct layer *last = &m.layers[m.config.n_layers - 1]; // ASan looks on
            touched += last->rope_freq[m.config.d_head / 2 - 1];
            if (last->k_norm) touched += last->k_norm[m.config.d_head - 1];
            if (last->q.bias) touched += last->q.bias[last->q.n_out - 1];
            ck_assert_msg(config_first_key(&m.config, 0, m.config.n_ctx - 1) <
                              m.config.n_ctx,
                          "byte %d, last values %g", at, (double)touched);
            n_accepted++;
        } else {
            ck_assert_msg(err.text[0] && err.code != ERR_MEMORY, "byte %d: %s", at,
                          err.text);
            n_refused++;
        }
        bytes.data[at] = old;
    }
    ck_assert_msg(n_accepted > 20 && n_refused > 20, "%d accepted, %d refused", n_accepted,
                  n_refused);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/model_arch");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, qwen2_has_biases);
    tcase_add_test(reference, qwen3_has_head_norms_and_heads_wider_than_their_share);
    tcase_add_test(reference, gemma3_has_post_norms_and_two_rope_bases);
    tcase_add_test(reference, factors_divide_the_frequencies);
    tcase_add_test(reference, a_linear_factor_divides_them_too);
    tcase_add_test(reference, windows_are_not_stretched);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_set_timeout(failures, 60);
    tcase_add_loop_test(failures, every_missing_tensor_is_named, 1, ARCH_COUNT);
    tcase_add_loop_test(failures, a_vector_of_another_length_is_named, 0,
                        (int)(sizeof(vectors) / sizeof(vectors[0])));
    tcase_add_test(failures, factors_that_cannot_divide_are_refused);
    tcase_add_test(failures, factors_that_could_mean_two_things_are_refused);
    tcase_add_test(failures, parts_of_other_architectures_are_refused);
    tcase_add_loop_test(failures, survives_a_failure_of_every_allocation, ARCH_GEMMA3,
                        ARCH_COUNT);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_set_timeout(property, 60);
    tcase_add_loop_test(property, a_changed_file_is_refused_or_is_a_whole_model, 1,
                        ARCH_COUNT);
    suite_add_tcase(s, property);
    return s;
}
