// The trace: spans come out as JSON that another parser reads, with the numbers that went in.
#include "common/trace.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/suite.h"

static struct arena arena;
static struct clock virtual_clock;
static struct trace trace;
static char path[] = "/tmp/test_trace_XXXXXX";

static void setup(void) {
    arena_init(&arena, 64 << 20);
    clock_init_virtual(&virtual_clock, 5000);
    close(mkstemp(path));
}

static void teardown(void) {
    unlink(path);
    arena_free(&arena);
}

static void open_trace(int n_lanes) {
    struct error err = {0};
    ck_assert_msg(trace_init(&trace, &arena, n_lanes, &virtual_clock, &err) == OK, "%s",
                  err.text);
}

static void record(int lane, const char *name, int64_t begin_ns, int64_t end_ns,
                   int64_t arg) {
    virtual_clock.virtual_ns = end_ns;
    trace_end(&trace, lane, name, begin_ns, arg);
}

// The events of the written file; the caller gives the document back.
static json_t *write_and_load(void) {
    struct error err = {0};
    json_error_t at;
    ck_assert_msg(trace_write(&trace, path, &err) == OK, "%s", err.text);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
    ck_assert_msg(root != NULL, "line %d: %s", at.line, at.text);
    return root;
}

// The i-th complete event ("X"), NULL when there are fewer.
static json_t *span_at(json_t *root, size_t i) {
    size_t at;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), at, event) {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        if (strcmp(phase, "X") == 0 && i-- == 0) return event;
    }
    return NULL;
}

static double number(json_t *event, const char *key) {
    return json_number_value(json_object_get(event, key));
}

START_TEST(spans_come_out_in_microseconds_from_the_first_begin) {
    open_trace(2);
    record(0, "step", 1000000, 1012345, 64);
    record(1, "attend", 1002000, 1002001, -1);

    json_t *root = write_and_load();
    json_t *step = span_at(root, 0), *attend = span_at(root, 1);
    ck_assert_str_eq(json_string_value(json_object_get(step, "name")), "step");
    ck_assert_double_eq(number(step, "ts"), 0);
    ck_assert_double_eq(number(step, "dur"), 12.345);
    ck_assert_double_eq(number(step, "tid"), 0);
    ck_assert_double_eq(number(json_object_get(step, "args"), "n"), 64);
    ck_assert_double_eq(number(attend, "ts"), 2);
    ck_assert_double_eq(number(attend, "dur"), 0.001);
    ck_assert_double_eq(number(attend, "tid"), 1);
    ck_assert_ptr_null(json_object_get(attend, "args"));
    ck_assert_ptr_null(span_at(root, 2));
    json_decref(root);
}
END_TEST

START_TEST(trace_begin_gives_the_clock_of_the_trace_or_nothing) {
    open_trace(1);
    ck_assert_int_eq(trace_begin(&trace), 5000);
    ck_assert_int_eq(trace_begin(NULL), 0);
    trace_end(NULL, 3, "off", 0, -1); // must simply return
}
END_TEST

START_TEST(a_name_may_hold_any_byte_of_text) {
    static const char name[] = "a \"quoted\" \\ name\nwith\ttabs \x01 and \xc3\xa9";
    open_trace(1);
    record(0, name, 0, 1, -1);
    json_t *root = write_and_load();
    ck_assert_str_eq(json_string_value(json_object_get(span_at(root, 0), "name")), name);
    json_decref(root);
}
END_TEST

START_TEST(a_trace_without_spans_is_valid) {
    open_trace(3);
    json_t *root = write_and_load();
    ck_assert_uint_eq(json_array_size(json_object_get(root, "traceEvents")), 3);
    ck_assert_ptr_null(span_at(root, 0));
    json_decref(root);
}
END_TEST

START_TEST(a_full_lane_counts_what_it_drops) {
    open_trace(2);
    for (int i = 0; i < LIMIT_TRACE_SPANS + 7; i++) record(1, "s", i, i + 1, i);
    record(0, "other lanes go on", 0, 1, -1);
    ck_assert_int_eq(trace.lanes[1].n_spans, LIMIT_TRACE_SPANS);
    ck_assert_int_eq(trace.lanes[1].n_dropped, 7);
    ck_assert_int_eq(trace.lanes[0].n_spans, 1);

    json_t *root = write_and_load();
    ck_assert_double_eq(number(json_object_get(root, "otherData"), "dropped_spans"), 7);
    ck_assert_ptr_nonnull(span_at(root, LIMIT_TRACE_SPANS));
    json_decref(root);
}
END_TEST

START_TEST(writing_again_replaces_the_file) {
    open_trace(1);
    for (int i = 0; i < 100; i++) record(0, "a long first version", i, i + 1, i);
    json_decref(write_and_load());
    open_trace(1);
    record(0, "short", 0, 1, -1);
    json_t *root = write_and_load();
    ck_assert_ptr_null(span_at(root, 1));
    json_decref(root);
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    int n = 0;
    for (;; n++) {
        struct error err = {0};
        arena_reset(&arena);
        arena_fail_after(&arena, n);
        if (trace_init(&trace, &arena, 2, &virtual_clock, &err) == OK) break;
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_str_ne(err.text, "");
        ck_assert_int_eq(trace.n_lanes, 0);
    }
    ck_assert_int_eq(n, 3); // the lanes, and the spans of each
}
END_TEST

START_TEST(a_path_that_cannot_be_written_is_named) {
    static const char *const paths[] = {"/nonexistent/trace.json", "/dev/full"};
    struct error err = {0};
    open_trace(1);
    for (int i = 0; i < 10000; i++) record(0, "more than a buffer", i, i + 1, i);
    ck_assert_int_eq(trace_write(&trace, paths[_i], &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, paths[_i]));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/trace");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, spans_come_out_in_microseconds_from_the_first_begin);
    tcase_add_test(reference, trace_begin_gives_the_clock_of_the_trace_or_nothing);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_name_may_hold_any_byte_of_text);
    tcase_add_test(edges, a_trace_without_spans_is_valid);
    tcase_add_test(edges, a_full_lane_counts_what_it_drops);
    tcase_add_test(edges, writing_again_replaces_the_file);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_loop_test(failures, a_path_that_cannot_be_written_is_named, 0, 2);
    suite_add_tcase(s, failures);
    return s;
}
