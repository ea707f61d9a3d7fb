// One answer in the making: text held back until it is whole, stop strings, counts, log
// probabilities, and the ways it ends.
#include "level2-operator/api/generation.h"

#include <string.h>

#include "common/utf8.h"
#include "tests/support/pieces.h"
#include "tests/support/suite.h"

enum { MAX_TOKENS = 32 };

struct fixture {
    struct tokenizer tokenizer;
    struct api_request request;
    struct arena arena;
    struct generation g;
};

static void open_fixture(struct fixture *f, const char *stop, int n_top) {
    memset(f, 0, sizeof(*f));
    f->tokenizer = pieces_tokenizer();
    f->request.params.n_top_logprobs = n_top;
    if (stop)
        f->request.stops[f->request.n_stops++] = (struct stop_string){stop, strlen(stop)};
    arena_init(&f->arena, 1 << 20);
}

static void start(struct fixture *f) {
    ck_assert_int_eq(generation_init(&f->g, 0, &f->request, &f->tokenizer, PIECE_MAX_BYTES,
                                     MAX_TOKENS, &f->arena, NULL),
                     OK);
}

static void close_fixture(struct fixture *f) {
    generation_free(&f->g);
    arena_free(&f->arena);
}

static bool give(struct fixture *f, struct engine_event ev) {
    bool cancel;
    generation_event(&f->g, &ev, &cancel);
    return cancel;
}

static bool draw(struct fixture *f, token_id id) {
    return give(f, (struct engine_event){
                       .kind = EVENT_TOKEN, .drawn = {id, -0.5f}
    });
}

static void finish(struct fixture *f, enum finish_reason reason) {
    ck_assert(!give(f, (struct engine_event){.kind = EVENT_FINISH, .reason = reason}));
}

static void assert_answer(const struct fixture *f, const char *want) {
    struct api_piece piece = generation_piece(&f->g);
    ck_assert_uint_eq(piece.n_text, strlen(want));
    if (piece.n_text) ck_assert_mem_eq(piece.text, want, piece.n_text);
}

START_TEST(a_character_in_two_tokens_comes_whole) {
    struct fixture f;
    open_fixture(&f, NULL, -1);
    start(&f);
    draw(&f, PIECE_GRIN_3);
    assert_answer(&f, "");
    draw(&f, PIECE_GRIN_1);
    assert_answer(&f, "\xF0\x9F\x98\x80");
    close_fixture(&f);
}
END_TEST

START_TEST(half_a_character_at_the_end_is_one_replacement) {
    struct fixture f;
    open_fixture(&f, NULL, -1);
    start(&f);
    draw(&f, PIECE_GRIN_3);
    finish(&f, FINISH_LENGTH);
    assert_answer(&f, "\xEF\xBF\xBD");
    ck_assert_str_eq(f.g.finish_reason, "length");
    close_fixture(&f);
}
END_TEST

START_TEST(a_stop_string_over_three_tokens_ends_before_it) {
    struct fixture f;
    open_fixture(&f, "own fox", -1);
    start(&f);
    ck_assert(!draw(&f, PIECE_THE_QUICK_BR));
    ck_assert(!draw(&f, PIECE_OWN));
    assert_answer(&f, "The quick br");
    ck_assert(draw(&f, PIECE_FOX)); // the engine need not go on
    assert_answer(&f, "The quick br");
    ck_assert(f.g.is_over);
    ck_assert_str_eq(f.g.finish_reason, "stop");
    ck_assert_int_eq(f.g.n_completion, 3); // up to the one that completed it

    ck_assert(!draw(&f, PIECE_E)); // late events change nothing
    finish(&f, FINISH_CANCELLED);
    assert_answer(&f, "The quick br");
    ck_assert_str_eq(f.g.finish_reason, "stop");
    ck_assert_int_eq(f.g.n_completion, 3);
    close_fixture(&f);
}
END_TEST

