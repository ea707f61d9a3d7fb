// Opening a client: which URLs and keys are taken, and what errors may show of them. No server.
#include "level1-user/client.h"

#include <string.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct clock real_clock;
static struct client client;
static struct error err;

static void setup(void) {
    clock_init_real(&real_clock);
    client = (struct client){0};
    err = (struct error){0};
}

static void teardown(void) {
    client_close(&client);
}

static enum status open_with(const char *base_url, const char *api_key) {
    struct client_options options = {
        .base_url = base_url, .api_key = api_key, .prefix_key = "prefix"};
    return client_open(&client, &options, &real_clock, &err);
}

START_TEST(errors_name_a_server_without_its_password_and_path) {
    ck_assert_int_eq(open_with("http://user:secret@127.0.0.1:1/v1?x=y", NULL), OK);
    ck_assert_str_eq(client.where, "http://127.0.0.1:1");
}
END_TEST

static const char *const bad_urls[] = {
    "",        "127.0.0.1:8080/v1", "ftp://127.0.0.1/v1", "file:///etc/passwd",
    "http://", "http://a b/",
};

START_TEST(a_base_url_of_no_use_is_refused) {
    ck_assert_int_eq(open_with(bad_urls[_i], NULL), ERR_INPUT);
    ck_assert_str_eq(err.text, "the base URL must look like http://127.0.0.1:8080/v1");
    ck_assert_ptr_null(client.easy); // closed
}
END_TEST

START_TEST(a_key_that_could_add_headers_is_refused_and_not_printed) {
    ck_assert_int_eq(open_with("http://127.0.0.1:1/v1", "secret\r\nX-Evil: 1"), ERR_INPUT);
    ck_assert_ptr_null(strstr(err.text, "secret"));
}
END_TEST

START_TEST(a_key_above_the_limit_is_refused) {
    char key[LIMIT_CLIENT_KEY_BYTES + 2] = {0};
    memset(key, 'k', LIMIT_CLIENT_KEY_BYTES + 1);
    ck_assert_int_eq(open_with("http://127.0.0.1:1/v1", key), ERR_INPUT);
    ck_assert_str_eq(err.text, "the API key has 4097 bytes, at most 4096 are sent");
    key[LIMIT_CLIENT_KEY_BYTES] = '\0';
    ck_assert_int_eq(open_with("http://127.0.0.1:1/v1", key), OK);
}
END_TEST

static const struct {
    const char *key, *error;
} bad_prefix_keys[] = {
    {"tenant\r\nX-Evil: 1",
     "the prefix key holds a space, a line end or a strange character"                       },
    {"two words",           "the prefix key holds a space, a line end or a strange character"},
};

START_TEST(a_prefix_key_is_held_to_the_same_rules) {
    struct client_options options = {.base_url = "http://127.0.0.1:1/v1",
                                     .prefix_key = bad_prefix_keys[_i].key};
    assert_status("client_open", client_open(&client, &options, &real_clock, &err),
                  ERR_INPUT);
    assert_text("the error", err.text, bad_prefix_keys[_i].error);
}
END_TEST

START_TEST(a_prefix_key_above_the_limit_is_refused) {
    char key[LIMIT_PREFIX_KEY_BYTES + 2] = {0};
    struct client_options options = {.base_url = "http://127.0.0.1:1/v1",
                                     .prefix_key = key};
    memset(key, 'k', LIMIT_PREFIX_KEY_BYTES + 1);
    assert_status("client_open", client_open(&client, &options, &real_clock, &err),
                  ERR_INPUT);
    assert_text("the error", err.text,
                "the prefix key has 257 bytes, at most 256 are sent");
    key[LIMIT_PREFIX_KEY_BYTES] = '\0';
    assert_status("client_open", client_open(&client, &options, &real_clock, &err), OK);
}
END_TEST

START_TEST(closing_twice_does_nothing) {
    ck_assert_int_eq(open_with("http://127.0.0.1:1/v1", NULL), OK);
    client_close(&client);
    client_close(&client);
}
END_TEST

// What libcurl takes for itself is not touched; what is ours fails at each N.
START_TEST(every_failed_allocation_is_an_error) {
    int n = 0;
    for (;; n++) {
        err = (struct error){0};
        memory_fail_after(n);
        enum status st = open_with("http://127.0.0.1:1/v1", "key");
        memory_fail_after(-1);
        if (st == OK) break;
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_ptr_null(client.easy); // closed
    }
    ck_assert_int_ge(n, 1);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/client_open");

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, errors_name_a_server_without_its_password_and_path);
    tcase_add_test(edges, closing_twice_does_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, a_base_url_of_no_use_is_refused, 0,
                        sizeof(bad_urls) / sizeof(bad_urls[0]));
    tcase_add_test(failures, a_key_that_could_add_headers_is_refused_and_not_printed);
    tcase_add_test(failures, a_key_above_the_limit_is_refused);
    tcase_add_loop_test(failures, a_prefix_key_is_held_to_the_same_rules, 0, 2);
    tcase_add_test(failures, a_prefix_key_above_the_limit_is_refused);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    suite_add_tcase(s, failures);
    return s;
}
