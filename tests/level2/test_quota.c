// What one key may use, on a clock that stands still until a test moves it; and keys that are read
// again while their requests run.
#include "level2-operator/service/quota.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "level2-operator/server/http_keys.h"
#include "tests/support/http_house.h"

static const int64_t second = 1000000000;

static enum status enter(struct quota *q, int64_t now_ns, int *retry_s) {
    struct error err = {0};
    enum status st = quota_enter(q, now_ns, retry_s, &err);
    ck_assert(st == OK || (st == ERR_BUSY && err.text[0]));
    return st;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(a_minute_of_requests_may_come_at_once_and_flows_back) {
    struct quota q = {.requests_per_minute = 6};
    int retry_s = 0;
    for (int i = 0; i < 6; i++) assert_status("at once", enter(&q, 0, &retry_s), OK);
    assert_status("the seventh", enter(&q, 0, &retry_s), ERR_BUSY);
    assert_number("one every ten seconds", retry_s, 10);
    assert_status("too early", enter(&q, 9 * second, &retry_s), ERR_BUSY);
    assert_number("almost", retry_s, 1);
    assert_status("in time", enter(&q, 10 * second, &retry_s), OK);
    assert_status("and only one", enter(&q, 10 * second, &retry_s), ERR_BUSY);
    for (int i = 0; i < 6; i++)
        assert_status("after a rest", enter(&q, 1000 * second, &retry_s), OK);
    assert_status("it does not overflow", enter(&q, 1000 * second, &retry_s), ERR_BUSY);
}
END_TEST

START_TEST(tokens_are_taken_away_afterwards) {
    struct quota q = {.tokens_per_minute = 600};
    int retry_s = 0;
    assert_status("first", enter(&q, 0, &retry_s), OK);
    assert_status("not known yet", enter(&q, 0, &retry_s), OK);
    quota_leave(&q, 0, 500);
    assert_status("100 are left", enter(&q, 0, &retry_s), OK);
    quota_leave(&q, 0, 300);
    assert_status("200 too many", enter(&q, 0, &retry_s), ERR_BUSY);
    assert_number("10 a second", retry_s, 20);
    assert_status("above zero again", enter(&q, 21 * second, &retry_s), OK);
}
END_TEST

START_TEST(so_many_are_inside_at_a_time) {
    struct quota q = {.max_inside = 2};
    int retry_s = 0;
    assert_status("one", enter(&q, 0, &retry_s), OK);
    assert_status("two", enter(&q, 0, &retry_s), OK);
    assert_status("three", enter(&q, 0, &retry_s), ERR_BUSY);
    assert_number("nobody knows when", retry_s, 1);
    quota_leave(&q, 0, 1000000);
    assert_status("a place", enter(&q, 0, &retry_s), OK);
    quota_undo(&q);
    assert_status("given back", enter(&q, 0, &retry_s), OK);
    assert_number("inside", q.n_inside, 2);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(without_limits_all_come_in) {
    struct quota q = {0};
    int retry_s = 0;
    for (int i = 0; i < 1000; i++) assert_status("in", enter(&q, i, &retry_s), OK);
    for (int i = 0; i < 1000; i++) quota_leave(&q, i, 1 << 30);
    assert_status("in", enter(&q, 5000, &retry_s), OK);
}
END_TEST

START_TEST(who_was_turned_away_has_used_nothing) {
    struct quota q = {.requests_per_minute = 1};
    int retry_s = 0;
    assert_status("in", enter(&q, 0, &retry_s), OK);
    quota_undo(&q);
    assert_status("still in", enter(&q, 0, &retry_s), OK);
    assert_status("used", enter(&q, 0, &retry_s), ERR_BUSY);
    assert_number("a minute", retry_s, 60);
}
END_TEST

START_TEST(a_wait_is_never_longer_than_the_limit_of_waits) {
    struct quota q = {.tokens_per_minute = 1};
    int retry_s = 0;
    assert_status("in", enter(&q, 0, &retry_s), OK);
    quota_leave(&q, 0, 1 << 30);
    assert_status("out", enter(&q, 0, &retry_s), ERR_BUSY);
    assert_number("at most", retry_s, LIMIT_RETRY_AFTER_S);
}
END_TEST

// In any window a key gets at most what was in the bucket and what flowed in: whatever the order
// of calls.
START_TEST(never_more_than_the_bucket_and_what_flows_in) {
    struct draw d = draw_start("quota");
    struct quota q = {.requests_per_minute = 30};
    int64_t now_ns = 0;
    int n_in = 0, retry_s;
    for (int i = 0; i < 500; i++) {
        now_ns += (int64_t)draw_int(&d, 0, 3000) * 1000000;
        if (enter(&q, now_ns, &retry_s) == OK) n_in++;
    }
    double most = 30 + 30 * (double)now_ns / 60e9;
    ck_assert_msg(n_in <= most && n_in >= most - 31, "%d came in, at most %g may", n_in,
                  most);
}
END_TEST

// ---- keys ---------------------------------------------------------------------------------------

static char path[64];

static void write_keys(const char *text) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static void make_file(void) {
    strcpy(path, "/tmp/test_quota_XXXXXX");
    close(mkstemp(path));
}

static void remove_file(void) {
    unlink(path);
}

static struct http_key *key_of(struct http_keys *k, const char *text) {
    uint64_t scope;
    char header[64];
    snprintf(header, sizeof(header), "Bearer %s", text);
    return http_keys_check(k, header, &scope) ? http_keys_of(k, scope) : NULL;
}

START_TEST(a_line_has_a_key_a_name_and_limits) {
    struct http_keys k = {0};
    write_keys("sk-1 team-a inside=4 requests-per-minute=60 tokens-per-minute=20000\n"
               "# sk-0\nsk-2\tteam_b\r\nsk-3 inside=2\nsk-4");
    ck_assert_int_eq(http_keys_read(&k, path, NULL), OK);
    assert_number("keys", k.n_keys, 4);
    assert_text("name", key_of(&k, "sk-1")->name, "team-a");
    assert_number("inside", key_of(&k, "sk-1")->quota.max_inside, 4);
    assert_number("requests", key_of(&k, "sk-1")->quota.requests_per_minute, 60);
    assert_number("tokens", key_of(&k, "sk-1")->quota.tokens_per_minute, 20000);
    assert_text("name", key_of(&k, "sk-2")->name, "team_b");
    assert_number("no limit", key_of(&k, "sk-2")->quota.max_inside, 0);
    assert_text("its number", key_of(&k, "sk-3")->name, "key-3");
    assert_number("inside", key_of(&k, "sk-3")->quota.max_inside, 2);
    assert_text("its number", key_of(&k, "sk-4")->name, "key-4");
}
END_TEST

START_TEST(reading_again_keeps_what_was_used) {
    struct http_keys k = {0};
    int retry_s = 0;
    ck_assert_int_eq(http_keys_add(&k, "sk-given", NULL), OK);
    write_keys("sk-1 a inside=1\nsk-2 b inside=1\nsk-3 c inside=1\n");
    ck_assert_int_eq(http_keys_read(&k, path, NULL), OK);
    for (int i = 1; i < 4; i++) enter(&k.keys[i].quota, 0, &retry_s);

    write_keys("sk-2 b2 inside=1\nsk-1 a inside=2\nsk-4 d\n");
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, NULL), OK);
    ck_assert_ptr_null(key_of(&k, "sk-3"));
    ck_assert_ptr_nonnull(key_of(&k, "sk-given"));
    assert_text("renamed", key_of(&k, "sk-2")->name, "b2");
    assert_number("still inside", key_of(&k, "sk-2")->quota.n_inside, 1);
    assert_number("still inside", key_of(&k, "sk-1")->quota.n_inside, 1);
    assert_status("more room", enter(&key_of(&k, "sk-1")->quota, 0, &retry_s), OK);
    assert_status("none", enter(&key_of(&k, "sk-2")->quota, 0, &retry_s), ERR_BUSY);

