// Lines as they come where standard input is no terminal; the editing itself is tried on a terminal by
// tests/reference/ask.py.
#include "level1-user/line_editor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"

static struct line_editor editor;
static int was_input, was_errors;
static FILE *typed, *echo;

// Standard input says this; what the editor shows goes to a file.
static void open_on(const char *lines) {
    typed = tmpfile();
    echo = tmpfile();
    fputs(lines, typed);
    fflush(typed);
    rewind(typed);
    fflush(stderr);
    was_input = dup(STDIN_FILENO);
    was_errors = dup(STDERR_FILENO);
    dup2(fileno(typed), STDIN_FILENO);
    dup2(fileno(echo), STDERR_FILENO);
    clearerr(stdin);
    line_editor_open(&editor, NULL);
}

static void teardown(void) {
    line_editor_close(&editor);
    line_editor_close(&editor);
    dup2(was_input, STDIN_FILENO);
    dup2(was_errors, STDERR_FILENO);
    close(was_input);
    close(was_errors);
    fclose(typed);
    fclose(echo);
}

static void assert_line(const char *want) {
    const char *line = NULL;
    assert_number("line_editor_read", line_editor_read(&editor, &line),
                  want ? LINE_ENTERED : LINE_CLOSED);
    assert_text("the line", line, want);
}

START_TEST(lines_come_in_order_without_their_ends) {
    open_on("Hello\n\n  spaces  \n// text\nПривет 🦜\n");
    assert_line("Hello");
    assert_line("");
    assert_line("  spaces  ");
    assert_line("// text");
    assert_line("Привет 🦜");
    assert_line(NULL);
}
END_TEST

START_TEST(a_line_may_be_long) {
    char lines[5002];
    memset(lines, 'x', 5000);
    strcpy(lines + 5000, "\n");
    open_on(lines);
    lines[5000] = '\0';
    assert_line(lines);
    assert_line(NULL);
}
END_TEST

START_TEST(no_line_at_all_is_the_end) {
    open_on("");
    assert_line(NULL);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/line_editor");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, NULL, teardown);
    tcase_add_test(reference, lines_come_in_order_without_their_ends);
    tcase_add_test(reference, a_line_may_be_long);
    tcase_add_test(reference, no_line_at_all_is_the_end);
    suite_add_tcase(s, reference);
    return s;
}
