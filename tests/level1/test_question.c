// Words, pipes, and files with a text or a key in them.
#include "level1-user/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static char path[64];
static struct text text;
static struct error err;

static void write_file(const char *bytes, size_t n_bytes) {
    FILE *file = fopen(path, "w");
    fwrite(bytes, 1, n_bytes, file);
    fclose(file);
}

static void setup(void) {
    strcpy(path, "/tmp/question-XXXXXX");
    close(mkstemp(path));
    err = (struct error){0};
    text_append(&text, "before", 6);
}

static void teardown(void) {
    unlink(path);
    text_free(&text);
}

START_TEST(words_are_joined_by_spaces) {
    const struct cli_list words = {
        .items = {"What", "is", "it?"},
          .n_items = 3
    };
    text_free(&text);
    assert_status("question_from_words", question_from_words(&text, &words, &err), OK);
    assert_text("question_from_words", text_string(&text), "What is it?");
}
END_TEST

START_TEST(a_text_is_taken_as_it_stands) {
    write_file("Привет\r\n\n", 15);
    assert_status("text_from_file", text_from_file(&text, path, &err), OK);
    assert_text("text_from_file", text_string(&text), "Привет\r\n\n");
}
END_TEST

START_TEST(an_empty_file_is_an_empty_text) {
    assert_status("text_from_file", text_from_file(&text, path, &err), OK);
    assert_text("text_from_file", text_string(&text), "");
}
END_TEST

static const struct {
    const char *name, *bytes;
    size_t n_bytes;
} no_texts[] = {
    {"a zero byte",   "a\0b",  3},
    {"half a letter", "a\xd0", 2},
    {"a program",
     "\x7f"
     "ELF\x02\x01\xff",        7},
};

START_TEST(what_is_no_text_is_refused) {
    write_file(no_texts[_i].bytes, no_texts[_i].n_bytes);
    assert_status(no_texts[_i].name, text_from_file(&text, path, &err), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, ": not text in UTF-8"));
    assert_text("the text of before", text_string(&text), "before");
}
END_TEST

START_TEST(what_is_too_long_is_refused) {
    assert_number("truncate", truncate(path, LIMIT_BODY_BYTES + 1), 0);
    assert_status("text_from_file", text_from_file(&text, path, &err), ERR_LIMIT);
    assert_text("the text of before", text_string(&text), "before");
}
END_TEST

START_TEST(what_is_no_file_is_refused) {
    unlink(path);
    assert_status("no file", text_from_file(&text, path, &err), ERR_IO);
    mkfifo(path, 0600); // would wait for a writer for ever
    ck_assert_int_ne(text_from_file(&text, path, &err), OK);
    ck_assert_int_ne(text_from_file(&text, "/", &err), OK);
    assert_text("the text of before", text_string(&text), "before");
}
END_TEST

START_TEST(without_memory_the_text_stays) {
    write_file("after", 5);
    memory_fail_after(0);
    enum status st = text_from_file(&text, path, &err);
    memory_fail_after(-1);
    assert_status("text_from_file", st, ERR_MEMORY);
    assert_text("the text of before", text_string(&text), "before");
}
END_TEST

static const struct {
    const char *bytes;
    enum status st;
    const char *key;
} key_files[] = {
    {"sk-1\nsecond line\n", OK,         "sk-1"    },
    {"sk-1\r\n",            OK,         "sk-1"    },
    {"sk-1",                OK,         "sk-1"    },
    {"12345678\n",          OK,         "12345678"},
    {"12345678\r\n",        OK,         "12345678"},
    {"123456789\n",         ERR_LIMIT,  NULL      },
    {"",                    ERR_FORMAT, NULL      },
    {"\nsk-1\n",            ERR_FORMAT, NULL      },
};

START_TEST(a_key_is_the_first_line) {
    char key[8 + 2]; // 8 bytes at most, a line end and the zero
    write_file(key_files[_i].bytes, strlen(key_files[_i].bytes));
    assert_status(key_files[_i].bytes, key_from_file(key, sizeof(key), path, &err),
                  key_files[_i].st);
    if (key_files[_i].key) assert_text(key_files[_i].bytes, key, key_files[_i].key);
    ck_assert_ptr_null(strstr(err.text, "sk-"));
    ck_assert_ptr_null(strstr(err.text, "1234"));
}
END_TEST

static void add_case(Suite *s, TCase *c) {
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
}

Suite *suite(void) {
    Suite *s = suite_create("level1/question");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, words_are_joined_by_spaces);
    tcase_add_test(reference, a_text_is_taken_as_it_stands);
    tcase_add_test(reference, an_empty_file_is_an_empty_text);
    tcase_add_loop_test(reference, a_key_is_the_first_line, 0,
                        sizeof(key_files) / sizeof(key_files[0]));
    add_case(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, what_is_no_text_is_refused, 0,
                        sizeof(no_texts) / sizeof(no_texts[0]));
    tcase_add_test(failures, what_is_too_long_is_refused);
    tcase_add_test(failures, what_is_no_file_is_refused);
    tcase_add_test(failures, without_memory_the_text_stays);
    add_case(s, failures);
    return s;
}
