// What is known of a model before it is weighed, from a table's row or from a file; and stored types.
#include "level2-operator/fit/fit_subject.h"

#include <string.h>

#include "level2-operator/fit/fit_type.h"
#include "level2-operator/model/model.h"
#include "level2-operator/model/ops.h"
#include "tests/support/engine_rig.h"
#include "tests/support/fit_subjects.h"
#include "tests/support/suite.h"

START_TEST(a_table_row_becomes_a_shape) {
    struct fit_subject s = subject_of("latent");
    assert_number("latent row", s.shape.d_latent, 576);
    assert_number("windows of it", s.shape.n_window_layers, 0);
    s = subject_of("windows");
    assert_number("window layers", s.shape.n_window_layers, 15);
    assert_number("window", (int64_t)s.shape.window, 512);
    ck_assert_msg(strstr(s.note, "15 of 18 layers keep 512 tokens only") != NULL,
                  "note: %s", s.note);
    fit_subject_serve(&s, NULL);
    assert_number("window layers, all kept", s.shape.n_window_layers, 0);
    ck_assert_msg(strstr(s.note, "15 layers") != NULL, "note: %s", s.note);
    s = subject_of("some-windows");
    assert_number("window layers, not known", s.shape.n_window_layers, 0);
    ck_assert_msg(strstr(s.note, "not known") != NULL, "note: %s", s.note);
}
END_TEST

START_TEST(a_file_becomes_a_shape) {
    struct fit_subject s;
    struct model m;
    struct error err = {0};
    ck_assert_msg(fit_subject_of_file(&s, tiny_model_path(), &err) == OK, "%s", err.text);
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    assert_number("layers", s.shape.n_layers, m.config.n_layers);
    assert_number("KV heads", s.shape.n_kv_heads, m.config.n_kv_heads);
    assert_number("d_head", s.shape.d_head, m.config.d_head);
    assert_number("context", (int64_t)s.n_ctx, m.config.n_ctx);
    assert_number("tied", s.is_tied, m.is_tied);
    uint64_t n_bytes = 0;
    for (uint64_t i = 0; i < m.gguf.n_tensors; i++)
        n_bytes += m.gguf.tensors[i].view.n_bytes;
    assert_number("stored bytes", (int64_t)s.stored_bytes, (int64_t)n_bytes);
    model_close(&m);
    assert_status("no file", fit_subject_of_file(&s, "no/such.gguf", &err), ERR_IO);
    assert_status("no model", fit_subject_of_file(&s, "README.md", &err), ERR_FORMAT);
}
END_TEST

// What serve stores for a context is what fit says, byte for byte.
START_TEST(the_engine_stores_as_many_bytes_as_fit_says) {

    struct model m;
    struct error err = {0};
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    const struct fit_model shape = fit_shape_of_config(&m.config);
    const struct fit_plan plan = {
        .kv = {1, 4},
          .n_seqs = 1, .n_ctx = 1, .n_split = 1
    };
    static const int lengths[] = {1, 7, 64, 129};
    for (int i = 0; i < ROWS(lengths); i++) {
        struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = lengths[i]};
        assert_status("kv_layout", ops_plain.kv_layout(&layout, &m.config, &err), OK);
        assert_number("bytes of K and V",
                      (int64_t)fit_kv_bytes(&shape, &plan, (uint64_t)lengths[i]),
                      (int64_t)layout.block_bytes);
    }
    model_close(&m);
}
END_TEST

static const struct {
    const char *name;
    bool is_known;
    double bits;
} types[] = {
    {"bf16",      true,  16     },
    {"int8",      true,  8      },
    {"int4",      true,  4      },
    {"int4-g128", true,  4.15625},
    {"q4_k",      true,  4.5    },
    {"q4_1",      true,  5      },
    {"q6_k",      true,  6.5625 },
    {"4.8944",    true,  4.8944 },
    {"64",        true,  64     },
    {"0.4",       false, 0      },
    {"65",        false, 0      },
    {"-4",        false, 0      },
    {"nan",       false, 0      },
    {"int3",      false, 0      },
    {"",          false, 0      },
};

START_TEST(types_have_their_bits) {
    struct fit_type type = {1, 1};
    assert_number(types[_i].name, fit_type_find(&type, types[_i].name), types[_i].is_known);
    if (!types[_i].is_known) return;
    float got = (float)fit_type_bits(type), want = (float)types[_i].bits;
    assert_close(types[_i].name, &got, &want, 1, 1e-7);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_subject");
    TCase *subjects = tcase_in(s, "subjects");
    tcase_add_test(subjects, a_table_row_becomes_a_shape);
    tcase_add_test(subjects, a_file_becomes_a_shape);
    tcase_add_test(subjects, the_engine_stores_as_many_bytes_as_fit_says);
    TCase *stored = tcase_in(s, "types");
    tcase_add_loop_test(stored, types_have_their_bits, 0, ROWS(types));
    return s;
}
