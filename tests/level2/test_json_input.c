// Bodies from strangers: what is refused, and how the readers name the field at fault.
#include "level2-operator/text/json_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static enum status parse(json_t **body, const char *text, struct error *err) {
    return json_input_parse(body, text, strlen(text), err);
}

// ---- bodies -------------------------------------------------------------------------------------

static const struct {
    const char *name, *text;
    enum status want;
} bodies[] = {
    {"an object",               "{\"a\":1}",                    OK        },
    {"an empty object",         " {} ",                         OK        },
    {"no bytes",                "",                             ERR_FORMAT},
    {"a key that is missing",   "{:\"model\":\"x\"}",           ERR_FORMAT},
    {"an object cut short",     "{\"a\":",                      ERR_FORMAT},
    {"a string cut short",      "{\"a\":\"",                    ERR_FORMAT},
    {"a string cut at escape",  "{\"a\":\"\\",                  ERR_FORMAT},
    {"an array",                "[1]",                          ERR_INPUT },
    {"a bare string",           "\"a\"",                        ERR_FORMAT},
    {"a key twice",             "{\"a\":1,\"a\":2}",            ERR_FORMAT},
    {"bytes behind the object", "{}x",                          ERR_FORMAT},
    {"invalid UTF-8",           "{\"a\":\"\xff\"}",             ERR_FORMAT},
    {"half a character",        "{\"a\":\"\xf0\x9f\"}",         ERR_FORMAT},
    {"a lone surrogate",        "{\"a\":\"\\ud83d\"}",          ERR_FORMAT},
    {"an escaped NUL",          "{\"a\":\"\\u0000\"}",          ERR_FORMAT},
    {"a number too large",      "{\"a\":1e999}",                ERR_FORMAT},
    {"an integer too large",    "{\"a\":99999999999999999999}", ERR_FORMAT},
    {"brackets in a string",    "{\"a\":\"[[[[{{{{\\\"[[[\"}",  OK        },
    {"closed too often",        "}}}}",                         ERR_FORMAT},
};

START_TEST(takes_one_object_and_refuses_the_rest) {
    json_t *body;
    struct error err = {0};
    enum status st = parse(&body, bodies[_i].text, &err);

    ck_assert_msg(st == bodies[_i].want, "%s: %s, want %s", bodies[_i].name,
                  status_name(st), status_name(bodies[_i].want));
    ck_assert_msg((st == OK) == (body != NULL), "%s", bodies[_i].name);
    ck_assert_msg(st == OK || err.text[0], "%s: no message", bodies[_i].name);
    json_decref(body);
}
END_TEST

START_TEST(refuses_a_raw_NUL_byte) {
    json_t *body;
    struct error err;
    ck_assert_int_eq(json_input_parse(&body, "{\"a\":\"b\0c\"}", 11, &err), ERR_FORMAT);
    ck_assert_int_eq(json_input_parse(&body, "{}\0", 3, &err), ERR_FORMAT);
}
END_TEST

// {"a":[[[...]]]} with n levels in all.
static char *nested(int n_levels) {
    char *text = malloc((size_t)n_levels * 2 + 16);
    size_t n = (size_t)sprintf(text, "{\"a\":");
    for (int i = 1; i < n_levels; i++) text[n++] = '[';
    if (n_levels == 1) text[n++] = '0';
    for (int i = 1; i < n_levels; i++) text[n++] = ']';
    text[n++] = '}';
    text[n] = '\0';
    return text;
}

START_TEST(bounds_the_depth_before_parsing) {
    const struct {
        int n_levels;
        enum status want;
    } rows[] = {
        {1,                    OK       },
        {LIMIT_JSON_DEPTH,     OK       },
        {LIMIT_JSON_DEPTH + 1, ERR_LIMIT},
        {100000,               ERR_LIMIT}
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *body;
        struct error err;
        char *text = nested(rows[i].n_levels);
        ck_assert_int_eq(parse(&body, text, &err), rows[i].want);
        json_decref(body);
        free(text);
    }
}
END_TEST

// An escaped quote does not end a string, so the brackets behind it are no depth.
START_TEST(brackets_behind_an_escaped_quote_are_text) {
    char text[256] = "{\"a\":\"\\\"";
    json_t *body;
    struct error err;
    size_t n = strlen(text);
    memset(text + n, '[', 2 * LIMIT_JSON_DEPTH);
    strcpy(text + n + 2 * LIMIT_JSON_DEPTH, "\"}");
    ck_assert_int_eq(parse(&body, text, &err), OK);
    json_decref(body);
}
END_TEST

START_TEST(bounds_the_number_of_values) {
    size_t n = 2 * (size_t)LIMIT_JSON_VALUES + 16;
    char *text = malloc(n);
    json_t *body;
    struct error err;

    memset(text, ' ', n);
    memcpy(text, "{\"a\":[", 6);
    for (size_t i = 0; i <= LIMIT_JSON_VALUES; i++) memcpy(text + 6 + 2 * i, "0,", 2);
    memcpy(text + n - 3, "0]}", 3);
    ck_assert_int_eq(json_input_parse(&body, text, n, &err), ERR_LIMIT);
    free(text);
}
END_TEST

// ---- fields -------------------------------------------------------------------------------------

static const char fields[] = "{\"int\":7,\"big\":1099511627776,\"real\":0.5,\"flag\":true,"
                             "\"text\":\"abc\",\"none\":null,\"list\":[]}";

struct fixture {
    json_t *body;
    struct json_input in;
};

static struct fixture fixture_open(void) {
    struct fixture f;
    ck_assert_int_eq(parse(&f.body, fields, NULL), OK);
    f.in = (struct json_input){f.body, "messages[3]."};
    return f;
}

