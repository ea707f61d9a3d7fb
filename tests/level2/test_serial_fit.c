// The serial engine in too little memory: a shorter context where none was asked for, a reason with what
// would help where one was, and what is promised is what the engine then takes.
#include "level2-operator/engine/serial_fit.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/server/loaded_model.h"
#include "tests/support/engine_rig.h"
#include "tests/support/suite.h"

static struct rig rig;

static void setup(void) {
    rig_open_tiny(&rig, 1);
}

static void teardown(void) {
    rig_close(&rig);
}

static uint64_t bytes_at(int n_ctx) {
    struct engine_serial_options o = rig.options;
    struct engine_ledger l;
    o.n_ctx = n_ctx;
    assert_status("engine_serial_ledger", engine_serial_ledger(&rig.model, &o, &l, NULL),
                  OK);
    return ledger_bytes(&l);
}

static int own_choice(void) {
    int n = rig.model.config.n_ctx;
    return n < LIMIT_DEFAULT_CONTEXT ? n : LIMIT_DEFAULT_CONTEXT;
}

START_TEST(with_room_the_engine_chooses) {
    struct engine_serial_options o = rig.options;
    assert_status("no limit", serial_fit(&o, &rig.model, 0, NULL), OK);
    assert_number("context", o.n_ctx, own_choice());
    assert_number("still no limit", (int64_t)o.memory_bytes, 0);
    o = rig.options;
    uint64_t enough = bytes_at(0) + 2 * 64;
    assert_status("enough", serial_fit(&o, &rig.model, enough, NULL), OK);
    assert_number("context", o.n_ctx, own_choice());
}
END_TEST

// Wherever it says that it fits, the engine's own ledger agrees, and a context in the middle was not
// given away.
START_TEST(without_room_the_context_is_shorter) {
    int n_shorter = 0;
    uint64_t low = bytes_at(2), high = bytes_at(0);
    for (int i = 0; i <= 64; i++) {
        uint64_t memory = low + (high - low) / 64 * (uint64_t)i;
        struct engine_serial_options o = rig.options;
        struct error err = {0};
        struct engine *e;
        enum status st = serial_fit(&o, &rig.model, memory, &err);
        if (st != OK) {
            assert_status("serial_fit", st, ERR_MEMORY);
            assert_text("param", err.param, "memory");
            continue;
        }
        ck_assert_int_ge(o.n_ctx, own_choice() < LIMIT_LEAST_CONTEXT ? own_choice()
                                                                     : LIMIT_LEAST_CONTEXT);
        n_shorter += o.n_ctx < own_choice();
        ck_assert_msg(engine_serial_create(&e, &rig.model, &o, &err) == OK, "%s", err.text);
        assert_number("engine_context", engine_context(e), o.n_ctx);
        engine_destroy(e);
        uint64_t left = memory - bytes_at(o.n_ctx),
                 queue = bytes_at(own_choice()) - bytes_at(o.n_ctx);
        ck_assert_msg(o.n_ctx == own_choice() || left < queue + 128,
                      "%d tokens leave %llu bytes", o.n_ctx, (unsigned long long)left);
    }
    if (own_choice() > LIMIT_LEAST_CONTEXT) ck_assert_int_gt(n_shorter, 0);
}
END_TEST

START_TEST(more_memory_than_there_can_be_is_enough) {
    static const uint64_t much[] = {1ull << 54, 1ull << 63, UINT64_MAX};
    for (int i = 0; i < ROWS(much); i++) {
        struct engine_serial_options o = rig.options;
        assert_status("serial_fit", serial_fit(&o, &rig.model, much[i], NULL), OK);
        assert_number("context", o.n_ctx, own_choice());
    }
}
END_TEST

