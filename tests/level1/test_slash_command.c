// Which lines are commands, and what they say.
#include "level1-user/slash_command.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *line;
    bool is_command;
} lines[] = {
    {"/help",              true },
    {"/",                  true },
    {"/etc/hosts, what?",  true },
    {"// a comment",       false},
    {"//",                 false},
    {" /etc/hosts, what?", false},
    {"Hello",              false},
    {"",                   false},
};

START_TEST(a_command_begins_with_one_slash) {
    char what[64];
    snprintf(what, sizeof(what), "slash_is_command(\"%s\")", lines[_i].line);
    assert_number(what, slash_is_command(lines[_i].line), lines[_i].is_command);
}
END_TEST

static const struct {
    const char *line;
    enum slash_kind kind;
    const char *file;
} commands[] = {
    {"/help",                    SLASH_HELP,   ""            },
    {"/new  ",                   SLASH_NEW,    ""            },
    {"/stats",                   SLASH_STATS,  ""            },
    {"/cost",                    SLASH_COST,   ""            },
    {"/audit",                   SLASH_AUDIT,  ""            },
    {"/quit",                    SLASH_QUIT,   ""            },
    {"/exit",                    SLASH_QUIT,   ""            },
    {"/system rules.txt",        SLASH_SYSTEM, "rules.txt"   },
    {"/save \t my talk.json \t", SLASH_SAVE,   "my talk.json"},
    {"/load /tmp/a/b",           SLASH_LOAD,   "/tmp/a/b"    },
};

START_TEST(a_command_has_a_name_and_perhaps_a_file) {
    struct slash_command c = {.kind = SLASH_COUNT};
    struct error err = {0};
    char what[64];
    snprintf(what, sizeof(what), "slash_parse(\"%s\")", commands[_i].line);
    assert_status(what, slash_parse(&c, commands[_i].line, &err), OK);
    assert_number(what, c.kind, commands[_i].kind);
    assert_text(what, c.file, commands[_i].file);
}
END_TEST

static const struct {
    const char *line, *error;
} wrong[] = {
    {"/",           "there is no command /"        },
    {"/nonsense x", "there is no command /nonsense"},
    {"/sav",        "there is no command /sav"     },
    {"/saved",      "there is no command /saved"   },
    {"/SAVE x",     "there is no command /SAVE"    },
    {"/save",       "/save needs a FILE"           },
    {"/load \t ",   "/load needs a FILE"           },
    {"/new now",    "/new takes nothing behind it" },
    {"/a\033[2J",   "there is no command /a?[2J"   },
};

START_TEST(what_is_no_command_is_told) {
    struct slash_command c;
    struct error err = {0};
    assert_status(wrong[_i].line, slash_parse(&c, wrong[_i].line, &err), ERR_INPUT);
    assert_text(wrong[_i].line, err.text, wrong[_i].error);
}
END_TEST

START_TEST(a_name_of_a_file_has_a_limit) {
    struct slash_command c;
    struct error err = {0};
    char line[2048] = "/save ";
    memset(line + 6, 'x', sizeof(c.file) - 1);
    assert_status("slash_parse(1023 bytes)", slash_parse(&c, line, &err), OK);
    assert_number("strlen(file)", (int64_t)strlen(c.file), (int64_t)sizeof(c.file) - 1);
    line[6 + sizeof(c.file) - 1] = 'x';
    assert_status("slash_parse(1024 bytes)", slash_parse(&c, line, &err), ERR_INPUT);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/slash_command");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_command_begins_with_one_slash, 0,
                        sizeof(lines) / sizeof(lines[0]));
    tcase_add_loop_test(reference, a_command_has_a_name_and_perhaps_a_file, 0,
                        sizeof(commands) / sizeof(commands[0]));
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, what_is_no_command_is_told, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(failures, a_name_of_a_file_has_a_limit);
    suite_add_tcase(s, failures);
    return s;
}
