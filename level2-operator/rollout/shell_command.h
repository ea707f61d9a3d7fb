// A command line that runs beside us, in a process group of its own: a terminal's Ctrl-C is not for it, and all
// that it started can be ended with it. Its output goes where ours goes.
#ifndef LEVEL2_SHELL_COMMAND_H
#define LEVEL2_SHELL_COMMAND_H

#include <sys/types.h>

#include "common/status.h"

struct shell_command { // all zero: none was started
    pid_t pid;         // 0: none runs
    int exit_status;   // of the last one: 0 to 255; 128 + N: signal N ended it
};

struct shell_variable {
    const char *name, *value;
};

// Runs text in /bin/sh with these variables in its environment, SIGINT, SIGTERM and SIGHUP unblocked. None
// may run yet (MUST). variables ends with a NULL name.
enum status shell_command_start(struct shell_command *c, const char *text,
                                const struct shell_variable *variables, struct error *err);

// Whether it runs; once it does not, exit_status is set. Does not wait.
bool shell_command_runs(struct shell_command *c);

// Ends it and all of its group: SIGKILL, since whoever calls this has waited long enough. Nothing on none.
void shell_command_end(struct shell_command *c);

#endif