    write_keys("sk-3 c inside=1\n"); // gone and back: its request ends after all
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, NULL), OK);
    quota_leave(&key_of(&k, "sk-3")->quota, 0, 5);
    assert_number("nobody", key_of(&k, "sk-3")->quota.n_inside, 0);
}
END_TEST

START_TEST(a_bad_file_changes_nothing) {
    struct http_keys k = {0};
    struct error err = {0};
    write_keys("sk-1\nsk-2\n");
    ck_assert_int_eq(http_keys_read(&k, path, NULL), OK);
    write_keys("sk-3\nsk-4 inside=none\n");
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, &err), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "line 2"));
    ck_assert_ptr_null(strstr(err.text, "sk-"));
    write_keys("");
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, &err), ERR_INPUT);
    write_keys("sk-3 a\nsk-4\nsk-3 b inside=1\n"); // which of the two counts?
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, &err), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "line 3"));
    struct http_keys admins = {0};
    ck_assert_int_eq(http_keys_add(&admins, "sk-admin", NULL), OK);
    write_keys("sk-3\nsk-admin\n");
    ck_assert_int_eq(http_keys_reload(&k, path, &admins, &err), ERR_INPUT);
    unlink(path);
    ck_assert_int_eq(http_keys_reload(&k, path, NULL, &err), ERR_IO);
    assert_number("keys", k.n_keys, 2);
    ck_assert_ptr_nonnull(key_of(&k, "sk-1"));
    ck_assert_ptr_null(key_of(&k, "sk-3"));
}
END_TEST

