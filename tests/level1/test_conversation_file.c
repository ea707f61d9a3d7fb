// Conversations saved and loaded, files that lie, and memory that fails.
#include "level1-user/conversation_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static char folder[64], path[96];
static struct conversation said;
static struct text system_text;
static struct error err;

static void setup(void) {
    strcpy(folder, "/tmp/conversation-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/talk.json", folder);
    err = (struct error){0};
    conversation_add(&said, "user", "Hello \"🦜\"", NULL);
    conversation_add(&said, "assistant", "Good\nday", NULL);
    text_append(&system_text, "Be brief.", 9);
}

static void teardown(void) {
    unlink(path);
    rmdir(folder); // fails where a file is left beside it: the tests ask
    conversation_free(&said);
    text_free(&system_text);
}

static enum status save(const char *system) {
    return conversation_save(&said, system, "parrot", path, &err);
}

static void write_file(const char *bytes, size_t n_bytes) {
    FILE *file = fopen(path, "w");
    fwrite(bytes, 1, n_bytes, file);
    fclose(file);
}

static void assert_unchanged(const char *what) {
    assert_number(what, said.n_messages, 2);
    assert_text(what, said.messages[0].text, "Hello \"🦜\"");
    assert_text(what, text_string(&system_text), "Be brief.");
}

static void assert_alone_in_folder(void) {
    unlink(path);
    assert_number("rmdir: nothing else is left", rmdir(folder), 0);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(what_was_saved_is_loaded) {
    struct conversation loaded = {0};
    struct text system = {0};
    struct stat info;

    conversation_add(&loaded, "user", "of before", NULL);
    text_append(&system, "of before", 9);
    assert_status("conversation_save", save("Be brief."), OK);
    assert_number("stat", stat(path, &info), 0);
    assert_number("mode", info.st_mode & 0777, 0600);
    assert_status("conversation_load", conversation_load(&loaded, &system, path, &err), OK);
    assert_number("n_messages", loaded.n_messages, 2);
    assert_text("messages[0].role", loaded.messages[0].role, "user");
    assert_text("messages[0].text", loaded.messages[0].text, "Hello \"🦜\"");
    assert_text("messages[1].role", loaded.messages[1].role, "assistant");
    assert_text("messages[1].text", loaded.messages[1].text, "Good\nday");
    assert_text("system", text_string(&system), "Be brief.");
    conversation_free(&loaded);
    text_free(&system);
    assert_alone_in_folder();
}
END_TEST

START_TEST(a_conversation_without_a_system_message_takes_that_of_before_away) {
    assert_status("conversation_save", save(""), OK);
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  OK);
    assert_text("system", text_string(&system_text), "");
    assert_number("n_messages", said.n_messages, 2);
}
END_TEST

START_TEST(an_older_conversation_is_replaced) {
    assert_status("conversation_save", save("old"), OK);
    conversation_cut(&said, 1);
    assert_status("conversation_save again", save("new"), OK);
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  OK);
    assert_text("system", text_string(&system_text), "new");
    assert_number("n_messages", said.n_messages, 1);
}
END_TEST

