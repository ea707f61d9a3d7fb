// What the system tells us about itself, and how threads sleep and wake.
#include "common/os.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/support/suite.h"

enum { MS = 1000000, MB = 1 << 20 };

static int64_t now_ns(void) {
    struct clock c;
    clock_init_real(&c);
    return clock_now(&c);
}

static void pause_ms(int n_ms) {
    struct clock c;
    clock_init_real(&c);
    c.sleep(&c, (int64_t)n_ms * MS);
}

// ---- the machine --------------------------------------------------------------------------------

START_TEST(there_is_a_cpu_and_no_more_than_the_machine_has) {
    ck_assert_int_ge(os_cpu_count(), 1);
    ck_assert_int_le(os_cpu_count(), (int)sysconf(_SC_NPROCESSORS_CONF));
}
END_TEST

START_TEST(there_is_memory_and_no_more_than_the_machine_has) {
    uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ck_assert_uint_gt(os_memory_bytes(), 0);
    ck_assert_uint_le(os_memory_bytes(), ram);
}
END_TEST

START_TEST(resident_memory_grows_when_pages_are_touched) {
    uint64_t before = os_resident_bytes();
    char *bytes = malloc(32 * MB);
    ck_assert_ptr_nonnull(bytes);
    volatile char *pages = bytes; // no compiler may skip writing what nobody reads
    for (size_t i = 0; i < 32 * MB; i += 4096) pages[i] = 1;
    uint64_t after = os_resident_bytes();
    ck_assert_uint_gt(before, 0);
    ck_assert_uint_ge(after, before + 30 * MB);
    free(bytes);
    ck_assert_uint_ge(os_peak_resident_bytes() + MB,
                      after); // it stays; Linux counts in batches
}
END_TEST

START_TEST(the_cpu_has_a_name_and_features_in_single_words) {
    char name[128], features[256];
    os_cpu_name(name, sizeof(name));
    os_cpu_features(features, sizeof(features));
    ck_assert_str_ne(name, "");
    ck_assert_ptr_null(strchr(name, '\n'));
    size_t n = strlen(features);
    ck_assert(n == 0 || (features[0] != ' ' && features[n - 1] != ' '));
    ck_assert_ptr_null(strstr(features, "  "));
}
END_TEST

START_TEST(short_buffers_are_respected) {
    char all[256], out[256];
    os_cpu_features(all, sizeof(all));
    for (size_t n = 1; n < 60; n++) {
        memset(out, '#', sizeof(out));
        os_cpu_name(out, n);
        ck_assert(memchr(out, '\0', n) != NULL);
        os_cpu_features(out, n);
        ck_assert(memchr(out, '\0', n) != NULL);
        for (size_t i = n; i < sizeof(out); i++)
            ck_assert_msg(out[i] == '#', "byte %zu", i);

        size_t n_cut = strlen(out); // only whole words
        ck_assert(strncmp(out, all, n_cut) == 0);
        ck_assert(n_cut == 0 || all[n_cut] == ' ' || all[n_cut] == '\0');
    }
}
END_TEST

// ---- os_wait ------------------------------------------------------------------------------------

static _Atomic uint32_t word;

START_TEST(waiting_for_another_value_returns_at_once) {
    word = 1;
    int64_t start = now_ns();
    os_wait(&word, 0, 10000ll * MS);
    ck_assert_int_lt(now_ns() - start, 5000ll * MS);
}
END_TEST

START_TEST(waiting_ends_with_its_time) {
    word = 0;
    int64_t start = now_ns();
    os_wait(&word, 0, 20 * MS);
    ck_assert_int_lt(now_ns() - start, 5000ll * MS);
    os_wait(&word, 0, 0);
}
END_TEST

static void *wait_for_one(void *arg) {
    (void)arg;
    while (word == 0) os_wait(&word, 0, -1); // no time limit: a lost wake-up hangs the test
    return NULL;
}

START_TEST(all_sleepers_are_woken) {
    enum { N = 3 };
    pthread_t threads[N];
    for (int round = 0; round < 50; round++) {
        word = 0;
        for (int i = 0; i < N; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_for_one, NULL), 0);
        if (round % 2) pause_ms(1);
        word = 1;
        os_wake_all(&word);
        for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    }
}
END_TEST

// ---- os_signal ----------------------------------------------------------------------------------

