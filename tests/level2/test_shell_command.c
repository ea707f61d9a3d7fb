// Commands that run beside us: what they get, how they end, and that none is left.
#include "level2-operator/rollout/shell_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/suite.h"

static const struct shell_variable variables[] = {
    {"REPLICA", "a"                },
    {"ADDRESS", "127.0.0.1:1 $HOME"},
    {NULL,      NULL               }
};

static void rest(void) {
    static const struct timespec ms10 = {0, 10000000};
    nanosleep(&ms10, NULL);
}

static int status_of(const char *text) {
    struct shell_command c = {0};
    struct error err = {0};
    assert_status(err.text, shell_command_start(&c, text, variables, &err), OK);
    while (shell_command_runs(&c)) rest();
    return c.exit_status;
}

START_TEST(its_status_is_told) {
    assert_number("true", status_of("true"), 0);
    assert_number("exit 3", status_of("exit 3"), 3);
    assert_number("killed", status_of("kill -TERM $$"), 128 + SIGTERM);
    assert_number("not found", status_of("/nobody/has/this"), 127);
}
END_TEST

START_TEST(it_gets_its_variables_as_they_are_and_no_input) {
    assert_number("REPLICA", status_of("test \"$REPLICA\" = a"), 0);
    assert_number("ADDRESS", status_of("test \"$ADDRESS\" = '127.0.0.1:1 $HOME'"), 0);
    assert_number("input", status_of("read x"), 1);
    ck_assert_ptr_null(getenv("REPLICA"));
}
END_TEST

START_TEST(it_heeds_signals_that_we_block) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    assert_number("killed", status_of("kill -INT $$; sleep 5"), 128 + SIGINT);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
END_TEST

START_TEST(ended_with_all_that_it_started) {
    struct shell_command c = {0};
    struct error err = {0};
    char path[64], text[300];
    int pid = 0;
    snprintf(path, sizeof(path), "/tmp/shell-command-test-%d", (int)getpid());
    snprintf(text, sizeof(text), "sleep 100 & echo $! >%s.new; mv %s.new %s; wait", path,
             path, path);
    assert_status(err.text, shell_command_start(&c, text, variables, &err), OK);
    while (access(path, R_OK) != 0) rest();
    FILE *f = fopen(path, "r");
    ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
    fclose(f);
    unlink(path);
    ck_assert_int_eq(kill(pid, 0), 0);
    ck_assert(shell_command_runs(&c));
    shell_command_end(&c);
    ck_assert(!shell_command_runs(&c));
    assert_number("status", c.exit_status, 128 + SIGKILL);
    // Whoever adopts orphans here may be slow to bury them: a zombie holds nothing.
    char state = 'R';
    for (int i = 0; i < 500 && state != 'Z'; i++) {
        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        f = fopen(path, "r");
        if (!f) break; // gone
        if (fscanf(f, "%*d %*s %c", &state) != 1) state = 'Z';
        fclose(f);
        rest();
    }
    ck_assert_msg(kill(pid, 0) != 0 || state == 'Z', "sleep still runs");
    shell_command_end(&c); // nothing on none
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/shell_command");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, its_status_is_told);
    tcase_add_test(reference, it_gets_its_variables_as_they_are_and_no_input);
    tcase_add_test(reference, it_heeds_signals_that_we_block);
    tcase_add_test(reference, ended_with_all_that_it_started);
    suite_add_tcase(s, reference);
    return s;
}
