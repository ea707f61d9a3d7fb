// The serial engine before the first token: what it takes, what it refuses, what it costs.
#include <stdio.h>
#include <string.h>

#include "tests/support/engine_rig.h"
#include "tests/support/suite.h"

enum { N_VOCAB = 40, N_CTX = 200, EOS = 39 };

static struct rig rig;

static void open_fake(void) {
    rig_open_fake(&rig, N_VOCAB, N_CTX, EOS);
}

static void close_rig(void) {
    rig_close(&rig);
}

// --- requests -----------------------------------------------------------------------------------

START_TEST(copies_all_of_a_request) {
    struct answer a, b;
    token_id stop_ids[] = {17};
    struct logit_bias bias[] = {
        {5, 50}
    };
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 30, 9);
    p.stop_ids = stop_ids;
    p.n_stop_ids = 1;
    p.sampling.bias = bias;
    p.sampling.n_bias = 1;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.n_tokens, 9);
    for (int i = 0; i < 9; i++) ck_assert_int_eq(a.tokens[i], 5); // the bias is that strong
    request_id id = rig_submit(&rig, &p);
    memset(rig.prompt, 0, sizeof(rig.prompt));
    stop_ids[0] = 5;
    bias[0].token = 6;
    rig_finish(&rig, id, &b);
    rig_check_same("a request changed after submit", &b, &a);
}
END_TEST

START_TEST(refuses_when_the_queue_is_full) {
    struct error err;
    request_id id, last = 0;
    rig.options.max_waiting = 3;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 5);
    for (int i = 0; i < 3; i++) last = rig_submit(&rig, &p);
    ck_assert_int_eq(engine_submit(rig.engine, &p, &id, &err), ERR_BUSY);
    ck_assert_int_eq(err.code, ERR_BUSY);
    engine_step(rig.engine); // one runs: there is room again
    rig_submit(&rig, &p);
    ck_assert_int_eq(engine_submit(rig.engine, &p, &id, &err), ERR_BUSY);
    engine_cancel(rig.engine, last);
    engine_step(rig.engine);
    rig_submit(&rig, &p);
    ck_assert_int_eq(rig_stats(&rig).n_waiting, 3);
    ck_assert_int_eq(rig_stats(&rig).n_running, 1);
    while (engine_step(rig.engine)) continue;
    ck_assert_uint_eq(rig_stats(&rig).n_finished, 4);
}
END_TEST

START_TEST(refuses_a_prompt_that_leaves_no_room) { // KV-01, and serves the next one
    static token_id long_prompt[N_CTX];
    struct error err;
    struct answer a;
    request_id id;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 5);
    p.prompt = long_prompt;
    p.n_prompt = N_CTX;
    ck_assert_int_eq(engine_submit(rig.engine, &p, &id, &err), ERR_CONTEXT);
    ck_assert_ptr_nonnull(strstr(err.text, "200 tokens"));
    ck_assert_ptr_nonnull(strstr(err.text, "may have 200"));
    p.n_prompt = N_CTX - 1;
    rig_ask(&rig, &p, &a);
    ck_assert_int_le(a.n_tokens, 1);
    ck_assert_int_eq(engine_context(rig.engine), N_CTX);
}
END_TEST

START_TEST(refuses_what_no_request_may_ask_for) {
    struct logit_bias bias[] = {
        {N_VOCAB, 1}
    }; // SMP-10
    struct error err;
    struct answer a;
    request_id id;
    rig_start(&rig);
    struct engine_params p = rig_greedy(&rig, 5, 5);
    p.sampling.bias = bias;
    p.sampling.n_bias = 1;
    ck_assert_int_eq(engine_submit(rig.engine, &p, &id, &err), ERR_INPUT);
    ck_assert_str_eq(err.param, "logit_bias");
    p.sampling.n_bias = 0;
    rig_ask(&rig, &p, &a);
    ck_assert_int_eq(a.n_finishes, 1);
}
END_TEST

// --- engines ------------------------------------------------------------------------------------

