// Loading a whole model: every matrix found and checked, nothing missing, nothing left over.
#include "level2-operator/model/model.h"

#include <stdio.h>
#include <string.h>

#include "common/half.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/kernels/rows_for.h"
#include "tests/support/gguf_file.h"
#include "tests/support/suite.h"

static struct gguf_file file;
static struct bytes bytes;
static struct model m;
static struct error err;

static void setup(void) {
    file_load(&file, tiny_model_path());
    memset(&m, 0, sizeof(m));
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    model_close(&m);
    bytes_free(&bytes);
    file_free(&file);
}

// Loads the file as it stands now.
static enum status parse(void) {
    model_close(&m);
    bytes_free(&bytes);
    bytes = file_bytes(&file);
    memset(&err, 0, sizeof(err));
    return model_parse(&m, bytes.data, bytes.n, "dir/test.gguf", NULL, &err);
}

static void parse_ok(void) {
    ck_assert_msg(parse() == OK, "%s", err.text);
}

static bool is_closed(void) {
    struct model closed = {0};
    return m.arena.chunks == NULL && m.file.n_maps == 0 && m.layers == NULL &&
           m.config.n_layers == closed.config.n_layers;
}

static struct file_tensor *tensor(const char *name) {
    struct file_tensor *t = file_tensor(&file, name);
    ck_assert_msg(t != NULL, "the tiny model has no tensor %s", name);
    return t;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(opens_the_tiny_model) {
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    ck_assert_str_eq(m.name, "Tiny Ladder");
    ck_assert(m.chat.is_there && m.chat.st == OK);
    ck_assert(m.is_tied);
    ck_assert_int_eq(m.tokenizer.n_vocab, m.config.n_vocab);
    ck_assert_ptr_eq(m.output.file, m.token_embd.file);

    const struct weight *w = &m.layers[2].down;
    ck_assert_int_eq(w->n_out, 64);
    ck_assert_int_eq(w->n_in, 96);
    const struct gguf_tensor *t = gguf_find_tensor(&m.gguf, "blk.2.ffn_down.weight");
    ck_assert_ptr_eq(w->file, t->view.data);
    ck_assert_uint_eq(w->row_bytes * 64, t->view.n_bytes);
    ck_assert_int_eq(m.layers[0].k.n_out, 32);
    ck_assert_int_eq(m.layers[0].o.n_in, 64);
}
END_TEST

START_TEST(norms_become_floats_whatever_they_were) {
    struct file_tensor *t = tensor("blk.1.ffn_norm.weight");
    float want[64];
    t->type = 1; // F16
    bytes_free(&t->data);
    for (int i = 0; i < 64; i++) {
        uint16_t half = f16_from_f32((float)i / 8);
        put_raw(&t->data, &half, sizeof(half));
        want[i] = (float)i / 8;
    }
    parse_ok();
    assert_close("norm", m.layers[1].ffn_norm, want, 64, 0);
}
END_TEST

START_TEST(a_tied_output_equals_one_that_is_stored_twice) {
    float tied[64], twice[64];
    parse_ok();
    ck_assert(m.is_tied);
    rows_for(m.output.dtype)(tied, (const char *)m.output.file + 300 * m.output.row_bytes,
                             64);

    file_copy_tensor(&file, "token_embd.weight", "output.weight");
    parse_ok();
    ck_assert(!m.is_tied);
    ck_assert(m.output.file != m.token_embd.file);
    rows_for(m.output.dtype)(twice, (const char *)m.output.file + 300 * m.output.row_bytes,
                             64);
    assert_close("row 300", twice, tied, 64, 0);
    ck_assert_int_eq(memcmp(m.output.file, m.token_embd.file, m.output.row_bytes * 579), 0);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_model_without_a_name_is_called_like_its_file) {
    file_drop(&file, "general.name");
    parse_ok();
    ck_assert_str_eq(m.name, "test.gguf");
    file_set_string(&file, "general.name", "");
    parse_ok();
    ck_assert_str_eq(m.name, "test.gguf");
    file_set_string(&file, "general.name", "\xff\xfe");
    parse_ok();
    ck_assert_str_eq(m.name, "test.gguf");
}
END_TEST

START_TEST(tensors_may_come_in_any_order_and_be_aligned_wider) {
    struct file_tensor first = file.tensors[0];
    memmove(&file.tensors[0], &file.tensors[1], (file.n_tensors - 1) * sizeof(first));
    file.tensors[file.n_tensors - 1] = first;
    file.alignment = 128;
    parse_ok();
    ck_assert_int_eq(
        (int)((uintptr_t)((const unsigned char *)m.token_embd.file - bytes.data) % 128), 0);
}
END_TEST

START_TEST(closing_twice_and_closing_nothing_is_safe) {
    struct model never_opened = {0};
    parse_ok();
    model_close(&m);
    model_close(&m);
    ck_assert(is_closed());
    model_close(&never_opened);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(an_empty_file_lacks_its_architecture) { // LOAD-03
    file_free(&file);
    ck_assert_int_eq(parse(), ERR_FORMAT);
    ck_assert_str_eq(err.param, "general.architecture");
    ck_assert(is_closed());
}
END_TEST

START_TEST(every_missing_tensor_is_named) {
    size_t n_tensors = file.n_tensors;
    for (size_t i = 0; i < n_tensors; i++) {
        char name[64];
        file_free(&file);
        file_load(&file, tiny_model_path());
        snprintf(name, sizeof(name), "%s", file.tensors[i].name);
        file_drop_tensor(&file, name);
        ck_assert_msg(parse() == ERR_FORMAT, "without %s: %s", name, err.text);
        ck_assert_str_eq(err.param, name);
        ck_assert_msg(strstr(err.text, "missing") != NULL, "%s", err.text);
        ck_assert(is_closed());
    }
}
END_TEST

// One row more, one block of columns more, one dimension more: each is refused by name.
static void grow_data(struct file_tensor *t) {
    unsigned char more[4096] = {0};
    for (size_t n = t->data.n; n; n = n > sizeof(more) ? n - sizeof(more) : 0)
        put_raw(&t->data, more, sizeof(more));
}

START_TEST(every_wrong_shape_is_named) {
    size_t n_tensors = file.n_tensors;
    for (size_t i = 0; i < n_tensors; i++) {
        for (int d = 0; d < 3; d++) {
            file_free(&file);
            file_load(&file, tiny_model_path());
            struct file_tensor *t = &file.tensors[i];
            if (d == 2) {
                t->n_dims = 3;
                t->dim[2] = 2;
            } else if (t->n_dims > (uint32_t)d) {
                t->dim[d] += 32;
            } else {
                t->n_dims = 2;
                t->dim[1] = 2;
            }
            grow_data(t);
            grow_data(t);
            enum status st = parse();
            ck_assert_msg(st == ERR_FORMAT, "%s, dimension %d: %s", t->name, d, err.text);
            ck_assert_str_eq(err.param, t->name);
            ck_assert_msg(strstr(err.text, " at byte ") != NULL, "%s", err.text);
        }
    }
}
END_TEST

START_TEST(a_tensor_that_nobody_reads_is_refused) {
    static const char *const extras[] = {
        "rope_factors_long.weight", "blk.0.attn_norm.bias", "blk.0.attn_q_norm.weight",
        "blk.0.post_ffw_norm.weight", "blk.3.attn_norm.weight"};
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
        file_free(&file);
        file_load(&file, tiny_model_path());
        file_copy_tensor(&file, "blk.0.attn_norm.weight", extras[i]);
        ck_assert_int_eq(parse(), ERR_UNSUPPORTED);
        ck_assert_str_eq(err.param, extras[i]);
        ck_assert(is_closed());
    }
}
END_TEST

// The format has the type and its size is known, so the file is whole; but nobody can compute with it.
START_TEST(a_type_that_is_not_read_is_refused_by_name) {
    static const struct {
        const char *tensor;
        enum dtype dtype;
    } unread[] = {
        {"blk.1.ffn_up.weight",    DTYPE_IQ4_NL},
        {"blk.0.attn_norm.weight", DTYPE_I32   },
        {"token_embd.weight",      DTYPE_MXFP4 },
    };
    for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
        file_free(&file);
        file_load(&file, tiny_model_path());
        struct file_tensor *t = tensor(unread[i].tensor);
        const char *name = dtype_info(unread[i].dtype)->name;
        t->type = dtype_info(unread[i].dtype)->gguf_type; // none of them needs more bytes
        ck_assert_int_eq(parse(), ERR_UNSUPPORTED);
        ck_assert_str_eq(err.param, unread[i].tensor);
        ck_assert_msg(strstr(err.text, name) != NULL, "%s: no %s", err.text, name);
        ck_assert(is_closed());
    }
}
END_TEST