START_TEST(an_empty_file_is_nobodys_loss) {
    write_file("", 0);
    assert_status("conversation_save", save(""), OK);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

#define FILE_OF(messages) "{\"version\":1,\"model\":\"m\",\"messages\":" messages "}"

static const struct {
    const char *bytes;
    enum status st;
    const char *error; // behind the name of the file
} lies[] = {
    {"",                                                                                         ERR_FORMAT,      "not JSON"                                         },
    {"hello",                                                                                    ERR_FORMAT,      "not JSON"                                         },
    {"[]",                                                                                       ERR_FORMAT,      "not a conversation that ask has saved"            },
    {"{}",                                                                                       ERR_FORMAT,      "not a conversation that ask has saved"            },
    {"{\"messages\":[]}",                                                                        ERR_FORMAT,      "not a conversation that ask has saved"            },
    {"{\"version\":\"1\",\"messages\":[]}",                                                      ERR_FORMAT,
     "not a conversation that ask has saved"                                                                                                                         },
    {"{\"version\":1,\"messages\":{}}",                                                          ERR_FORMAT,
     "not a conversation that ask has saved"                                                                                                                         },
    {"{\"version\":2,\"messages\":[]}",                                                          ERR_UNSUPPORTED,
     "a conversation of version 2; only 1 is known here"                                                                                                             },
    {FILE_OF("[7]"),                                                                             ERR_FORMAT,      "messages[0].role is not system, user or assistant"},
    {FILE_OF("[{\"role\":\"tool\",\"content\":\"x\"}]"),                                         ERR_FORMAT,
     "messages[0].role is not system, user or assistant"                                                                                                             },
    {FILE_OF("[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\",\"content\":[]}]"),
     ERR_FORMAT,                                                                                                  "messages[1].content is no text"                   },
    {FILE_OF(
         "[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"system\",\"content\":\"\"}]"),
     ERR_FORMAT,                                                                                                  "messages[1] is a system message, not the first"   },
    {FILE_OF("[{\"role\":\"user\",\"content\":\"a\\u0000b\"}]"),                                 ERR_FORMAT,      "not JSON"                                         },
    {FILE_OF("[{\"role\":\"user\",\"content\":\"\xff\"}]"),                                      ERR_FORMAT,      "not JSON"                                         },
    {FILE_OF("[],\"messages\":[]"),                                                              ERR_FORMAT,      "not JSON"                                         },
};

START_TEST(a_file_that_lies_changes_nothing) {
    write_file(lies[_i].bytes, strlen(lies[_i].bytes));
    assert_status(lies[_i].bytes, conversation_load(&said, &system_text, path, &err),
                  lies[_i].st);
    ck_assert_msg(strstr(err.text, lies[_i].error), "\"%s\" does not say \"%s\"", err.text,
                  lies[_i].error);
    assert_unchanged(lies[_i].bytes);
}
END_TEST

START_TEST(lists_in_lists_without_end_are_refused) {
    char deep[20000];
    memset(deep, '[', sizeof(deep));
    write_file(deep, sizeof(deep));
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  ERR_LIMIT);
    assert_unchanged("20000 lists");
}
END_TEST

START_TEST(lists_that_would_take_a_hundred_times_their_bytes_are_refused) {
    enum { N_BYTES = 3 * LIMIT_JSON_VALUES };
    char *lists = malloc(N_BYTES);
    ck_assert_ptr_nonnull(lists);
    for (int i = 0; i < N_BYTES; i++) lists[i] = "[],"[i % 3];
    lists[0] = '[';
    write_file(lists, N_BYTES);
    free(lists);
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  ERR_LIMIT);
    assert_text("conversation_load", strstr(err.text, ": more"),
                ": more than 1048576 values, or deeper than 64 levels");
}
END_TEST

START_TEST(more_messages_than_fit_are_refused) {
    FILE *file = fopen(path, "w");
    fputs("{\"version\":1,\"messages\":[", file);
    for (int i = 0; i <= LIMIT_MESSAGES; i++)
        fprintf(file, "%s{\"role\":\"user\",\"content\":\"\"}", i > 0 ? "," : "");
    fputs("]}", file);
    fclose(file);
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  ERR_LIMIT);
    assert_unchanged("4097 messages");
}
END_TEST

START_TEST(what_is_no_file_is_refused) {
    assert_status("no file", conversation_load(&said, &system_text, path, &err), ERR_IO);
    ck_assert_int_ne(conversation_load(&said, &system_text, folder, &err), OK);
    mkfifo(path, 0600); // would wait for a writer for ever
    ck_assert_int_ne(conversation_load(&said, &system_text, path, &err), OK);
    assert_unchanged("no file, a folder, a pipe");
    assert_status("save over a pipe", save(""), ERR_INPUT);
}
END_TEST

START_TEST(a_file_of_somebody_else_stays) {
    char bytes[32] = {0};
    write_file("my thesis", 9);
    assert_status("conversation_save", save(""), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "is there already, and no saved conversation"));
    FILE *file = fopen(path, "r");
    ck_assert_uint_eq(fread(bytes, 1, sizeof(bytes), file), 9);
    fclose(file);
    assert_text("the file", bytes, "my thesis");
    assert_alone_in_folder();
}
END_TEST

