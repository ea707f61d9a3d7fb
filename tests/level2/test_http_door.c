// What the loop asks at the door, without a socket: path, key, origin; and whether the engine lives.
#include "level2-operator/server/http_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "level2-operator/server/http_cors.h"
#include "level2-operator/server/http_route.h"
#include "level2-operator/service/heartbeat.h"
#include "tests/support/suite.h"

static struct arena arena;

static void setup(void) {
    arena_init(&arena, 1 << 20);
}

static void teardown(void) {
    arena_free(&arena);
}

// ---- paths --------------------------------------------------------------------------------------

static const struct {
    const char *path;
    enum http_action action;
    const char *rest;
} paths[] = {
    {"/v1/chat/completions",  HTTP_JOB,     ""   },
    {"/v1/chat/completions/", HTTP_UNKNOWN, ""   },
    {"/v1/models",            HTTP_MODELS,  ""   },
    {"/v1/models/",           HTTP_UNKNOWN, ""   },
    {"/v1/models/a/b",        HTTP_MODEL,   "a/b"},
    {"/health",               HTTP_HEALTH,  ""   },
    {"/healthy",              HTTP_UNKNOWN, ""   },
    {"",                      HTTP_UNKNOWN, ""   },
    {"/V1/models",            HTTP_UNKNOWN, ""   },
};
enum { N_PATHS = sizeof(paths) / sizeof(*paths) };

START_TEST(finds_the_row_of_a_path) {
    const char *rest = NULL;
    const struct http_route *r = http_route_find(paths[_i].path, &rest);
    ck_assert_msg(r->action == paths[_i].action, "%s: action %d, want %d", paths[_i].path,
                  (int)r->action, (int)paths[_i].action);
    ck_assert_str_eq(rest, paths[_i].rest);
}
END_TEST

// ---- keys ---------------------------------------------------------------------------------------

