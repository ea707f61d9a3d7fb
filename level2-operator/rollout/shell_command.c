// fork, exec, waitpid.
#include "level2-operator/rollout/shell_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child. Only one thread exists in our program, so that setenv is safe here.
static _Noreturn void run(const char *text, const struct shell_variable *variables) {
    sigset_t none;
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY); // our terminal's keys are not for it
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    for (const struct shell_variable *v = variables; v->name; v++)
        setenv(v->name, v->value, 1);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

enum status shell_command_start(struct shell_command *c, const char *text,
                                const struct shell_variable *variables, struct error *err) {
    MUST(c->pid == 0);
    pid_t pid = fork();
    if (pid < 0) return error_set(err, ERR_IO, "fork: %s", strerror(errno));
    if (pid == 0) run(text, variables);
    setpgid(pid, pid); // whoever of the two comes first
    c->pid = pid;
    return OK;
}

static void take_status(struct shell_command *c, int options) {
    int status = 0;
    pid_t pid;
    do pid = waitpid(c->pid, &status, options);
    while (pid < 0 && errno == EINTR);
    if (pid == 0) return; // it runs
    c->pid = 0;
    c->exit_status = pid < 0               ? 127
                     : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                           : WEXITSTATUS(status);
}

bool shell_command_runs(struct shell_command *c) {
    if (c->pid) take_status(c, WNOHANG);
    return c->pid != 0;
}

void shell_command_end(struct shell_command *c) {
    if (!c->pid) return;
    kill(-c->pid, SIGKILL);
    take_status(c, 0);
}
