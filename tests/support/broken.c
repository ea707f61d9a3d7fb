#include "tests/support/broken.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/exercise.h"
#include "tests/support/suite.h"

const char *ending_of(void (*call)(void *arg), void *arg) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        call(arg);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXERCISE_STATUS) _Exit(EXERCISE_STATUS);
    ck_assert_msg(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "exit status %d",
                  WEXITSTATUS(status));
    if (!WIFSIGNALED(status)) return "it returned";
    return WTERMSIG(status) == SIGABRT ? "MUST aborted it" : "another signal ended it";
}
