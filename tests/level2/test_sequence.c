// One sequence fed by hand: positions follow each other, clearing forgets, every failure is told.
#include "level2-operator/engine/sequence.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/gguf_file.h"
#include "tests/support/suite.h"

enum { N_CTX = 12, MAX_ROWS = 5 };

static const struct run_limits limits = {MAX_ROWS, MAX_ROWS, 0, N_CTX};
static const token_id tokens[N_CTX] = {5, 17, 2, 90, 3, 3, 41, 8, 60, 11, 7, 29};

static struct arena arena;
static struct model model;
static struct team team;
static struct sequence sequence;

static void setup(void) {
    struct error err = {0};
    arena_init(&arena, 64 << 20);
    ck_assert_msg(model_open(&model, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    ck_assert(team_open(&team, &arena, 2, &err) == OK);
    ck_assert(sequence_init(&sequence, &ops_plain, &model, limits, &team, &arena, &err) ==
              OK);
}

static void teardown(void) {
    team_close(&team);
    model_close(&model);
    arena_free(&arena);
}

static float *last_logits(void) { // of the last row fed; the caller frees them
    size_t n_bytes = sizeof(float) * (size_t)model.config.n_vocab;
    float *copy = malloc(n_bytes);
    ck_assert(copy != NULL);
    return memcpy(copy, sequence_logits(&sequence, 0), n_bytes);
}

START_TEST(pieces_continue_where_the_last_one_ended) {
    size_t n_bytes = sizeof(float) * (size_t)model.config.n_vocab;
    sequence_feed(&sequence, tokens, 5, 1);
    float *together = last_logits();

    sequence_clear(&sequence);
    for (int t = 0; t < 5; t++) sequence_feed(&sequence, &tokens[t], 1, t == 4);
    ck_assert_int_eq(sequence.table.n_tokens, 5);
    ck_assert_mem_eq(sequence_logits(&sequence, 0), together, n_bytes);
    free(together);
}
END_TEST

// LOAD-18: a file without output.weight means the embedding; one that stores the matrix twice says
// the same.
START_TEST(a_tied_model_gives_the_logits_of_one_that_stores_its_matrix_twice) {
    size_t n_bytes = sizeof(float) * (size_t)model.config.n_vocab;
    struct gguf_file file = {0};
    struct sequence other;
    struct model twice;
    struct error err = {0};

    ck_assert(model.is_tied);
    sequence_feed(&sequence, tokens, 5, 1);

    file_load(&file, tiny_model_path());
    file_copy_tensor(&file, "token_embd.weight", "output.weight");
    struct bytes bytes = file_bytes(&file);
    ck_assert_msg(model_parse(&twice, bytes.data, bytes.n, "twice", NULL, &err) == OK, "%s",
                  err.text);
    ck_assert(!twice.is_tied);
    ck_assert(sequence_init(&other, &ops_plain, &twice, limits, &team, &arena, &err) == OK);
    sequence_feed(&other, tokens, 5, 1);
    ck_assert_mem_eq(sequence_logits(&other, 0), sequence_logits(&sequence, 0), n_bytes);

    model_close(&twice);
    bytes_free(&bytes);
    file_free(&file);
}
END_TEST

START_TEST(the_last_rows_get_the_logits) {
    size_t n_bytes = sizeof(float) * (size_t)model.config.n_vocab;
    sequence_feed(&sequence, tokens, 4, 1);
    float *fourth = last_logits();

    sequence_clear(&sequence);
    sequence_feed(&sequence, tokens, 5, 2); // rows 3 and 4
    ck_assert_mem_eq(sequence_logits(&sequence, 0), fourth, n_bytes);
    ck_assert(memcmp(sequence_logits(&sequence, 1), fourth, n_bytes) != 0);
    free(fourth);
}
END_TEST

START_TEST(the_whole_context_can_be_used) {
    for (int t = 0; t < N_CTX; t += 4) sequence_feed(&sequence, tokens + t, 4, 0);
    ck_assert_int_eq(sequence.table.n_tokens, N_CTX);
}
END_TEST

START_TEST(more_than_the_limits_is_a_broken_invariant) {
    if (_i == 0) sequence_feed(&sequence, tokens, MAX_ROWS + 1, 0);
    if (_i == 1) sequence_feed(&sequence, tokens, 1, 2);
    if (_i == 2) {
        for (int t = 0; t <= N_CTX; t++) sequence_feed(&sequence, tokens, 1, 0);
    }
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    struct arena own;
    enum status st = ERR_MEMORY;
    int n = 0;

    arena_init(&own, 64 << 20);
    for (;; n++) {
        struct error err = {0};
        arena_reset(&own);
        arena_fail_after(&own, n);
        st = sequence_init(&sequence, &ops_plain, &model, limits, &team, &own, &err);
        if (st == OK) break;
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_msg(strstr(err.text, "no memory for"), "%s", err.text);
    }
    ck_assert_int_gt(n, 15);
    arena_free(&own);
}
END_TEST

Suite *suite(void) {
    static const char *const names[] = {"reference", "edges", "failures"};
    Suite *s = suite_create("level2/sequence");
    TCase *tc[3];
    for (int i = 0; i < 3; i++) {
        tc[i] = tcase_create(names[i]);
        tcase_add_checked_fixture(tc[i], setup, teardown);
        suite_add_tcase(s, tc[i]);
    }
    tcase_add_test(tc[0], pieces_continue_where_the_last_one_ended);
    tcase_add_test(tc[0], the_last_rows_get_the_logits);
    tcase_add_test(tc[0],
                   a_tied_model_gives_the_logits_of_one_that_stores_its_matrix_twice);
    tcase_add_test(tc[1], the_whole_context_can_be_used);
    tcase_add_test(tc[2], every_failed_allocation_is_an_error);
    tcase_add_loop_test_raise_signal(tc[2], more_than_the_limits_is_a_broken_invariant,
                                     SIGABRT, 0, 3);
    return s;
}
