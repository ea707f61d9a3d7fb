// Mapped files: the bytes of a file, or one sentence why not.
#include "common/mapped_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

static char folder[] = "/tmp/mapped_file_XXXXXX";
static char path[64];
static struct mapped_file file;

static void setup(void) {
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
}

static void teardown(void) {
    mapped_file_close(&file);
    unlink(path);
    rmdir(folder);
}

static void write_file(const void *bytes, size_t n_bytes) {
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, n_bytes, out), n_bytes);
    fclose(out);
}

static int n_open_files(void) {
    int n = 0;
    for (int fd = 0; fd < 256; fd++) n += fcntl(fd, F_GETFD) != -1;
    return n;
}

// ---- reference ----------------------------------------------------------------------------------

static const size_t sizes[] = {1, 7, 4095, 4096, 4097, 100000};

START_TEST(the_bytes_of_the_file_are_there) {
    static unsigned char bytes[100000];
    struct error err = {0};
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (unsigned char)(i * 7);
    write_file(bytes, sizes[_i]);
    ck_assert_msg(mapped_file_open(&file, path, &err) == OK, "%s", err.text);
    ck_assert_uint_eq(file.n_bytes, sizes[_i]);
    ck_assert(memcmp(file.bytes, bytes, sizes[_i]) == 0);
}
END_TEST

START_TEST(the_bytes_outlive_the_name) {
    write_file("hello", 5);
    ck_assert_int_eq(mapped_file_open(&file, path, NULL), OK);
    unlink(path);
    ck_assert(memcmp(file.bytes, "hello", 5) == 0);
}
END_TEST

// The time of the last change is one of long ago, so that any other differs.
static void write_old_file(const char *text) {
    static const struct timespec long_ago[2] = {
        {1000, 0},
        {1000, 0}
    };
    write_file(text, strlen(text));
    ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

START_TEST(a_change_of_the_file_is_seen) {
    char other[80];
    snprintf(other, sizeof(other), "%s2", path);
    write_old_file("hello");
    ck_assert_int_eq(mapped_file_open(&file, path, NULL), OK);
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_SAME);
    write_file("HELLO", 5); // as many bytes
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_CHANGED);
    write_old_file("hell"); // as old
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_CHANGED);
    write_old_file("hello");
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_SAME);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_MOVED);
    write_old_file("hello");
    ck_assert_int_eq(mapped_file_fate(&file, path), FILE_MOVED);
    unlink(other);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(an_empty_file_is_open_and_has_no_bytes) {
    write_file("", 0);
    ck_assert_int_eq(mapped_file_open(&file, path, NULL), OK);
    ck_assert_ptr_null(file.bytes);
    ck_assert_uint_eq(file.n_bytes, 0);
}
END_TEST

START_TEST(closing_twice_or_before_opening_does_nothing) {
    mapped_file_close(&file);
    write_file("x", 1);
    ck_assert_int_eq(mapped_file_open(&file, path, NULL), OK);
    mapped_file_close(&file);
    mapped_file_close(&file);
    ck_assert_ptr_null(file.bytes);
}
END_TEST

// ---- failures: each leaves the file closed and names the path -----------------------------------

static void assert_refused(const char *why) {
    struct error err = {0};
    memset(&file, 0xff, sizeof(file)); // open must not trust what it finds
    ck_assert_int_eq(mapped_file_open(&file, path, &err), ERR_IO);
    ck_assert_ptr_null(file.bytes);
    ck_assert_uint_eq(file.n_bytes, 0);
    ck_assert_msg(strstr(err.text, path) && strstr(err.text, why), "%s", err.text);
}

START_TEST(a_missing_file_is_refused) {
    assert_refused("No such file");
}
END_TEST

START_TEST(a_folder_is_refused) {
    strcpy(path, folder);
    assert_refused("not a regular file");
}
END_TEST

START_TEST(a_pipe_is_refused_at_once) {
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    assert_refused("not a regular file"); // a plain open would wait for a writer for ever
}
END_TEST

START_TEST(a_device_is_refused) {
    strcpy(path, "/dev/null");
    assert_refused("not a regular file");
    strcpy(path, "");
}
END_TEST

START_TEST(no_name_is_refused) {
    struct error err = {0};
    ck_assert_int_eq(mapped_file_open(&file, "", &err), ERR_IO);
    ck_assert_str_eq(err.text, "no file is named");
}
END_TEST

START_TEST(a_long_name_does_not_hide_the_reason) {
    struct error err = {0};
    char name[301];
    memset(name, 'd', 300);
    name[300] = '\0';
    ck_assert_int_eq(mapped_file_open(&file, name, &err), ERR_IO);
    ck_assert_msg(strstr(err.text, "File name too long") != NULL, "%s", err.text);
}
END_TEST

// Reads behind the new end of a file that was cut: in a process of its own, since that ends it.
static void read_what_was_cut(const char *said) {
    static unsigned char bytes[100000];
    volatile unsigned char last;
    write_file(bytes, sizeof(bytes));
    if (mapped_file_open(&file, path, NULL) != OK || truncate(path, 10) != 0) _exit(3);
    if (!freopen(said, "w", stderr)) _exit(3);
    mapped_file_explain_faults();
    last = file.bytes[sizeof(bytes) - 1];
    (void)last;
    _exit(4);
}

START_TEST(a_file_that_is_cut_while_mapped_ends_the_program_with_a_reason) {
    char said[80], line[200] = "";
    int status;
    snprintf(said, sizeof(said), "%s.said", path);
    pid_t child = fork();
    if (child == 0) read_what_was_cut(said);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    FILE *in = fopen(said, "r");
    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), in));
    ck_assert_int_eq(fgetc(in), EOF); // one line
    fclose(in);
    unlink(said);
    ck_assert_msg(strstr(line, "cut short") != NULL, "%s", line);
#ifdef __linux__
    ck_assert_msg(strncmp(line, path, strlen(path)) == 0, "%s", line);
#endif
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(no_descriptor_stays_open) {
    int before = n_open_files();
    write_file("x", 1);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(mapped_file_open(&file, path, NULL), OK);
        ck_assert_int_eq(n_open_files(), before); // the mapping needs none
        mapped_file_close(&file);
        mapped_file_open(&file, folder, NULL);
        mapped_file_open(&file, "/nowhere", NULL);
    }
    ck_assert_int_eq(n_open_files(), before);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/mapped_file");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, the_bytes_of_the_file_are_there, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_test(reference, the_bytes_outlive_the_name);
    tcase_add_test(reference, a_change_of_the_file_is_seen);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, an_empty_file_is_open_and_has_no_bytes);
    tcase_add_test(edges, closing_twice_or_before_opening_does_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, a_missing_file_is_refused);
    tcase_add_test(failures, a_folder_is_refused);
    tcase_add_test(failures, a_pipe_is_refused_at_once);
    tcase_add_test(failures, a_device_is_refused);
    tcase_add_test(failures, no_name_is_refused);
    tcase_add_test(failures, a_long_name_does_not_hide_the_reason);
    tcase_add_test(failures,
                   a_file_that_is_cut_while_mapped_ends_the_program_with_a_reason);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, no_descriptor_stays_open);
    suite_add_tcase(s, property);
    return s;
}