START_TEST(says_so_when_memory_is_short_at_any_point) {
    struct engine *e;
    for (long n = 0;; n++) {
        struct arena arena;
        struct error err = {0};
        arena_init(&arena, 64 << 20);
        arena_fail_after(&arena, n);
        enum status st =
            engine_serial_create_in(&e, &rig.model, &rig.options, &arena, &err);
        if (st == OK) engine_destroy(e);
        arena_free(&arena);
        if (st == OK) {
            ck_assert_int_gt(n, 10);
            return;
        }
        ck_assert_ptr_null(e);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_uint_gt(strlen(err.text), 0);
    }
}
END_TEST

START_TEST(takes_exactly_what_the_ledger_says) {
    static const int sizes[][3] = {
        {0,   0,  0 },
        {2,   1,  1 },
        {33,  7,  5 },
        {199, 64, 64}
    };
    for (int i = 0; i < 4; i++) {
        struct engine_ledger l;
        struct error err = {0};
        struct arena arena;
        struct engine *e;
        rig.options.n_ctx = sizes[i][0];
        rig.options.step_rows = sizes[i][1];
        rig.options.max_waiting = sizes[i][2];
        rig.options.memory_bytes = 0;
        ck_assert_int_eq(engine_serial_ledger(&rig.model, &rig.options, &l, NULL), OK);
        arena_init(&arena, 64 << 20);
        ck_assert_int_eq(
            engine_serial_create_in(&e, &rig.model, &rig.options, &arena, NULL), OK);
        uint64_t needed = l.kv_bytes + l.activation_bytes + l.other_bytes;
        ck_assert_uint_eq(arena.used, needed);
        engine_destroy(e);
        arena_free(&arena);

        rig.options.memory_bytes = needed - 1;
        ck_assert_int_eq(engine_serial_create(&e, &rig.model, &rig.options, &err),
                         ERR_MEMORY);
        char text[32];
        snprintf(text, sizeof(text), "%llu bytes", (unsigned long long)needed);
        ck_assert_ptr_nonnull(strstr(err.text, text));
        snprintf(text, sizeof(text), "%llu are allowed", (unsigned long long)needed - 1);
        ck_assert_ptr_nonnull(strstr(err.text, text));
        rig.options.memory_bytes = needed;
        ck_assert_int_eq(engine_serial_create(&e, &rig.model, &rig.options, NULL), OK);
        engine_destroy(e);
    }
}
END_TEST

START_TEST(refuses_options_out_of_range) {
    static const struct {
        int n_ctx, step_rows, max_waiting;
        const char *param;
    } bad[] = {
        {N_CTX + 1, 0,  0,  "context"    },
        {1,         0,  0,  "context"    },
        {-5,        0,  0,  "context"    },
        {0,         -1, 0,  "step_rows"  },
        {0,         65, 0,  "step_rows"  },
        {0,         0,  -1, "max_waiting"},
        {0,         0,  65, "max_waiting"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct engine *e;
        struct error err = {0};
        rig.options.n_ctx = bad[i].n_ctx;
        rig.options.step_rows = bad[i].step_rows;
        rig.options.max_waiting = bad[i].max_waiting;
        ck_assert_int_eq(engine_serial_create(&e, &rig.model, &rig.options, &err),
                         ERR_INPUT);
        ck_assert_str_eq(err.param, bad[i].param);
        ck_assert_ptr_null(e);
    }
}
END_TEST

START_TEST(refuses_a_cache_type_that_its_ops_cannot_read) {
    struct engine *e;
    struct error err = {0};
    rig.options.ops = &ops_plain;
    rig.options.kv_dtype = DTYPE_I8;
    ck_assert_int_eq(engine_serial_create(&e, &rig.model, &rig.options, &err),
                     ERR_UNSUPPORTED);
    ck_assert_ptr_null(e);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/engine_serial");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, open_fake, close_rig);
    tcase_add_test(reference, copies_all_of_a_request);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, open_fake, close_rig);
    tcase_add_test(failures, refuses_when_the_queue_is_full);
    tcase_add_test(failures, refuses_a_prompt_that_leaves_no_room);
    tcase_add_test(failures, refuses_what_no_request_may_ask_for);
    tcase_add_test(failures, says_so_when_memory_is_short_at_any_point);
    tcase_add_test(failures, refuses_options_out_of_range);
    tcase_add_test(failures, refuses_a_cache_type_that_its_ops_cannot_read);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, open_fake, close_rig);
    tcase_set_timeout(property, 120);
    tcase_add_test(property, takes_exactly_what_the_ledger_says);
    suite_add_tcase(s, property);
    return s;
}
