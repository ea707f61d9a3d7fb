// The progress bar, watched through a pseudo terminal and a virtual clock.
#define _XOPEN_SOURCE 700 // posix_openpt
#include "common/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"

static const int64_t MS = 1000000;

static int master; // our end of the terminal
static FILE *terminal;
static struct clock fake;
static struct progress p;
static char seen[4096];

static bool open_master(void) {
    master = posix_openpt(O_RDWR | O_NOCTTY);
    return master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0;
}

static void setup(void) {
    ck_assert(open_master());
    fcntl(master, F_SETFL, O_NONBLOCK);
    terminal = fopen(ptsname(master), "w");
    ck_assert_ptr_nonnull(terminal);
    clock_init_virtual(&fake, 1000);
}

static void teardown(void) {
    fclose(terminal);
    close(master);
}

// What has appeared on the terminal since the last look.
static const char *look(void) {
    fflush(terminal);
    ssize_t n = read(master, seen, sizeof(seen) - 1);
    seen[n > 0 ? n : 0] = '\0';
    return seen;
}

START_TEST(a_bar_shows_share_and_megabytes) {
    progress_start(&p, terminal, &fake, "loading", 200000000, true);
    fake.sleep(&fake, 2000 * MS);
    progress_update(&p, 100000000);
    ck_assert_str_eq(look(), "\rloading  [###############...............]  50 %  "
                             "100.0 of 200.0 MB\x1b[K");
    progress_end(&p);
    ck_assert_str_eq(look(), "\r\x1b[K");
}
END_TEST

START_TEST(a_count_needs_no_unit) {
    progress_start(&p, terminal, &fake, "checking", 3, false);
    fake.sleep(&fake, 2000 * MS);
    progress_update(&p, 1);
    ck_assert_str_eq(look(), "\rchecking  [##########....................]  33 %  \x1b[K");
}
END_TEST

START_TEST(what_is_quick_shows_nothing) {
    progress_start(&p, terminal, &fake, "loading", 100, false);
    for (int i = 0; i < 20; i++) {
        progress_update(&p, (uint64_t)i * 5);
        fake.sleep(&fake, 99 * MS);
    }
    progress_end(&p);
    ck_assert_str_eq(look(), "");
}
END_TEST

START_TEST(it_draws_at_most_ten_times_a_second) {
    progress_start(&p, terminal, &fake, "loading", 1000, false);
    fake.sleep(&fake, 2000 * MS);
    int n_bars = 0;
    for (int i = 0; i < 1000; i++) { // one second
        progress_update(&p, (uint64_t)i);
        n_bars += strchr(look(), '[') != NULL;
        fake.sleep(&fake, MS);
    }
    ck_assert_int_eq(n_bars, 10);
}
END_TEST

START_TEST(more_than_all_is_all) {
    progress_start(&p, terminal, &fake, "loading", 10, false);
    fake.sleep(&fake, 2000 * MS);
    progress_update(&p, UINT64_MAX);
    ck_assert_ptr_nonnull(strstr(look(), "[##############################] 100 %"));
    progress_start(&p, terminal, &fake, "loading", 0, false);
    fake.sleep(&fake, 2000 * MS);
    progress_update(&p, 5);
    ck_assert_str_eq(look(), "");
}
END_TEST

START_TEST(a_file_and_nothing_stay_clean) {
    char *text;
    size_t n_text;
    FILE *file = open_memstream(&text, &n_text);
    FILE *outs[] = {file, NULL};
    for (int i = 0; i < 2; i++) {
        progress_start(&p, outs[i], &fake, "loading", 10, false);
        fake.sleep(&fake, 5000 * MS);
        progress_update(&p, 5);
        progress_end(&p);
        progress_end(&p); // a second time does nothing
    }
    fclose(file);
    ck_assert_uint_eq(n_text, 0);
    free(text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/progress");

    if (!open_master())
        suite_skip("no pseudo-terminal on this machine (is /dev/pts there?)");
    close(master);

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_bar_shows_share_and_megabytes);
    tcase_add_test(reference, a_count_needs_no_unit);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, what_is_quick_shows_nothing);
    tcase_add_test(edges, it_draws_at_most_ten_times_a_second);
    tcase_add_test(edges, more_than_all_is_all);
    tcase_add_test(edges, a_file_and_nothing_stay_clean);
    suite_add_tcase(s, edges);
    return s;
}