START_TEST(absent_and_null_leave_the_default) {
    struct fixture f = fixture_open();
    static const char *const names[] = {"none", "missing"};
    for (int i = 0; i < 2; i++) {
        int64_t number = 5;
        double real = 0.25;
        bool flag = true;
        const char *text = "default";
        size_t n = 9;
        ck_assert_ptr_null(json_input_find(&f.in, names[i]));
        ck_assert_int_eq(json_input_int(&number, &f.in, names[i], 0, 1, NULL), OK);
        ck_assert_int_eq(json_input_double(&real, &f.in, names[i], 0, 0, NULL), OK);
        ck_assert_int_eq(json_input_bool(&flag, &f.in, names[i], NULL), OK);
        ck_assert_int_eq(json_input_string(&text, &n, &f.in, names[i], NULL), OK);
        ck_assert(number == 5 && real == 0.25 && flag && n == 9);
        ck_assert_str_eq(text, "default");
    }
    json_decref(f.body);
}
END_TEST

START_TEST(ranges_include_both_ends) {
    struct fixture f = fixture_open();
    int64_t number = 0;
    double real = 0;
    ck_assert_int_eq(json_input_int(&number, &f.in, "int", 7, 7, NULL), OK);
    ck_assert_int_eq(number, 7);
    ck_assert_int_eq(json_input_int(&number, &f.in, "int", 8, 9, NULL), ERR_INPUT);
    ck_assert_int_eq(json_input_int(&number, &f.in, "int", 5, 6, NULL), ERR_INPUT);
    ck_assert_int_eq(json_input_int(&number, &f.in, "big", 0, INT32_MAX, NULL), ERR_INPUT);
    ck_assert_int_eq(json_input_double(&real, &f.in, "real", 0.5, 0.5, NULL), OK);
    ck_assert_int_eq(json_input_double(&real, &f.in, "real", 0.6, 1, NULL), ERR_INPUT);
    ck_assert_int_eq(json_input_double(&real, &f.in, "real", 0, 0.4, NULL), ERR_INPUT);
    ck_assert_int_eq(json_input_double(&real, &f.in, "int", 0, 9, NULL),
                     OK); // 7 is a number
    ck_assert(real == 7 && number == 7);
    json_decref(f.body);
}
END_TEST

START_TEST(a_wrong_type_names_the_field_with_its_path) {
    struct fixture f = fixture_open();
    static const char *const names[] = {"int", "real", "flag", "text", "list"};
    for (int i = 0; i < 5; i++) {
        struct error err = {0};
        int64_t number;
        double real;
        bool flag;
        const char *text;
        size_t n;
        char want[32];
        snprintf(want, sizeof(want), "messages[3].%s", names[i]);
        if (i != 0) {
            ck_assert_int_eq(json_input_int(&number, &f.in, names[i], 0, 9, &err),
                             ERR_INPUT);
            ck_assert_str_eq(err.param, want);
        }
        if (i > 1) {
            ck_assert_int_eq(json_input_double(&real, &f.in, names[i], 0, 9, &err),
                             ERR_INPUT);
            ck_assert_str_eq(err.param, want);
        }
        if (i != 2) {
            ck_assert_int_eq(json_input_bool(&flag, &f.in, names[i], &err), ERR_INPUT);
            ck_assert_str_eq(err.param, want);
        }
        if (i != 3) {
            ck_assert_int_eq(json_input_string(&text, &n, &f.in, names[i], &err),
                             ERR_INPUT);
            ck_assert_str_eq(err.param, want);
        }
        ck_assert_ptr_nonnull(strstr(err.text, want));
    }
    json_decref(f.body);
}
END_TEST

START_TEST(too_many_entries_name_their_number_and_the_limit) {
    struct fixture f = fixture_open();
    struct error err = {0};
    ck_assert_int_eq(json_input_refuse_count(&f.in, "list", 65, 64, &err), ERR_LIMIT);
    ck_assert_str_eq(err.param, "messages[3].list");
    ck_assert_str_eq(err.text, "messages[3].list holds 65 entries; at most 64 are taken");
    json_decref(f.body);
}
END_TEST

// ---- memory -------------------------------------------------------------------------------------

START_TEST(every_failed_allocation_is_an_error_and_leaks_nothing) {
    bool succeeded = false;
    for (long n = 0; n < 1000 && !succeeded; n++) {
        json_t *body;
        struct error err = {0};
        memory_fail_after(n);
        enum status st = parse(&body, fields, &err);
        memory_fail_after(-1);
        succeeded = st == OK;
        if (!succeeded) {
            ck_assert_ptr_null(body);
            // The library calls a failed string a syntax error here and there.
            ck_assert(st == ERR_MEMORY || st == ERR_FORMAT);
            ck_assert(err.code == st && err.text[0]);
        }
        json_decref(body);
    }
    ck_assert(succeeded);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/json_input");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures");

    tcase_add_loop_test(reference, takes_one_object_and_refuses_the_rest, 0,
                        (int)(sizeof(bodies) / sizeof(bodies[0])));
    tcase_add_test(reference, absent_and_null_leave_the_default);
    tcase_add_test(reference, a_wrong_type_names_the_field_with_its_path);
    tcase_add_test(reference, too_many_entries_name_their_number_and_the_limit);
    tcase_add_test(edges, refuses_a_raw_NUL_byte);
    tcase_add_test(edges, bounds_the_depth_before_parsing);
    tcase_add_test(edges, brackets_behind_an_escaped_quote_are_text);
    tcase_add_test(edges, bounds_the_number_of_values);
    tcase_add_test(edges, ranges_include_both_ends);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_leaks_nothing);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    return s;
}
