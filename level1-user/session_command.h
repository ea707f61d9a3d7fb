// What a slash command does to a session.
#ifndef LEVEL1_SESSION_COMMAND_H
#define LEVEL1_SESSION_COMMAND_H

#include <stdbool.h>

#include "level1-user/session.h"

// Does it and says so on standard error; a command that fails changes nothing. line: slash_is_command.
// false: leave.
bool session_command(struct session *session, const char *line);

#endif