START_TEST(the_stop_string_is_shown_on_demand) {
    struct fixture f;
    open_fixture(&f, "own fox", -1);
    f.request.include_stop = true;
    start(&f);
    draw(&f, PIECE_THE_QUICK_BR);
    draw(&f, PIECE_OWN);
    draw(&f, PIECE_FOX);
    assert_answer(&f, "The quick brown fox");
    close_fixture(&f);
}
END_TEST

START_TEST(a_held_tail_comes_when_no_match_does) {
    struct fixture f;
    open_fixture(&f, "END", -1);
    start(&f);
    draw(&f, PIECE_OWN);
    draw(&f, PIECE_E);
    assert_answer(&f, "own"); // E may become END
    draw(&f, PIECE_FOX);
    assert_answer(&f, "ownE fox"); // it cannot any more
    draw(&f, PIECE_E);
    finish(&f, FINISH_STOP);
    assert_answer(&f, "ownE foxE");
    close_fixture(&f);
}
END_TEST

static const struct {
    enum finish_reason reason;
    const char *want; // NULL: failed
    enum status code;
} endings[] = {
    {FINISH_STOP,      "stop",   OK         },
    {FINISH_LENGTH,    "length", OK         },
    {FINISH_CANCELLED, NULL,     ERR_STATE  },
    {FINISH_ERROR,     NULL,     ERR_NUMERIC},
};

