// What is said of the front of a prompt, and when nothing is.
#include "level1-user/prompt_watch.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct prompt_watch watch;
static struct error err;
static char said[600];

static void setup(void) {
    watch = (struct prompt_watch){0};
}

static void teardown(void) {
    prompt_watch_free(&watch);
    prompt_watch_free(&watch);
}

static void read_back(FILE *file) {
    rewind(file);
    said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
    fclose(file);
}

static void begin_with(const char *system) {
    FILE *file = tmpfile();
    prompt_watch_system(file, system);
    read_back(file);
}

// A request whose history is "Hi." and "Hello.".
static enum status ask(const char *system) {
    static const struct chat_message history[] = {
        {"user",      "Hi."   },
        {"assistant", "Hello."}
    };
    FILE *file = tmpfile();
    enum status st =
        prompt_watch_request(&watch, file, system, history, 2, "And now?", &err);
    read_back(file);
    return st;
}

START_TEST(a_clock_in_front_is_named_at_once) {
    begin_with("It is 10:05. You answer the questions of a shop's customers.");
    assert_text(
        "prompt_watch_system", said,
        "ask: the system message says \"10:05.\" near its front: if that is another "
        "next time, no cache finds the 48 bytes behind it\n");
    begin_with("You answer the questions of a shop's customers.");
    assert_text("prompt_watch_system", said, "");
    begin_with("");
    assert_text("prompt_watch_system", said, "");
}
END_TEST

START_TEST(a_system_message_that_changes_is_named) {
    assert_status("the first request", ask("It is 10:05. Be brief."), OK);
    assert_text("the first request", said, "");
    assert_status("the same again", ask("It is 10:05. Be brief."), OK);
    assert_text("the same again", said, "");
    assert_status("a minute later", ask("It is 10:06. Be brief."), OK);
    // ". Be brief." and the nine bytes of the history
    assert_text("a minute later", said,
                "ask: system message: \"10:06.\" was another before; it stands before 20 "
                "bytes that stay the same\n");
    assert_status("the same again", ask("It is 10:06. Be brief."), OK);
    assert_text("the same again", said, "");
}
END_TEST

START_TEST(another_conversation_is_not_compared) {
    ask("It is 10:05. Be brief.");
    prompt_watch_forget(&watch);
    assert_status("another", ask("It is 10:06. Be brief."), OK);
    assert_text("another", said, "");
}
END_TEST

START_TEST(what_a_file_says_cannot_move_the_cursor) {
    begin_with("10:05\x1b[2J\x07 and some more text behind it, as much as is needed.");
    ck_assert_msg(strstr(said, "10:05\\x1b[2J\\x07\" near"), "%s", said);
}
END_TEST

START_TEST(without_memory_it_says_so) {
    memory_fail_after(0);
    enum status st = ask("Be brief.");
    memory_fail_after(-1);
    assert_status("prompt_watch_request", st, ERR_MEMORY);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/prompt_watch");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_clock_in_front_is_named_at_once);
    tcase_add_test(reference, a_system_message_that_changes_is_named);
    tcase_add_test(reference, another_conversation_is_not_compared);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, what_a_file_says_cannot_move_the_cursor);
    tcase_add_test(failures, without_memory_it_says_so);
    suite_add_tcase(s, failures);
    return s;
}
