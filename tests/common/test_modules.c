// Whose modules a program is made of: counted, printed, broken into lines.
#include "common/modules.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

// What print says of the list; the caller's to free.
static char *printed(void (*print)(FILE *, const char *), const char *list) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    print(out, list);
    fclose(out);
    return text;
}

static const struct {
    const char *list;
    int n_yours, n_reference;
    const char *count, *yours;
} lists[] = {
    {"",                      0, 0, "",                                ""                     },
    {"  ",                    0, 0, "",                                ""                     },
    {"invoice",               0, 1, "modules: 0 yours, 1 reference\n", ""                     },
    {"invoice events reply",  0, 3, "modules: 0 yours, 3 reference\n", ""                     },
    {"invoice*",              1, 0, "modules: 1 yours, 0 reference\n", "yours: invoice\n"     },
    {"invoice events* reply", 1, 2, "modules: 1 yours, 2 reference\n", "yours: events\n"      },
    {" a*  rows-k* c d*",     3, 1, "modules: 3 yours, 1 reference\n", "yours: a, rows-k, d\n"},
};

START_TEST(a_star_says_whose_a_module_is) {
    struct modules_count n = modules_count(lists[_i].list);
    assert_number(lists[_i].list, n.n_yours, lists[_i].n_yours);
    assert_number(lists[_i].list, n.n_reference, lists[_i].n_reference);
}
END_TEST

START_TEST(what_is_not_there_is_not_printed) {
    char *count = printed(modules_print_count, lists[_i].list);
    char *yours = printed(modules_print_yours, lists[_i].list);
    assert_text(lists[_i].list, count, lists[_i].count);
    assert_text(lists[_i].list, yours, lists[_i].yours);
    free(count);
    free(yours);
}
END_TEST

START_TEST(the_list_of_this_program_can_be_counted) {
    const char *list = modules_linked();
    struct modules_count n = modules_count(list);
    ck_assert_int_ge(n.n_yours, 0);
    ck_assert_msg((n.n_yours + n.n_reference == 0) == (strspn(list, " ") == strlen(list)),
                  "\"%s\" gives %d and %d", list, n.n_yours, n.n_reference);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// Ids of 1 to 20 letters, all the learner's, and the same names as they should be read back.
static void draw_list(struct draw *d, char *list, char *names) {
    int n_modules = draw_int(d, 20, 60);
    for (int m = 0; m < n_modules; m++) {
        char id[24] = {0};
        memset(id, 'a' + m % 26, (size_t)draw_int(d, 1, 20));
        list += sprintf(list, "%s* ", id);
        names += sprintf(names, "%s%s", m ? "," : "", id);
    }
}

static void remove_blanks(char *text) {
    char *kept = text;
    for (; *text; text++) {
        if (*text != ' ' && *text != '\n') *kept++ = *text;
    }
    *kept = '\0';
}

START_TEST(long_lists_are_broken_at_80_columns_and_lose_nothing) {
    char list[2048], names[2048] = "yours:", *rest;
    struct draw d = draw_start("modules");
    for (int i = 0; i < _i; i++) draw_u64(&d);
    draw_list(&d, list, names + strlen(names));

    char *text = printed(modules_print_yours, list), *lines = strdup(text);
    for (char *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        ck_assert_msg(strlen(line) <= 80, "%zu columns: %s", strlen(line), line);
        ck_assert_msg(line == lines || strncmp(line, "       ", 7) == 0, "no indent: %s",
                      line);
    }
    remove_blanks(text);
    assert_text("the names without blanks", text, names);
    free(lines);
    free(text);
}
END_TEST

START_TEST(a_line_may_be_80_columns_wide_and_not_81) {
    for (int n = 60; n <= 80; n++) { // "yours: a, " and an id make 10 + n columns
        char list[128] = "a* ", id[96] = {0};
        memset(id, 'x', (size_t)n);
        sprintf(list + 3, "%s*", id);
        char *text = printed(modules_print_yours, list);
        bool is_one_line = strchr(text, '\n') == text + strlen(text) - 1;
        ck_assert_msg(is_one_line == (10 + n < 80), "an id of %d letters:\n%s", n, text);
        free(text);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/modules");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_star_says_whose_a_module_is, 0,
                        sizeof(lists) / sizeof(lists[0]));
    tcase_add_loop_test(reference, what_is_not_there_is_not_printed, 0,
                        sizeof(lists) / sizeof(lists[0]));
    tcase_add_test(reference, the_list_of_this_program_can_be_counted);
    suite_add_tcase(s, reference);
    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, long_lists_are_broken_at_80_columns_and_lose_nothing, 0,
                        20);
    tcase_add_test(property, a_line_may_be_80_columns_wide_and_not_81);
    suite_add_tcase(s, property);
    return s;
}
