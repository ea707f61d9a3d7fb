// The plain stages on their own: what a run takes, and which keys a head reads.
#include "level2-operator/model/ops.h"

#include <string.h>

#include "level2-operator/model/run_plain.h"
#include "tests/support/suite.h"

static struct arena arena;

static void setup(void) {
    arena_init(&arena, 64 << 20);
}

static void teardown(void) {
    arena_free(&arena);
}

// A model that is nothing but its numbers: enough for all that touches no weight.
static struct model numbers(int n_heads, int n_kv_heads, int d_head) {
    return (struct model){
        .config = {.n_layers = 2,
                   .d_model = n_heads * d_head,
                   .n_heads = n_heads,
                   .n_kv_heads = n_kv_heads,
                   .d_head = d_head,
                   .d_ff = 33,
                   .n_vocab = 77,
                   .attention_scale = 1}
    };
}

// ---- reference: the head that a head reads ------------------------------------------------------

static const struct {
    const char *name;
    int n_heads, n_kv_heads, head, want;
} groups[] = {
    {"NUM-05: 32 on 8", 32, 8, 0,  0},
    {"32 on 8",         32, 8, 3,  0},
    {"32 on 8",         32, 8, 4,  1},
    {"32 on 8",         32, 8, 31, 7},
    {"28 on 4",         28, 4, 6,  0},
    {"28 on 4",         28, 4, 7,  1},
    {"28 on 4",         28, 4, 27, 3},
    {"9 on 3",          9,  3, 2,  0},
    {"9 on 3",          9,  3, 3,  1},
    {"9 on 3",          9,  3, 8,  2},
    {"each its own",    4,  4, 3,  3},
    {"one for all",     4,  1, 3,  0},
};

static void attend_once(void *arg, struct worker *me) {
    const struct step *step = ((void **)arg)[1];
    ops_plain.attend(((void **)arg)[0], step, 1, me);
}

// One row at this position attends in layer 1, over a cache that is one long block; queries and keys
// are zeros, so that each value read weighs the same.
static void attend_at(struct run *run, int position, int n_heads) {
    int zero = 0, row;
    struct attention_item items[32];
    struct attention_plan plan = {
        .items = items, .max_items = 32, .rows = &row, .max_rows = 1};
    struct kv_table table = {&zero, 1, 0, 1};
    struct step step = {.n_rows = 1,
                        .position = &position,
                        .sequence = &zero,
                        .tables = &table,
                        .n_tables = 1,
                        .plan = &plan};
    struct team team;
    void *arg[2] = {run, &step};

    ck_assert(team_open(&team, &arena, 1, NULL) == OK);
    attention_plan_simple(&plan, &step, n_heads);
    team_run(&team, attend_once, arg);
    team_close(&team);
}

// A run on a cache of n_ctx zeros.
static struct run *run_on_zeros(struct model *m, struct kv_pool *pool, int n_ctx) {
    struct run_limits limits = {1, 1, 1, n_ctx};
    struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = n_ctx};
    struct run *run;
    ck_assert(ops_plain.kv_layout(&layout, &m->config, NULL) == OK);
    ck_assert(kv_pool_init(pool, &layout, 1, &arena, NULL) == OK);
    ck_assert(ops_plain.run_init(&run, m, pool, &limits, &arena, NULL) == OK);
    return run;
}

START_TEST(neighbouring_heads_share_keys_and_values) { // V of a KV head is its own number
    struct model m = numbers(groups[_i].n_heads, groups[_i].n_kv_heads, 2);
    struct kv_pool pool;
    struct run *run = run_on_zeros(&m, &pool, 1);

    float *v = (float *)(void *)pool.bytes + 3L * groups[_i].n_kv_heads * 2; // layer 1, V
    for (int i = 0; i < groups[_i].n_kv_heads * 2; i++) v[i] = (float)(i / 2);
    attend_at(run, 0, groups[_i].n_heads);

    float got = ((struct run_plain *)run)->mix[groups[_i].head * 2];
    ck_assert_msg(got == (float)groups[_i].want, "%s: head %d reads %g, want %d",
                  groups[_i].name, groups[_i].head, (double)got, groups[_i].want);
}
END_TEST

// ---- reference: the keys that a row reads in a layer with a window ------------------------------

