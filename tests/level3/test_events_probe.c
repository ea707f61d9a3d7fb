// The probe reads what it counts, and takes only what can be repeated.
#include "level3-optimizer/events_probe.h"

#include <string.h>

#include "tests/support/suite.h"

static struct events_probe probe;
static struct error err;

static enum status init(const char *stream) {
    err = (struct error){0};
    return events_probe_init(&probe, stream, strlen(stream), &err);
}

START_TEST(a_stream_is_repeated_until_it_is_long_enough) {
    static const char stream[] = "event: a\ndata: 1\n\n: ping\n\ndata: 2\n\n";
    const double n_bytes = sizeof(stream) - 1;
    assert_status("events_probe_init(two events)", init(stream), OK);
    assert_number("events of a run", probe.n_events, 2 * probe.n_repeats);
    ck_assert_double_eq(events_probe_run(&probe), n_bytes * (double)probe.n_repeats);
    ck_assert_double_ge(n_bytes * (double)probe.n_repeats, EVENTS_PROBE_BYTES);
    ck_assert_double_lt(n_bytes * (double)(probe.n_repeats - 1), EVENTS_PROBE_BYTES);
}
END_TEST

static const struct {
    const char *name, *stream, *why;
} refused[] = {
    {"an empty file",         "",                     "no event in it"           },
    {"a file without events", ": ping\n\n",           "no event in it"           },
    {"a stream that was cut", "data: 1\n\ndata: 2\n", "its last event has no end"},
};

START_TEST(what_cannot_be_repeated_is_refused) {
    assert_status(refused[_i].name, init(refused[_i].stream), ERR_INPUT);
    assert_text(refused[_i].name, err.text, refused[_i].why);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level3/events_probe");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, a_stream_is_repeated_until_it_is_long_enough);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, what_cannot_be_repeated_is_refused, 0, 3);
    suite_add_tcase(s, failures);
    return s;
}