START_TEST(layers_that_the_file_cannot_hold_cost_nothing) {
    struct model_options small = {.arena_limit = 24 << 10};
    struct gguf_file few = {0};
    file_free(&file);
    file_load(&few, tiny_model_path());
    while (few.n_tensors) file_drop_tensor(&few, few.tensors[0].name);
    file_drop(&few, "tokenizer.ggml.tokens");
    file_drop(&few, "tokenizer.ggml.merges");
    file_set_u32(&few, "llama.block_count", 1024);
    bytes = file_bytes(&few);
    enum status st = model_parse(&m, bytes.data, bytes.n, "few.gguf", &small, &err);
    ck_assert_msg(st == ERR_FORMAT, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(err.text, "1024 layers"));
    file_free(&few);
}
END_TEST

START_TEST(scores_of_the_wrong_type_are_refused) { // LOAD-19
    unsigned char scores[579] = {0};
    file_set_array(&file, "tokenizer.ggml.scores", GGUF_U8, 579, scores, sizeof(scores));
    ck_assert_int_eq(parse(), ERR_FORMAT);
    ck_assert_str_eq(err.param, "tokenizer.ggml.scores");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named) {
    ck_assert_int_eq(model_open(&m, "build/no-such-model.gguf", NULL, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "build/no-such-model.gguf"));
    ck_assert(is_closed());
}
END_TEST