static const struct {
    const char *name;
    int window, position, first; // the row reads keys first .. position
} windows[] = {
    {"no window",                      0,   599, 0  },
    {"a window not yet full",          10,  8,   0  },
    {"just full",                      10,  9,   0  },
    {"one key behind it",              10,  10,  1  },
    {"the row alone",                  1,   300, 300},
    {"up to a segment's end",          10,  255, 246},
    {"across two segments",            10,  260, 251},
    {"from a segment's first key",     10,  265, 256},
    {"longer than a segment",          300, 599, 300},
    {"as long as the text",            600, 599, 0  },
    {"the first segment is left out",  88,  599, 512},
    {"all but one key of it left out", 345, 599, 255},
};

START_TEST(a_window_reads_its_last_keys_and_no_other) { // V of a key is its position
    enum { N_KEYS = 600 };
    struct model m = numbers(1, 1, 2);
    struct kv_pool pool;
    m.config.window = windows[_i].window;
    struct run *run = run_on_zeros(&m, &pool, N_KEYS);

    float *v = (float *)(void *)pool.bytes + 3L * N_KEYS * 2; // layer 1, V
    for (int i = 0; i < N_KEYS * 2; i++) v[i] = (float)(i / 2);
    attend_at(run, windows[_i].position, 1);

    float want = (float)(windows[_i].first + windows[_i].position) / 2; // their mean
    assert_close(windows[_i].name, ((struct run_plain *)run)->mix, &want, 1, 1e-5);
}
END_TEST

// ---- failures and conservation ------------------------------------------------------------------

static const struct run_limits limit_rows[] = {
    {1,  1,  1, 1   },
    {64, 1,  2, 512 },
    {64, 64, 3, 8192},
    {7,  0,  1, 9   }
};

START_TEST(a_run_takes_exactly_the_bytes_it_announced) {
    struct model m = numbers(4, 2, 16);
    struct run *run;
    size_t before = arena.used;
    ck_assert(ops_plain.run_init(&run, &m, NULL, &limit_rows[_i], &arena, NULL) == OK);
    ck_assert_uint_eq(arena.used - before, ops_plain.run_bytes(&m.config, &limit_rows[_i]));
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    struct model m = numbers(4, 2, 16);
    struct run_limits limits = {8, 8, 2, 64};
    enum status st = ERR_MEMORY;
    int n = 0;

    for (; st != OK; n++) {
        struct error err = {0};
        struct run *run = NULL;
        arena_reset(&arena);
        arena_fail_after(&arena, n);
        st = ops_plain.run_init(&run, &m, NULL, &limits, &arena, &err);
        if (st == OK) break;
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_msg(strstr(err.text, "no memory for"), "%s", err.text);
        ck_assert(run == NULL);
    }
    ck_assert_int_gt(n, 10);
}
END_TEST

START_TEST(a_limit_one_byte_short_is_an_error) {
    struct model m = numbers(4, 2, 16);
    struct run_limits limits = {8, 8, 2, 64};
    struct run *run;
    size_t n_bytes = ops_plain.run_bytes(&m.config, &limits);

    arena_init(&arena, n_bytes - 1);
    ck_assert_int_eq(ops_plain.run_init(&run, &m, NULL, &limits, &arena, NULL), ERR_MEMORY);
    arena_free(&arena);
    arena_init(&arena, n_bytes);
    ck_assert_int_eq(ops_plain.run_init(&run, &m, NULL, &limits, &arena, NULL), OK);
}
END_TEST

START_TEST(plain_ops_pack_nothing) {
    struct model m = numbers(4, 2, 16);
    ck_assert_uint_eq(ops_plain.prepare_bytes(&m), 0);
    ck_assert_int_eq(ops_plain.prepare(&m, &arena, NULL, NULL), OK);
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/ops_plain");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, neighbouring_heads_share_keys_and_values, 0,
                        sizeof(groups) / sizeof(groups[0]));
    tcase_add_loop_test(reference, a_window_reads_its_last_keys_and_no_other, 0,
                        sizeof(windows) / sizeof(windows[0]));
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_test(failures, a_limit_one_byte_short_is_an_error);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_loop_test(property, a_run_takes_exactly_the_bytes_it_announced, 0,
                        sizeof(limit_rows) / sizeof(limit_rows[0]));
    tcase_add_test(property, plain_ops_pack_nothing);
    suite_add_tcase(s, property);
    return s;
}
