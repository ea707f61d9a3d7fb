// A line of a conversation that is for `ask` and not for the model: "/save talk.json".
#ifndef LEVEL1_SLASH_COMMAND_H
#define LEVEL1_SLASH_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "common/limits.h"
#include "common/status.h"

enum slash_kind {
    SLASH_HELP,
    SLASH_NEW,
    SLASH_SYSTEM,
    SLASH_SAVE,
    SLASH_LOAD,
    SLASH_STATS,
    SLASH_COST,
    SLASH_AUDIT,
    SLASH_QUIT,
    SLASH_COUNT
};

struct slash_command {
    enum slash_kind kind;
    // What stands behind the name, without spaces around it; "" where none belongs.
    char file[LIMIT_TYPED_PATH_BYTES];
};

// It begins with one slash. "// a comment" is text, and so is " /etc/hosts, what is that?".
bool slash_is_command(const char *line);

// line: slash_is_command. ERR_INPUT: no such command, a file is missing or one too many; says so.
enum status slash_parse(struct slash_command *c, const char *line, struct error *err);

// The list of all.
void slash_print_help(FILE *out);

#endif