START_TEST(a_system_message_that_is_no_text_is_not_saved) {
    assert_status("conversation_save", save("\xff"), ERR_INPUT);
    assert_text("the error", err.text, "the system message or the model is not UTF-8");
    assert_alone_in_folder();
}
END_TEST

// A disk that is full: no file may grow above ten bytes.
START_TEST(a_full_disk_leaves_the_old_file_and_no_other) {
    struct rlimit limit;
    assert_status("conversation_save", save("old"), OK);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){10, limit.rlim_max});
    enum status st = save("new");
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_status("conversation_save", st, ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "talk.json: File too large"));
    assert_status("conversation_load", conversation_load(&said, &system_text, path, &err),
                  OK);
    assert_text("system", text_string(&system_text), "old");
    assert_alone_in_folder();
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_told) {
    assert_status("conversation_save",
                  conversation_save(&said, "", "m", "/nonexistent/talk.json", &err),
                  ERR_IO);
    assert_text("the error", err.text, "/nonexistent/talk.json: No such file or directory");
}
END_TEST

START_TEST(every_failed_allocation_of_save_leaves_the_old_file) {
    int n = 0;
    assert_status("conversation_save", save("old"), OK);
    for (;; n++) {
        struct conversation loaded = {0};
        struct text system = {0};
        memory_fail_after(n);
        enum status st = save("new");
        memory_fail_after(-1);
        if (st == OK) break;
        // Jansson blames the old file now and then; then it is none of ours, and stays, too.
        ck_assert_msg(st == ERR_MEMORY || st == ERR_INPUT, "%d: %s", n, err.text);
        assert_status("conversation_load", conversation_load(&loaded, &system, path, NULL),
                      OK);
        assert_text("system", text_string(&system), "old");
        conversation_free(&loaded);
        text_free(&system);
    }
    ck_assert_int_ge(n, 10);
    assert_alone_in_folder();
}
END_TEST

START_TEST(every_failed_allocation_of_load_changes_nothing) {
    int n = 0;
    assert_status("conversation_save", save("new"), OK);
    for (;; n++) {
        memory_fail_after(n);
        enum status st = conversation_load(&said, &system_text, path, &err);
        memory_fail_after(-1);
        if (st == OK) break;
        // Jansson blames the text now and then.
        ck_assert_msg(st == ERR_MEMORY || st == ERR_FORMAT, "%d: %s", n, err.text);
        assert_unchanged("no memory");
    }
    ck_assert_int_ge(n, 10);
}
END_TEST

static void add_case(Suite *s, TCase *c) {
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
}

Suite *suite(void) {
    Suite *s = suite_create("level1/conversation_file");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, what_was_saved_is_loaded);
    tcase_add_test(reference,
                   a_conversation_without_a_system_message_takes_that_of_before_away);
    tcase_add_test(reference, an_older_conversation_is_replaced);
    tcase_add_test(reference, an_empty_file_is_nobodys_loss);
    add_case(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_file_that_lies_changes_nothing, 0,
                        sizeof(lies) / sizeof(lies[0]));
    tcase_add_test(failures, lists_in_lists_without_end_are_refused);
    tcase_add_test(failures, lists_that_would_take_a_hundred_times_their_bytes_are_refused);
    tcase_add_test(failures, more_messages_than_fit_are_refused);
    tcase_add_test(failures, what_is_no_file_is_refused);
    tcase_add_test(failures, a_file_of_somebody_else_stays);
    tcase_add_test(failures, a_system_message_that_is_no_text_is_not_saved);
    tcase_add_test(failures, a_full_disk_leaves_the_old_file_and_no_other);
    tcase_add_test(failures, a_folder_that_is_not_there_is_told);
    tcase_add_test(failures, every_failed_allocation_of_save_leaves_the_old_file);
    tcase_add_test(failures, every_failed_allocation_of_load_changes_nothing);
    add_case(s, failures);
    return s;
}
