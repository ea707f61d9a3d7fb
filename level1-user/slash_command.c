// One table: what there is, what it takes, what it does.
#include "level1-user/slash_command.h"

#include <string.h>

static const struct {
    const char *name;
    enum slash_kind kind;
    bool needs_file;
    const char *help;
} commands[] = {
    {"system", SLASH_SYSTEM, true,  "make its text the system message; an empty file: none"},
    {"save",   SLASH_SAVE,   true,  "write the conversation to a file"                     },
    {"load",   SLASH_LOAD,   true,  "go on with a conversation that was saved"             },
    {"new",    SLASH_NEW,    false, "forget what was said"                                 },
    {"stats",  SLASH_STATS,  false, "tokens and times of all answers"                      },
    {"cost",   SLASH_COST,   false, "what they cost (needs --price MODEL)"                 },
    {"audit",  SLASH_AUDIT,  false, "where the last two requests part, and what that costs"},
    {"help",   SLASH_HELP,   false, "this list"                                            },
    {"quit",   SLASH_QUIT,   false, "leave (so does Ctrl-D)"                               },
    {"exit",   SLASH_QUIT,   false, NULL                                                   },
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

bool slash_is_command(const char *line) {
    return line[0] == '/' && line[1] != '/';
}

enum status slash_parse(struct slash_command *c, const char *line, struct error *err) {
    const char *name = line + 1, *file;
    size_t n_name = strcspn(name, " \t"), n_file;
    int i = 0;

    file = name + n_name + strspn(name + n_name, " \t");
    for (n_file = strlen(file); n_file > 0 && strchr(" \t", file[n_file - 1]);) n_file--;
    while (i < N_COMMANDS && (strlen(commands[i].name) != n_name ||
                              memcmp(commands[i].name, name, n_name) != 0))
        i++;

    if (i == N_COMMANDS)
        return error_set(err, ERR_INPUT, "there is no command /%.*s",
                         n_name < 40 ? (int)n_name : 40, name);
    if (commands[i].needs_file != (n_file > 0))
        return error_set(err, ERR_INPUT, "/%s %s", commands[i].name,
                         n_file > 0 ? "takes nothing behind it" : "needs a FILE");
    if (n_file >= sizeof(c->file))
        return error_set(err, ERR_INPUT, "/%s: the name of a file has at most %zu bytes",
                         commands[i].name, sizeof(c->file) - 1);
    c->kind = commands[i].kind;
    memcpy(c->file, file, n_file);
    c->file[n_file] = '\0';
    return OK;
}

void slash_print_help(FILE *out) {
    for (int i = 0; i < N_COMMANDS; i++) {
        if (!commands[i].help) continue;
        fprintf(out, "/%-6s %-5s %s\n", commands[i].name,
                commands[i].needs_file ? "FILE" : "", commands[i].help);
    }
    fputs("A line that begins with // or with a space is text.\n"
          "Ctrl-C ends an answer that is too long.\n",
          out);
}
