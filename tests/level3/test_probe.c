// Probes count what they do, and do what they count.
#include "level3-optimizer/probe.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { N_OUT = 33, N_IN = 48 };

static struct arena arena;
static struct team team;
static struct error err;

static void setup(void) {
    arena_init(&arena, SIZE_MAX);
    ck_assert_msg(team_open(&team, &arena, 2, &err) == OK, "%s", err.text);
}

static void teardown(void) {
    team_close(&team);
    arena_free(&arena);
}

static struct weight ones(float *values, int n_out) {
    for (int i = 0; i < n_out * N_IN; i++) values[i] = 1;
    return (struct weight){.dtype = DTYPE_F32,
                           .n_out = n_out,
                           .n_in = N_IN,
                           .file = values,
                           .row_bytes = N_IN * sizeof(float)};
}

START_TEST(a_product_is_done_and_its_operations_counted) {
    static float values[N_OUT * N_IN];
    struct weight w = ones(values, N_OUT);
    struct matmul_probe p;
    ck_assert_int_eq(matmul_probe_init(&p, &w, 3, &team, &arena, &err), OK);
    double n_ops = matmul_probe_run(&p);
    ck_assert_double_gt(n_ops, 0);
    ck_assert_double_eq(fmod(n_ops, 2.0 * 3 * N_OUT * N_IN), 0); // whole products
    for (int t = 0; t < 3; t++) {
        float sum = 0, want[N_OUT];
        for (int i = 0; i < N_IN; i++) sum += p.x[t * N_IN + i];
        for (int o = 0; o < N_OUT; o++) want[o] = sum;
        assert_close("matmul_probe y", p.y + t * N_OUT, want, N_OUT, 1e-5);
    }
}
END_TEST

START_TEST(a_large_matrix_is_cut_to_its_first_rows) {
    static float values[(PROBE_OUT + 1) * N_IN];
    struct weight w = ones(values, PROBE_OUT + 1);
    struct matmul_probe p;
    ck_assert_int_eq(matmul_probe_init(&p, &w, 1, &team, &arena, &err), OK);
    assert_number("rows of the probe", p.weight.n_out, PROBE_OUT);
}
END_TEST

START_TEST(without_memory_it_says_so) {
    static float values[N_OUT * N_IN];
    struct weight w = ones(values, N_OUT);
    struct matmul_probe p;
    arena_fail_after(&arena, _i);
    ck_assert_int_eq(matmul_probe_init(&p, &w, 1, &team, &arena, &err), ERR_MEMORY);
    ck_assert_msg(strstr(err.text, "33 x 48") != NULL, "%s", err.text);
}
END_TEST

START_TEST(a_file_is_read_in_whole_pages) {
    struct mapped_file file;
    ck_assert_msg(mapped_file_open(&file, tiny_model_path(), &err) == OK, "%s", err.text);
    struct read_probe p = {.file = &file, .team = &team};
    assert_number("bytes read", (int64_t)read_probe_run(&p),
                  (int64_t)(file.n_bytes / 4096 * 4096));
    ck_assert(p.checksum != 0);
    mapped_file_close(&file);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level3/probe");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_product_is_done_and_its_operations_counted);
    tcase_add_test(reference, a_large_matrix_is_cut_to_its_first_rows);
    tcase_add_test(reference, a_file_is_read_in_whole_pages);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, without_memory_it_says_so, 0, 3);
    suite_add_tcase(s, failures);
    return s;
}