START_TEST(a_refusal_says_what_would_fit) {
    struct engine_serial_options o = rig.options;
    struct error err = {0};
    unsigned long long memory = 0;
    o.n_ctx = own_choice();
    assert_status("serial_fit", serial_fit(&o, &rig.model, bytes_at(0) / 2, &err),
                  ERR_MEMORY);
    const char *advice = strstr(err.text, "--memory ");
    ck_assert_msg(advice && sscanf(advice, "--memory %llu", &memory) == 1, "%s", err.text);
    assert_number("options as they were", o.n_ctx, own_choice());
    assert_status("with that much memory", serial_fit(&o, &rig.model, memory, &err), OK);
    o = rig.options;
    o.n_ctx = own_choice();
    assert_status("a byte less", serial_fit(&o, &rig.model, memory - 1, &err), ERR_MEMORY);

    int shorter = 0;
    advice = strstr(err.text, "--context ");
    ck_assert_msg(advice && sscanf(advice, "--context %d", &shorter) == 1, "%s", err.text);
    o.n_ctx = shorter;
    assert_status("with that context", serial_fit(&o, &rig.model, memory - 1, &err), OK);
}
END_TEST

static unsigned long long number_behind(const char *text, const char *words) {
    unsigned long long n = 0;
    const char *at = strstr(text, words);
    ck_assert_msg(at && sscanf(at + strlen(words), "%llu", &n) == 1, "no \"%s\" in: %s",
                  words, text);
    return n;
}

// The weights alone are too much, or all but no KV is left: then two answers, and both are true.
START_TEST(a_refusal_names_the_least_that_would_do) {
    const uint64_t with_two = bytes_at(2);
    const struct {
        const char *words;
        uint64_t memory;
    } rows[] = {
        {"does not fit: the weights alone are ", 1024    },
        {"does not fit: needs ",                 with_two},
    };
    int n_model = rig.model.config.n_ctx;
    for (int i = 0; i < ROWS(rows); i++) {
        struct engine_serial_options o = rig.options;
        struct error err = {0};
        rig.model.config.n_ctx = 2 * LIMIT_LEAST_CONTEXT; // the tiny model has less
        assert_status("too little", serial_fit(&o, &rig.model, rows[i].memory, &err),
                      ERR_MEMORY);
        ck_assert_msg(strstr(err.text, rows[i].words) == err.text, "%s", err.text);
        uint64_t usual = number_behind(err.text, "what would fit: --memory ");
        uint64_t least = number_behind(err.text, "at the least --memory ");
        int shortest = (int)number_behind(err.text, " --context ");
        assert_number("shortest", shortest, LIMIT_LEAST_CONTEXT);
        ck_assert_uint_lt(least, usual);

        assert_status("the usual", serial_fit(&o, &rig.model, usual, &err), OK);
        assert_number("context", o.n_ctx, 2 * LIMIT_LEAST_CONTEXT);
        o = rig.options;
        assert_status("the least, left to serve", serial_fit(&o, &rig.model, least, &err),
                      OK);
        assert_number("context", o.n_ctx, shortest);
        o = rig.options;
        o.n_ctx = shortest;
        assert_status("the least", serial_fit(&o, &rig.model, least, &err), OK);
        o.n_ctx = shortest;
        assert_status("a byte less", serial_fit(&o, &rig.model, least - 1, &err),
                      ERR_MEMORY);
        rig.model.config.n_ctx = n_model;
    }
}
END_TEST

START_TEST(wrong_options_stay_wrong) {
    struct engine_serial_options o = rig.options;
    struct error err = {0};
    o.n_ctx = rig.model.config.n_ctx + 1;
    assert_status("too long", serial_fit(&o, &rig.model, 1 << 30, &err), ERR_INPUT);
    assert_text("param", err.param, "context");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/serial_fit");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, with_room_the_engine_chooses);
    tcase_add_test(reference, without_room_the_context_is_shorter);
    tcase_add_test(reference, more_memory_than_there_can_be_is_enough);
    tcase_add_test(reference, a_refusal_says_what_would_fit);
    tcase_add_test(reference, a_refusal_names_the_least_that_would_do);
    tcase_add_test(reference, wrong_options_stay_wrong);
    return s;
}