static atomic_bool is_over;

static void *cut_and_fill(void *text) {
    while (!atomic_load(&is_over)) write_keys(text);
    return NULL;
}

// An editor saves while SIGHUP comes.
START_TEST(a_file_that_is_cut_short_meanwhile_ends_nobody) {
    static char text[1 << 16];
    struct http_keys k = {0};
    pthread_t editor;
    memset(text, '#', sizeof(text) - 1);
    for (size_t i = 80; i < sizeof(text); i += 80) text[i] = '\n';
    memcpy(text, "sk-1\n", 5);
    write_keys(text);
    ck_assert_int_eq(http_keys_read(&k, path, NULL), OK);
    pthread_create(&editor, NULL, cut_and_fill, text);
    for (int i = 0; i < 300; i++) http_keys_reload(&k, path, NULL, NULL);
    atomic_store(&is_over, true);
    pthread_join(editor, NULL);
    assert_number("keys", k.n_keys, 1);
}
END_TEST

START_TEST(a_file_of_keys_has_an_end) {
    struct http_keys k = {0};
    struct error err = {0};
    FILE *f = fopen(path, "w");
    for (int i = 0; i <= LIMIT_KEY_FILE_BYTES / 80; i++) fprintf(f, "#%78d\n", i);
    fclose(f);
    ck_assert_int_eq(http_keys_read(&k, path, &err), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, path));
}
END_TEST

// ---- the door -----------------------------------------------------------------------------------

static const char mine[] = "Authorization: Bearer sk-1\r\n";

START_TEST(a_key_above_its_limit_hears_429_and_when) {
    make_file();
    write_keys("sk-1 a requests-per-minute=2 tokens-per-minute=100\nsk-2 b\n");
    ck_assert_int_eq(http_keys_read(&house.keys, path, NULL), OK);
    remove_file();
    start();
    const char *reply = post("/v1/completions", mine, "{}"); // the house says 3 tokens
    assert_has("first", reply, " 200 ");
    assert_has("first", reply, "x-ratelimit-limit-requests: 2\r\n");
    assert_has("first", reply, "x-ratelimit-remaining-requests: 1\r\n");
    assert_has("first", reply, "x-ratelimit-reset-requests: 30.000s\r\n");
    assert_has("first", reply, "x-ratelimit-remaining-tokens: 100\r\n");
    reply = post("/v1/completions", mine, "{}");
    assert_has("second", reply, " 200 ");
    assert_has("second", reply, "x-ratelimit-remaining-tokens: 97\r\n");
    reply = post("/v1/completions", mine, "{}");
    assert_has("third", reply, " 429 ");
    assert_has("third", reply, "\"code\":\"rate_limit_exceeded\"");
    assert_has("third", reply, "\"type\":\"rate_limit_error\"");
    assert_has("third", reply, "Retry-After: 30\r\n");
    reply = post("/v1/completions", "Authorization: Bearer sk-2\r\n", "{}");
    assert_has("another key", reply, " 200 ");
    assert_lacks("another key", reply, "x-ratelimit");
    assert_has("health", get("/health"), " 200 ");
}
END_TEST