static struct os_signal wake;

static void open_wake(void) {
    struct error err = {0};
    ck_assert_msg(os_signal_open(&wake, &err) == OK, "%s", err.text);
}

static void close_wake(void) {
    os_signal_close(&wake);
}

static bool is_readable(void) {
    struct pollfd p = {.fd = wake.read_fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

START_TEST(a_raise_is_seen_until_it_is_cleared) {
    ck_assert(!is_readable());
    os_signal_raise(&wake);
    ck_assert(is_readable() && is_readable());
    os_signal_clear(&wake);
    ck_assert(!is_readable());
    os_signal_clear(&wake); // does not block
}
END_TEST

START_TEST(many_raises_are_one) {
    for (int i = 0; i < 100000; i++) os_signal_raise(&wake); // never blocks
    os_signal_clear(&wake);
    ck_assert(!is_readable());
}
END_TEST

START_TEST(descriptors_do_not_outlive_exec) {
    ck_assert(fcntl(wake.read_fd, F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(wake.write_fd, F_GETFD) & FD_CLOEXEC);
}
END_TEST

static void on_alarm(int signal) {
    (void)signal;
    os_signal_raise(&wake);
}

START_TEST(a_signal_handler_may_raise) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval soon = {
        {0, 0   },
        {0, 5000}
    };
    setitimer(ITIMER_REAL, &soon, NULL);
    struct pollfd p = {.fd = wake.read_fd, .events = POLLIN};
    while (poll(&p, 1, -1) != 1) {}
    ck_assert(is_readable());
}
END_TEST

static void *raise_later(void *arg) {
    (void)arg;
    pause_ms(2);
    os_signal_raise(&wake);
    return NULL;
}

START_TEST(another_thread_may_raise) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, raise_later, NULL), 0);
    struct pollfd p = {.fd = wake.read_fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 10000), 1);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_zeroed_or_closed_signal_may_be_closed) {
    struct os_signal zero = {0};
    os_signal_close(&zero);
    ck_assert(fcntl(0, F_GETFD) != -1); // it did not take standard input along
    os_signal_close(&wake);
    os_signal_close(&wake);
}
END_TEST

START_TEST(a_closed_standard_input_is_no_trap) {
    close(0);
    struct os_signal other;
    ck_assert_int_eq(os_signal_open(&other, NULL), OK);
    ck_assert_int_gt(other.read_fd, 0);
    ck_assert_int_gt(other.write_fd, 0);
    os_signal_close(&other);
}
END_TEST

START_TEST(no_descriptor_left_is_an_error) {
    struct error err = {0};
    struct os_signal other;
    struct rlimit usual, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = usual;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_eq(os_signal_open(&other, &err), ERR_IO);
    setrlimit(RLIMIT_NOFILE, &usual); // the leak check needs one, too
    ck_assert_int_eq(err.code, ERR_IO);
    os_signal_close(&other);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/os");

    TCase *machine = tcase_create("reference");
    tcase_add_test(machine, there_is_a_cpu_and_no_more_than_the_machine_has);
    tcase_add_test(machine, there_is_memory_and_no_more_than_the_machine_has);
    tcase_add_test(machine, resident_memory_grows_when_pages_are_touched);
    tcase_add_test(machine, the_cpu_has_a_name_and_features_in_single_words);
    suite_add_tcase(s, machine);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, open_wake, close_wake);
    tcase_add_test(edges, short_buffers_are_respected);
    tcase_add_test(edges, waiting_for_another_value_returns_at_once);
    tcase_add_test(edges, waiting_ends_with_its_time);
    tcase_add_test(edges, a_raise_is_seen_until_it_is_cleared);
    tcase_add_test(edges, many_raises_are_one);
    tcase_add_test(edges, descriptors_do_not_outlive_exec);
    tcase_add_test(edges, a_signal_handler_may_raise);
    tcase_add_test(edges, a_zeroed_or_closed_signal_may_be_closed);
    tcase_add_test(edges, a_closed_standard_input_is_no_trap);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, no_descriptor_left_is_an_error);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, open_wake, close_wake);
    tcase_set_timeout(property, 30);
    tcase_add_test(property, all_sleepers_are_woken);
    tcase_add_test(property, another_thread_may_raise);
    suite_add_tcase(s, property);
    return s;
}
