// Errors: one clean line, whatever bytes it quotes.
#include "common/status.h"

#include <signal.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

static struct error err;

static void setup(void) {
    memset(&err, 0, sizeof(err));
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(an_error_carries_code_and_sentence) {
    ck_assert_int_eq(error_set(&err, ERR_FORMAT, "%s: %d keys", "a.gguf", 3), ERR_FORMAT);
    ck_assert_int_eq(err.code, ERR_FORMAT);
    ck_assert_str_eq(err.text, "a.gguf: 3 keys");
    ck_assert_str_eq(err.param, "");
}
END_TEST

START_TEST(an_error_may_name_the_field_at_fault) {
    ck_assert_int_eq(error_set_param(&err, ERR_INPUT, "top_p", "top_p is %g", 2.5),
                     ERR_INPUT);
    ck_assert_str_eq(err.text, "top_p is 2.5");
    ck_assert_str_eq(err.param, "top_p");
    error_set(&err, ERR_IO, "another");
    ck_assert_str_eq(err.param, ""); // the old field is forgotten
}
END_TEST

static const struct {
    const char *name;
    const char *from, *to;
} cleaned[] = {
    {"line breaks",              "a\nb\r\nc",                              "a?b??c"   },
    {"tabs and escapes",         "\x1b[31mred\t",                          "?[31mred?"},
    {"delete",                   "a\x7fm",                                 "a?m"      },
    {"a one-character CSI",      "a\xc2\x9b[m",                            "a??[m"    },
    {"letters of all lands",     "\xc3\xaf \xe2\x82\xac \xf0\x9f\x98\x80",
     "\xc3\xaf \xe2\x82\xac \xf0\x9f\x98\x80"                                         },
    {"a byte that is no letter", "a\xffm",                                 "a?m"      },
    {"a letter cut short",       "a\xe2\x82",                              "a??"      },
    {"an overlong slash",        "\xc0\xaf",                               "??"       },
};

START_TEST(strange_bytes_become_question_marks) {
    error_set_param(&err, ERR_INPUT, cleaned[_i].from, "%s", cleaned[_i].from);
    ck_assert_msg(strcmp(err.text, cleaned[_i].to) == 0, "%s: got %s", cleaned[_i].name,
                  err.text);
    ck_assert_msg(strcmp(err.param, cleaned[_i].to) == 0, "%s: got %s", cleaned[_i].name,
                  err.param);
}
END_TEST

START_TEST(each_status_has_its_own_name) {
    for (int a = 0; a < STATUS_COUNT; a++) {
        ck_assert_str_ne(status_name((enum status)a), "unknown");
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(status_name((enum status)a), status_name((enum status)b));
    }
    ck_assert_str_eq(status_name(OK), "ok");
    ck_assert_str_eq(status_name(ERR_NUMERIC), "numeric");
    ck_assert_str_eq(status_name(STATUS_COUNT), "unknown");
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(nobody_need_read_the_error) {
    ck_assert_int_eq(error_set(NULL, ERR_MEMORY, "%d", 1), ERR_MEMORY);
    ck_assert_int_eq(error_set_param(NULL, ERR_BUSY, "x", "%d", 1), ERR_BUSY);
}
END_TEST

START_TEST(an_error_may_be_wrapped_into_itself) {
    error_set_param(&err, ERR_FORMAT, "rope", "value missing");
    error_set_param(&err, err.code, err.param, "layer %d: %s", 3, err.text);
    ck_assert_str_eq(err.text, "layer 3: value missing");
    ck_assert_str_eq(err.param, "rope");
}
END_TEST

// A text of n bytes of 'x' followed by a three-byte character, for each place of the cut.
START_TEST(a_long_text_is_cut_at_a_whole_character) {
    char text[400];
    for (size_t n = 0; n < sizeof(err.text) + 5; n++) {
        memset(text, 'x', n);
        memcpy(text + n, "\xe2\x82\xac\xe2\x82\xac", 7);
        error_set(&err, ERR_IO, "%s", text);
        size_t n_kept = strlen(err.text);
        ck_assert(utf8_valid(err.text, n_kept));
        ck_assert_msg(strncmp(err.text, text, n_kept) == 0, "n %zu: %s", n, err.text);
        size_t n_whole = n + 6 < sizeof(err.text) ? n + 6 : sizeof(err.text) - 1;
        ck_assert_msg(n_kept + 3 > n_whole, "n %zu: kept only %zu", n, n_kept);
    }
}
END_TEST

START_TEST(a_long_path_leaves_room_for_the_reason) {
    char path[300];
    ck_assert_str_eq(error_path("models/a.gguf"), "models/a.gguf");
    ck_assert_str_eq(error_path(""), "");
    for (size_t n = 1; n < sizeof(path); n++) {
        memset(path, 'd', n);
        path[n] = '\0';
        if (n > 10) strcpy(path + n - 7, "/a.gguf");
        const char *shown = error_path(path);
        ck_assert_uint_le(strlen(shown), 100);
        ck_assert_msg(n > 10 ? strstr(shown, "a.gguf") != NULL : shown == path, "%s",
                      shown);
        error_set(&err, ERR_IO, "%s: No such file or directory", shown);
        ck_assert_msg(strstr(err.text, ": No such file or directory") != NULL, "%s",
                      err.text);
    }
}
END_TEST

START_TEST(a_long_path_is_cut_at_a_whole_character) {
    char path[300];
    for (int n = 97; n < 104; n++) {
        memset(path, 'd', (size_t)n);
        for (int i = 0; i < 40; i++) memcpy(path + n + 3 * i, "\xe2\x82\xac", 4);
        const char *shown = error_path(path);
        ck_assert(utf8_valid(shown, strlen(shown)));
        ck_assert_uint_ge(strlen(shown), 98);
    }
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(success_is_no_error) {
    error_set(&err, OK, "fine");
}
END_TEST

START_TEST(a_broken_invariant_aborts) {
    MUST(1 + 1 == 2);
    MUST(1 + 1 == 3);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(any_bytes_give_one_printable_line) {
    struct draw d = draw_start("printable");
    char text[301];
    for (int round = 0; round < 2000; round++) {
        int n = draw_int(&d, 0, 300);
        for (int i = 0; i < n; i++) text[i] = (char)draw_int(&d, 1, 255);
        text[n] = '\0';
        error_set_param(&err, ERR_IO, text, "%s", text);
        ck_assert(utf8_valid(err.text, strlen(err.text)));
        ck_assert(utf8_valid(err.param, strlen(err.param)));
        for (char *c = err.text; *c; c++) {
            if ((unsigned char)*c < 0x20) ck_abort_msg("control byte in %s", err.text);
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/status");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, NULL);
    tcase_add_test(reference, an_error_carries_code_and_sentence);
    tcase_add_test(reference, an_error_may_name_the_field_at_fault);
    tcase_add_loop_test(reference, strange_bytes_become_question_marks, 0,
                        sizeof(cleaned) / sizeof(cleaned[0]));
    tcase_add_test(reference, each_status_has_its_own_name);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, NULL);
    tcase_add_test(edges, nobody_need_read_the_error);
    tcase_add_test(edges, an_error_may_be_wrapped_into_itself);
    tcase_add_test(edges, a_long_text_is_cut_at_a_whole_character);
    tcase_add_test(edges, a_long_path_leaves_room_for_the_reason);
    tcase_add_test(edges, a_long_path_is_cut_at_a_whole_character);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test_raise_signal(failures, success_is_no_error, SIGABRT);
    tcase_add_test_raise_signal(failures, a_broken_invariant_aborts, SIGABRT);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, NULL);
    tcase_add_test(property, any_bytes_give_one_printable_line);
    suite_add_tcase(s, property);
    return s;
}