START_TEST(a_place_inside_is_free_when_its_client_has_gone) {
    make_file();
    write_keys("sk-1 a inside=1\n");
    ck_assert_int_eq(http_keys_read(&house.keys, path, NULL), OK);
    remove_file();
    start();
    int fd = dial();
    say_post(fd, "/v1/completions", mine, "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    assert_has("inside", post("/v1/completions", mine, "{}"), "\"rate_limit_exceeded\"");
    close(fd);
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    assert_has("free", post("/v1/completions", mine, "{}"), " 200 ");
}
END_TEST

// He is not asked whether he heard the end of his answer.
START_TEST(who_leaves_in_the_middle_has_used_his_tokens_all_the_same) {
    make_file();
    write_keys("sk-1 a tokens-per-minute=100\n");
    ck_assert_int_eq(http_keys_read(&house.keys, path, NULL), OK);
    remove_file();
    start();
    int fd = dial();
    say_post(fd, "/v1/completions", mine, "head");
    hear(fd, "data: one");
    close(fd);
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    const char *reply = post("/v1/completions", mine, "{}");
    for (int i = 0; i < 100 && strstr(reply, " 200 "); i++) {
        nap_ms(1); // what he used comes a moment later
        reply = post("/v1/completions", mine, "never");
    }
    assert_has("the next", reply, "this key may use 100 tokens a minute");
}
END_TEST

// Reads the file again, and waits until that has happened: the new key opens.
static void reload(const char *text, const char *new_key) {
    char header[64];
    write_keys(text);
    snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", new_key);
    kill(getpid(), SIGHUP);
    for (int i = 0; i < PATIENCE_MS && strstr(post("/tokenize", header, "{}"), " 401 ");
         i++)
        nap_ms(1);
}

START_TEST(a_key_that_was_away_for_a_moment_still_counts_who_is_inside) {
    make_file();
    write_keys("sk-1 a inside=1\n");
    ck_assert_int_eq(http_keys_read(&house.keys, path, NULL), OK);
    house.options.key_file = path;
    house.options.takes_signals = true;
    start();
    int fd = dial();
    say_post(fd, "/v1/completions", mine, "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    reload("sk-2 b\n", "sk-2");
    reload("sk-1 a inside=1\nsk-3 c\n", "sk-3");
    assert_has("inside", post("/v1/completions", mine, "{}"), "\"rate_limit_exceeded\"");
    close(fd);
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    assert_has("free", post("/v1/completions", mine, "{}"), " 200 ");
    remove_file();
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/quota");
    TCase *reference = tcase_create("reference"), *edges = tcase_create("edges");
    TCase *keys = tcase_create("keys"), *door = house_tcase(s, "door");
    tcase_add_test(reference, a_minute_of_requests_may_come_at_once_and_flows_back);
    tcase_add_test(reference, tokens_are_taken_away_afterwards);
    tcase_add_test(reference, so_many_are_inside_at_a_time);
    tcase_add_test(edges, without_limits_all_come_in);
    tcase_add_test(edges, who_was_turned_away_has_used_nothing);
    tcase_add_test(edges, a_wait_is_never_longer_than_the_limit_of_waits);
    tcase_add_test(edges, never_more_than_the_bucket_and_what_flows_in);
    tcase_add_checked_fixture(keys, make_file, remove_file);
    tcase_add_test(keys, a_line_has_a_key_a_name_and_limits);
    tcase_add_test(keys, reading_again_keeps_what_was_used);
    tcase_add_test(keys, a_bad_file_changes_nothing);
    tcase_add_test(keys, a_file_that_is_cut_short_meanwhile_ends_nobody);
    tcase_add_test(keys, a_file_of_keys_has_an_end);
    tcase_add_test(door, a_key_above_its_limit_hears_429_and_when);
    tcase_add_test(door, a_place_inside_is_free_when_its_client_has_gone);
    tcase_add_test(door, who_leaves_in_the_middle_has_used_his_tokens_all_the_same);
    tcase_add_test(door, a_key_that_was_away_for_a_moment_still_counts_who_is_inside);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, keys);
    return s;
}
