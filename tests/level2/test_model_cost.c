// The constants of a model, counted by hand for the tiny one.
#include "level2-operator/model/model_cost.h"

#include <string.h>

#include "tests/support/suite.h"

static struct model m;
static struct error err;

static void setup(void) {
    memset(&err, 0, sizeof(err));
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
}

static void teardown(void) {
    model_close(&m);
}

// d_model 64, 4 heads and 2 KV heads of 16, d_ff 96, 3 layers.
//   a layer:  Wq, Wo 2 * 64*64 = 8,192    Wk, Wv 2 * 32*64 = 4,096
//             gate, up, down 3 * 64*96 = 18,432         sum 30,720
START_TEST(counts_are_those_of_a_hand) {
    struct cost_model c = model_cost(&m, DTYPE_F32);
    assert_number("model_cost(tiny) layer_weights", (int64_t)c.layer_weights, 3 * 30720);
    assert_number("model_cost(tiny) head_weights", (int64_t)c.head_weights,
                  (int64_t)m.config.n_vocab * 64);
    assert_number("model_cost(tiny) kv_values", (int64_t)c.kv_values, 2 * 3 * 2 * 16);
    assert_number("model_cost(tiny) ops_per_row_key", (int64_t)c.ops_per_row_key,
                  4 * 3 * 4 * 16);
}
END_TEST

// The tiny model stores its matrices as all types in turn: the bytes are those of the file's tensors.
START_TEST(bytes_are_those_of_the_file) {
    struct cost_model c = model_cost(&m, DTYPE_F32);
    double sum = 0;
    for (uint64_t i = 0; i < m.gguf.n_tensors; i++) {
        const struct gguf_tensor *t = &m.gguf.tensors[i];
        bool is_matrix = t->view.dim[1] > 1;
        if (is_matrix && t->view.data != m.output.file) sum += (double)t->view.n_bytes;
    }
    ck_assert_double_eq_tol(c.layer_weights * c.bytes_per_weight, sum, 1e-6);
    ck_assert_double_eq_tol(c.head_weights * c.bytes_per_head_weight,
                            (double)m.output.row_bytes * m.output.n_out, 1e-6);
}
END_TEST

START_TEST(keys_and_values_cost_what_their_type_takes) {
    ck_assert_double_eq(model_cost(&m, DTYPE_F32).bytes_per_kv_value, 4);
    ck_assert_double_eq(model_cost(&m, DTYPE_F16).bytes_per_kv_value, 2);
    ck_assert_double_eq(model_cost(&m, DTYPE_I8).bytes_per_kv_value, 1);
    ck_assert_double_eq(model_cost(&m, DTYPE_Q8_0).bytes_per_kv_value, 34.0 / 32);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/model_cost");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, counts_are_those_of_a_hand);
    tcase_add_test(reference, bytes_are_those_of_the_file);
    tcase_add_test(reference, keys_and_values_cost_what_their_type_takes);
    suite_add_tcase(s, reference);
    return s;
}