START_TEST(survives_a_failure_of_every_allocation) {
    struct model_options options = {0};
    enum status st = ERR_MEMORY;

    bytes = file_bytes(&file);
    while (st != OK) {
        options.fail_at++;
        ck_assert_int_lt(options.fail_at, 200);
        memset(&err, 0, sizeof(err));
        st = model_parse(&m, bytes.data, bytes.n, "test.gguf", &options, &err);
        if (st == OK) break;
        ck_assert_msg(st == ERR_MEMORY, "allocation %ld: %s", options.fail_at, err.text);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_str_ne(err.text, "");
        ck_assert(is_closed());
    }
    ck_assert_int_gt(options.fail_at,
                     13); // tables 4, layers 2, norms 7, then the tokenizer
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// A changed byte in header or tables: refused with a reason, or a model whose every row can be read.
START_TEST(a_changed_file_is_refused_or_is_a_whole_model) {
    struct draw d = draw_start("model mutations");
    float row[4096];
    int n_accepted = 0, n_refused = 0;
    parse_ok();
    int n_tables = (int)m.gguf.data_offset;

    for (int i = 0; i < 2000; i++) {
        int at = draw_int(&d, 0, n_tables - 1);
        unsigned char old = bytes.data[at];
        bytes.data[at] = (unsigned char)draw_u64(&d);
        model_close(&m);
        memset(&err, 0, sizeof(err));
        if (model_parse(&m, bytes.data, bytes.n, "test.gguf", NULL, &err) == OK) {
            const struct weight *w = &m.layers[m.config.n_layers - 1].down;
            const char *last =
                (const char *)w->file + (size_t)(w->n_out - 1) * w->row_bytes;
            if (w->n_in <= 4096) rows_for(w->dtype)(row, last, w->n_in); // ASan looks on
            n_accepted++;
        } else {
            ck_assert_msg(err.text[0] && err.code != ERR_MEMORY, "byte %d: %s", at,
                          err.text);
            n_refused++;
        }
        bytes.data[at] = old;
    }
    ck_assert_msg(n_accepted > 50 && n_refused > 50, "%d accepted, %d refused", n_accepted,
                  n_refused);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/model");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, opens_the_tiny_model);
    tcase_add_test(reference, norms_become_floats_whatever_they_were);
    tcase_add_test(reference, a_tied_output_equals_one_that_is_stored_twice);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_model_without_a_name_is_called_like_its_file);
    tcase_add_test(edges, tensors_may_come_in_any_order_and_be_aligned_wider);
    tcase_add_test(edges, closing_twice_and_closing_nothing_is_safe);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_set_timeout(failures, 60);
    tcase_add_test(failures, an_empty_file_lacks_its_architecture);
    tcase_add_test(failures, every_missing_tensor_is_named);
    tcase_add_test(failures, every_wrong_shape_is_named);
    tcase_add_test(failures, a_tensor_that_nobody_reads_is_refused);
    tcase_add_test(failures, a_type_that_is_not_read_is_refused_by_name);
    tcase_add_test(failures, layers_that_the_file_cannot_hold_cost_nothing);
    tcase_add_test(failures, scores_of_the_wrong_type_are_refused);
    tcase_add_test(failures, a_file_that_is_not_there_is_named);
    tcase_add_test(failures, survives_a_failure_of_every_allocation);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_set_timeout(property, 60);
    tcase_add_test(property, a_changed_file_is_refused_or_is_a_whole_model);
    suite_add_tcase(s, property);
    return s;
}