static const char *write_file(const char *text, size_t n) {
    static char path[] = "/tmp/test_http_door_XXXXXX";
    strcpy(path, "/tmp/test_http_door_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
    close(fd);
    return path;
}

START_TEST(reads_one_key_per_line) {
    static const char text[] = "# keys\n\n  sk-one \r\nsk-two";
    struct http_keys k = {0};
    uint64_t scope;
    const char *path = write_file(text, sizeof(text) - 1);
    ck_assert_int_eq(http_keys_read(&k, path, NULL), OK);
    unlink(path);
    ck_assert_int_eq(k.n_keys, 2);
    ck_assert(http_keys_check(&k, "Bearer sk-one", &scope));
    ck_assert(http_keys_check(&k, "Bearer sk-two", &scope));
    ck_assert(!http_keys_check(&k, "Bearer # keys", &scope));
}
END_TEST

static const struct {
    const char *name, *text;
    size_t n;
    const char *want; // in the message
} bad_files[] = {
    {"empty: the door must not stand open", "",                           0,  "no API key"     },
    {"only a comment",                      "# x\n",                      4,  "no API key"     },
    {"a name that is none",                 "sk-1\nsk-2 a,b",             13, "line 2"         },
    {"two names",                           "sk-2 a b\n",                 9,  "line 1"         },
    {"a limit of nothing",                  "sk-2 inside=0",              13, "inside= needs"  },
    {"a limit that is no number",           "sk-2 requests-per-minute=x", 26,
     "requests-per-minute= needs"                                                              },
    {"a limit nobody knows",                "sk-2 a rpm=3",               12, "a limit is"     },
    {"not ASCII",                           "sk-2\xc3\xa4",               6,  "visible ASCII"  },
    {"a zero byte",                         "sk\0x",                      4,  "not a text file"},
};
enum { N_BAD_FILES = sizeof(bad_files) / sizeof(*bad_files) };

START_TEST(refuses_a_file_that_would_not_lock) {
    struct http_keys k = {0};
    struct error err = {0};
    const char *path = write_file(bad_files[_i].text, bad_files[_i].n);
    ck_assert_int_eq(http_keys_read(&k, path, &err), ERR_INPUT);
    unlink(path);
    ck_assert_msg(strstr(err.text, bad_files[_i].want) != NULL, "%s: %s",
                  bad_files[_i].name, err.text);
    ck_assert_msg(strstr(err.text, "sk-2") == NULL, "a message shows a key: %s", err.text);
}
END_TEST

START_TEST(fails_cleanly_at_every_allocation) {
    for (long n = 0;; n++) {
        struct http_cors c = {0};
        struct error err = {0};
        arena_fail_after(&arena, n);
        enum status st = http_cors_add(&c, "https://a.example", &arena, &err);
        if (!st) break;
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_str_ne(err.text, "");
        ck_assert_int_lt(n, 10);
    }
}
END_TEST

START_TEST(refuses_more_keys_than_it_can_hold) {
    struct http_keys k = {0};
    char key[16];
    for (int i = 0; i < LIMIT_API_KEYS; i++) {
        snprintf(key, sizeof(key), "sk-%d", i);
        ck_assert_int_eq(http_keys_add(&k, key, NULL), OK);
    }
    ck_assert_int_eq(http_keys_add(&k, "sk", NULL), ERR_LIMIT);
}
END_TEST

// No part of a key, nothing longer, no other letter opens.
START_TEST(opens_to_the_whole_key_only) {
    static const char key[] = "sk-0123456789";
    struct http_keys k = {0};
    uint64_t scope;
    char given[64];
    ck_assert_int_eq(http_keys_add(&k, key, NULL), OK);
    ck_assert(http_keys_check(&k, "Bearer sk-0123456789", &scope));
    for (int n = 0; n < (int)sizeof(key) - 1; n++) {
        snprintf(given, sizeof(given), "Bearer %.*s", n, key);
        ck_assert(!http_keys_check(&k, given, &scope));
        snprintf(given, sizeof(given), "Bearer %s", key);
        given[7 + n] ^= 1;
        ck_assert(!http_keys_check(&k, given, &scope));
    }
    ck_assert(!http_keys_check(&k, "Bearer sk-0123456789sk-0123456789", &scope));
    ck_assert(!http_keys_check(&k, "sk-0123456789", &scope));
}
END_TEST

// ---- origins ------------------------------------------------------------------------------------

static const struct {
    const char *list, *origin, *want;
} origins[] = {
    {"https://a.example",              "https://a.example",      "https://a.example"},
    {"https://a.example",              "https://a.example.evil", NULL               },
    {"https://a.example",              "http://a.example",       NULL               },
    {"https://a.example",              "null",                   NULL               },
    {"https://a.example",              NULL,                     NULL               },
    {"https://a.example, http://b:80", "http://b:80",            "http://b:80"      },
    {"*",                              "https://any.example",    "*"                },
    {"",                               "https://a.example",      NULL               },
};
enum { N_ORIGINS = sizeof(origins) / sizeof(*origins) };

START_TEST(allows_the_listed_origins_only) {
    struct http_cors c = {0};
    ck_assert_int_eq(http_cors_add(&c, origins[_i].list, &arena, NULL), OK);
    const char *got = http_cors_allow(&c, origins[_i].origin);
    ck_assert_pstr_eq(got, origins[_i].want);
}
END_TEST

static const char *const no_origins[] = {"a.example", "https://a.example/", "https://",
                                         "://a",      "https://*.example",  "https://a?b"};
enum { N_NO_ORIGINS = sizeof(no_origins) / sizeof(*no_origins) };

START_TEST(refuses_what_no_browser_sends) {
    struct http_cors c = {0};
    struct error err = {0};
    ck_assert_int_eq(http_cors_add(&c, no_origins[_i], &arena, &err), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, no_origins[_i]));
}
END_TEST

// ---- heartbeat ----------------------------------------------------------------------------------

START_TEST(hears_a_heart_that_beats_when_it_has_work) {
    struct heartbeat h = {0};
    struct engine_stats idle = {.n_steps = 5}, busy = {.n_running = 1, .n_steps = 5};
    ck_assert(heartbeat_look(&h, &idle, 1000, 10));
    ck_assert(heartbeat_look(&h, &idle, 5000, 10)); // idle for long is well
    ck_assert(heartbeat_look(&h, &busy, 5009, 10)); // just got work
    ck_assert(!heartbeat_look(&h, &busy, 5010, 10));
    ck_assert(!heartbeat_look(&h, &busy, 9000, 10));
    busy.n_steps++;
    ck_assert(heartbeat_look(&h, &busy, 9001, 10)); // it lives after all
    ck_assert(heartbeat_look(&h, &busy, 9010, 10));
    ck_assert(!heartbeat_look(&h, &busy, 9011, 10));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/http_door");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, finds_the_row_of_a_path, 0, N_PATHS);
    tcase_add_test(reference, reads_one_key_per_line);
    tcase_add_loop_test(reference, allows_the_listed_origins_only, 0, N_ORIGINS);
    tcase_add_test(reference, hears_a_heart_that_beats_when_it_has_work);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, refuses_a_file_that_would_not_lock, 0, N_BAD_FILES);
    tcase_add_loop_test(failures, refuses_what_no_browser_sends, 0, N_NO_ORIGINS);
    tcase_add_test(failures, refuses_more_keys_than_it_can_hold);
    tcase_add_test(failures, fails_cleanly_at_every_allocation);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, opens_to_the_whole_key_only);
    suite_add_tcase(s, property);
    return s;
}
