// Bytes that grow up to a limit, and JSON written into them.
#include "level2-operator/text/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "level2-operator/text/json_output.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct buffer b;

static void teardown(void) {
    buffer_free(&b);
}

static void assert_holds(const char *want) {
    assert_number("n_bytes", (int64_t)b.n_bytes, (int64_t)strlen(want));
    ck_assert_mem_eq(b.bytes, want, b.n_bytes);
}

START_TEST(keeps_what_was_put_in_order) {
    enum { N = 3000 };
    buffer_init(&b, 2 * N);
    for (int i = 0; i < N; i++) {
        char pair[2] = {(char)i, (char)(i >> 8)};
        ck_assert(buffer_put(&b, pair, 2));
    }
    assert_number("n_bytes", (int64_t)b.n_bytes, 2 * N);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq((unsigned char)b.bytes[2 * i], i & 0xff);
        ck_assert_int_eq((unsigned char)b.bytes[2 * i + 1], i >> 8);
    }
    ck_assert(!b.failed);
}
END_TEST

START_TEST(takes_its_limit_and_not_one_byte_more) {
    buffer_init(&b, 5);
    ck_assert(buffer_put_string(&b, "abc"));
    ck_assert(!buffer_put_string(&b, "def"));
    ck_assert(b.failed);
    ck_assert_msg(!buffer_put_string(&b, "d"), "something was taken after a failure");
    assert_holds("abc");

    buffer_clear(&b);
    ck_assert(!b.failed);
    ck_assert(buffer_put_string(&b, "12345"));
    ck_assert(buffer_put(&b, NULL, 0));
    assert_holds("12345");
    ck_assert(!buffer_put(&b, "6", SIZE_MAX)); // no sum that wraps around
    assert_holds("12345");
}
END_TEST

START_TEST(says_so_when_there_is_no_memory) {
    static const char text[1000];
    buffer_init(&b, sizeof(text));
    ck_assert(buffer_put_string(&b, "abc"));
    memory_fail_after(0);
    bool is_taken = buffer_put(&b, text, sizeof(text) - 3);
    memory_fail_after(-1);
    ck_assert(!is_taken && b.failed);
    assert_holds("abc");
}
END_TEST

START_TEST(json_stands_behind_what_was_there) {
    buffer_init(&b, 100);
    buffer_put_string(&b, "data: ");
    json_output_open(&b, json_pack("{s:i}", "a", 1));
    buffer_put_string(&b, ",\"b\":");
    json_output(&b, json_real(0.1));
    buffer_put_string(&b, "}");
    ck_assert(!b.failed);
    assert_holds("data: {\"a\":1,\"b\":0.1}");
}
END_TEST

START_TEST(a_value_that_could_not_be_made_fails_the_buffer) {
    buffer_init(&b, 100);
    json_output(&b, NULL);
    ck_assert(b.failed);
    buffer_clear(&b);
    json_output_open(&b, NULL);
    ck_assert(b.failed);
    assert_number("n_bytes", (int64_t)b.n_bytes, 0);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n_bytes;
    const char *want;
} texts[] = {
    {"",             0, "\"\""                                    },
    {"a\"b",         3, "\"a\\\"b\""                              },
    {"\xc3\xa9",     2, "\"\xc3\xa9\""                            },
    {"a\xff\xc3",    3, "\"a\xef\xbf\xbd\xef\xbf\xbd\""           },
    {"a\0b",         3, "\"a\\u0000b\""                           },
    {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, // half a pair
};

START_TEST(any_bytes_become_a_string) {
    buffer_init(&b, 100);
    json_output(&b, json_output_text(texts[_i].bytes, texts[_i].n_bytes));
    ck_assert(!b.failed);
    assert_holds(texts[_i].want);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/buffer");
    TCase *edges = tcase_in(s, "edges");
    tcase_add_checked_fixture(edges, NULL, teardown);
    tcase_add_test(edges, keeps_what_was_put_in_order);
    tcase_add_test(edges, takes_its_limit_and_not_one_byte_more);
    tcase_add_test(edges, json_stands_behind_what_was_there);
    tcase_add_loop_test(edges, any_bytes_become_a_string, 0, ROWS(texts));
    TCase *failures = tcase_in(s, "failures");
    tcase_add_checked_fixture(failures, NULL, teardown);
    tcase_add_test(failures, says_so_when_there_is_no_memory);
    tcase_add_test(failures, a_value_that_could_not_be_made_fails_the_buffer);
    return s;
}