START_TEST(every_ending_has_its_name) {
    struct fixture f;
    open_fixture(&f, NULL, -1);
    start(&f);
    struct engine_event ev = {
        .kind = EVENT_FINISH, .reason = endings[_i].reason, .n_prompt = 7, .n_cached = 5};
    if (ev.reason == FINISH_ERROR) error_set(&ev.err, ERR_NUMERIC, "no number");
    give(&f, ev);
    ck_assert(f.g.is_over);
    ck_assert(f.g.n_prompt == 7 && f.g.n_cached == 5 && f.g.n_completion == 0);
    ck_assert_int_eq(f.g.err.code, endings[_i].code);
    if (endings[_i].want) {
        ck_assert_str_eq(f.g.finish_reason, endings[_i].want);
    } else {
        ck_assert_ptr_null(f.g.finish_reason);
        ck_assert(f.g.err.text[0]);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(control_tokens_are_silent_but_count) {
    for (int show = 0; show < 2; show++) {
        struct fixture f;
        open_fixture(&f, NULL, -1);
        f.request.show_special = show;
        start(&f);
        draw(&f, PIECE_E);
        draw(&f, PIECE_END_MARK);
        draw(&f, PIECE_N);
        assert_answer(&f, show ? "E<|end|>N" : "EN");
        ck_assert_int_eq(f.g.n_completion, 3);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(log_probabilities_keep_their_token) {
    struct fixture f;
    open_fixture(&f, NULL, 2);
    start(&f);
    give(&f, (struct engine_event){
                 .kind = EVENT_TOKEN,
                 .drawn = {PIECE_E_ACUTE,    -1.5f                 },
                 .n_top = 2,
                 .top = {{PIECE_N, -0.5f}, {PIECE_E_ACUTE, -1.5f}}
    });
    give(&f, (struct engine_event){
                 .kind = EVENT_TOKEN,
                 .drawn = {PIECE_D, -2},
                 .n_top = 1,
                 .top = {{PIECE_D, -2}      }
    });

    struct api_piece piece = generation_piece(&f.g);
    ck_assert(piece.has_logprobs && piece.n_tokens == 2 && piece.n_top == 2);
    ck_assert_int_eq(piece.logprobs[0].token, PIECE_E_ACUTE);
    ck_assert_int_eq(piece.logprobs[1].token, PIECE_N);
    ck_assert_int_eq(piece.logprobs[2].token, PIECE_E_ACUTE);
    ck_assert_int_eq(piece.logprobs[3].token, PIECE_D);
    ck_assert_int_eq(piece.logprobs[4].token, PIECE_D);
    ck_assert_int_eq(piece.logprobs[5].token, -1);             // there was no second one
    ck_assert(piece.offsets[0] == 0 && piece.offsets[1] == 1); // characters, not bytes

    generation_clear(&f.g);
    piece = generation_piece(&f.g);
    ck_assert(piece.n_tokens == 0 && piece.n_text == 0);
    draw(&f, PIECE_OWN);
    piece = generation_piece(&f.g);
    ck_assert(piece.n_tokens == 1 && piece.offsets[0] == 2);
    close_fixture(&f);
}
END_TEST

// Whoever takes the text in pieces gets the same bytes as who takes it at the end.
START_TEST(pieces_add_up_to_the_whole) {
    struct draw d = draw_start("pieces_add_up_to_the_whole");
    for (int round = 0; round < 200; round++) {
        struct fixture whole, cut;
        char text[MAX_TOKENS * PIECE_MAX_BYTES * 3 + 16];
        size_t n_text = 0;
        open_fixture(&whole, round % 2 ? "END" : NULL, -1);
        open_fixture(&cut, round % 2 ? "END" : NULL, -1);
        start(&whole);
        start(&cut);
        for (int i = 0; i <= MAX_TOKENS; i++) {
            if (i == MAX_TOKENS) {
                finish(&whole, FINISH_LENGTH);
                finish(&cut, FINISH_LENGTH);
            } else {
                token_id id = draw_int(&d, 0, PIECE_COUNT - 1);
                draw(&whole, id);
                draw(&cut, id);
            }
            if (i < MAX_TOKENS && draw_int(&d, 0, 2)) continue;
            struct api_piece piece = generation_piece(&cut.g);
            if (!piece.n_text) continue;
            ck_assert(utf8_valid(piece.text, piece.n_text));
            memcpy(text + n_text, piece.text, piece.n_text);
            n_text += piece.n_text;
            generation_clear(&cut.g);
        }
        struct api_piece all = generation_piece(&whole.g);
        ck_assert_uint_eq(n_text, all.n_text);
        if (n_text) ck_assert_mem_eq(text, all.text, n_text);
        ck_assert_int_eq(whole.g.n_completion, cut.g.n_completion);
        close_fixture(&whole);
        close_fixture(&cut);
    }
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    bool succeeded = false;
    for (long n = 0; n < 20 && !succeeded; n++) {
        struct fixture f;
        struct error err = {0};
        open_fixture(&f, "END", 1);
        arena_fail_after(&f.arena, n);
        enum status st = generation_init(&f.g, 0, &f.request, &f.tokenizer, PIECE_MAX_BYTES,
                                         MAX_TOKENS, &f.arena, &err);
        succeeded = st == OK;
        if (st) ck_assert(st == ERR_MEMORY && err.code == st);
        close_fixture(&f);
    }
    ck_assert(succeeded);
}
END_TEST

// An engine that draws more than it was asked for meets the bound and not the machine's memory.
START_TEST(too_many_tokens_end_the_answer) {
    struct fixture f;
    bool cancelled = false;
    open_fixture(&f, NULL, 0);
    start(&f);
    for (int i = 0; i <= MAX_TOKENS; i++) cancelled = draw(&f, PIECE_THE_QUICK_BR);
    ck_assert(cancelled && f.g.is_over && f.g.err.code == ERR_MEMORY);
    ck_assert_ptr_null(f.g.finish_reason);
    close_fixture(&f);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/generation");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures");
    TCase *property = tcase_create("property");

    tcase_add_test(reference, a_character_in_two_tokens_comes_whole);
    tcase_add_test(reference, a_stop_string_over_three_tokens_ends_before_it);
    tcase_add_test(reference, log_probabilities_keep_their_token);
    tcase_add_loop_test(reference, every_ending_has_its_name, 0, 4);
    tcase_add_test(edges, half_a_character_at_the_end_is_one_replacement);
    tcase_add_test(edges, the_stop_string_is_shown_on_demand);
    tcase_add_test(edges, a_held_tail_comes_when_no_match_does);
    tcase_add_test(edges, control_tokens_are_silent_but_count);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_test(failures, too_many_tokens_end_the_answer);
    tcase_add_test(property, pieces_add_up_to_the_whole);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    suite_add_tcase(s, property);
    return s;
}
