// The command line: what is set, what is printed, what is refused.
#include "common/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

static struct {
    bool json;
    const char *name, *file, *text;
    int port;
    uint64_t seed, memory;
    double temperature;
    struct cli_list keys, rest;
} got;

static const struct cli_option options[] = {
    {NULL,              "FILE", CLI_STRING, &got.file, .required = true, .help = "the file"},
    {NULL,       "TEXT", CLI_STRING, &got.text, .help = "a text"},
    {"json", NULL, CLI_FLAG, &got.json, .help = "print JSON"},
    {"name",                 "NAME", CLI_STRING, &got.name, .help = "a name"},
    {"port",     "PORT", CLI_INT, &got.port, .high = 65535, .help = "a port"},
    {"seed",        "N", CLI_U64, &got.seed, .help = "a seed"},
    {"memory",                 "BYTES", CLI_BYTES, &got.memory, .low = 1024, .high = 1e12,
     .help = "memory"},
    {"temperature",             "T", CLI_DOUBLE, &got.temperature, .low = -1, .high = 2,
     .help = "heat"},
    {"api-key",        "KEY", CLI_LIST, &got.keys, .help = "a key"},
    {0                },
};

static char *out, *err;
static size_t n_out, n_err;
static struct cli cli;

static void setup(void) {
    memset(&got, 0, sizeof(got));
    got.port = 8080;
    got.temperature = 1;
    cli = (struct cli){.program = "try",
                       .summary = "tries things",
                       .example = "try model.gguf --port 0",
                       .options = options,
                       .out = open_memstream(&out, &n_out),
                       .err = open_memstream(&err, &n_err)};
}

static void teardown(void) {
    fclose(cli.out);
    fclose(cli.err);
    free(out);
    free(err);
}

// Splits a line at its spaces and parses it.
static int parse(const char *line) {
    static char words[512];
    char *argv[200] = {(char *)"try"}, *saved;
    int argc = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *w = strtok_r(words, " ", &saved); w; w = strtok_r(NULL, " ", &saved))
        argv[argc++] = w;
    int result = cli_parse(&cli, argc, argv);
    fflush(cli.out);
    fflush(cli.err);
    return result;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(options_and_arguments_may_be_mixed) {
    ck_assert_int_eq(parse("--port 80 a.gguf --json --name=x=y hello --seed "
                           "18446744073709551615 --memory 2G --temperature -0.5"),
                     CLI_GO_ON);
    ck_assert_str_eq(got.file, "a.gguf");
    ck_assert_str_eq(got.text, "hello");
    ck_assert_str_eq(got.name, "x=y");
    ck_assert_int_eq(got.port, 80);
    ck_assert(got.json && got.seed == UINT64_MAX && got.memory == 2147483648u);
    ck_assert(got.temperature == -0.5);
    ck_assert_uint_eq(n_out + n_err, 0);
}
END_TEST

START_TEST(what_is_not_given_keeps_its_default) {
    ck_assert_int_eq(parse("a.gguf"), CLI_GO_ON);
    ck_assert_int_eq(got.port, 8080);
    ck_assert(got.temperature == 1 && !got.json);
    ck_assert_ptr_null(got.text);
}
END_TEST

START_TEST(both_ends_of_a_range_belong_to_it) {
    ck_assert_int_eq(parse("f --port 65535 --memory 1K --temperature 2"), CLI_GO_ON);
    ck_assert_int_eq(got.port, 65535);
    ck_assert_int_eq(parse("f --port 0 --memory 1000000000000 --temperature -1"),
                     CLI_GO_ON);
    ck_assert_int_eq(got.port, 0);
}
END_TEST

START_TEST(a_list_collects_and_any_other_option_takes_the_last) {
    ck_assert_int_eq(parse("f --api-key a --port 1 --api-key=b --port 2"), CLI_GO_ON);
    ck_assert_int_eq(got.keys.n_items, 2);
    ck_assert_str_eq(got.keys.items[0], "a");
    ck_assert_str_eq(got.keys.items[1], "b");
    ck_assert_int_eq(got.port, 2);
}
END_TEST

static const char help[] = "try: tries things\n"
                           "\n"
                           "usage: try [options] FILE [TEXT]\n"
                           "\n"
                           "  FILE             the file\n"
                           "  TEXT             a text\n"
                           "  --json           print JSON\n"
                           "  --name NAME      a name\n"
                           "  --port PORT      a port (default 8080)\n"
                           "  --seed N         a seed\n"
                           "  --memory BYTES   memory\n"
                           "  --temperature T  heat (default 1)\n"
                           "  --api-key KEY    a key\n"
                           "  --help           print this text\n"
                           "  --version        print the version\n"
                           "\n"
                           "example: try model.gguf --port 0\n";

START_TEST(help_is_printed_from_the_table) {
    ck_assert_int_eq(parse("--help"), CLI_DONE);
    ck_assert_str_eq(out, help);
    ck_assert_uint_eq(n_err, 0);
}
END_TEST

START_TEST(help_wins_over_mistakes_and_shows_the_true_defaults) {
    ck_assert_int_eq(parse("--port 99 --nonsense x y z -h"), CLI_DONE);
    ck_assert_str_eq(out, help);
    ck_assert_int_eq(got.port, 8080);
}
END_TEST

START_TEST(the_version_has_a_name_and_a_number) {
    ck_assert_int_eq(parse("--version"), CLI_DONE);
    ck_assert(strncmp(out, "try ", 4) == 0);
    ck_assert(out[4] >= '0' && out[4] <= '9');
    char *end = strchr(out, '\n');
    ck_assert_ptr_nonnull(end);
    ck_assert(end[1] == '\0' || strncmp(end + 1, "modules: ", 9) == 0);
}
END_TEST

// ---- failures: one line each, status 2, and the place to look -----------------------------------

static const struct {
    const char *line, *message;
} mistakes[] = {
    {"",                     "FILE is missing"                                            },
    {"f --prot 1",           "unknown option --prot; did you mean --port?"                },
    {"f --prot=1",           "unknown option --prot=1; did you mean --port?"              },
    {"f --jsno",             "unknown option --jsno; did you mean --json?"                },
    {"f --temprature 1",     "unknown option --temprature; did you mean --temperature?"   },
    {"f --apikey x",         "unknown option --apikey; did you mean --api-key?"           },
    {"f --xyzzy",            "unknown option --xyzzy"                                     },
    {"f -p 80",              "unknown option -p"                                          },
    {"f -port 80",           "unknown option -port; did you mean --port?"                 },
    {"f --",                 NULL                                                         },
    {"f t u",                "unexpected argument \"u\""                                  },
    {"f --port",             "--port needs a value: --port=PORT"                          },
    {"f --port --json",      "--port needs a value: --port=PORT"                          },
    {"f --json=1",           "--json takes no value"                                      },
    {"f --port=",            "--port is \"\", must be a whole number from 0 to 65535"     },
    {"f --port 65536",       "--port is \"65536\", must be a whole number from 0 to 65535"},
    {"f --port -1",          "--port is \"-1\", must be a whole number from 0 to 65535"   },
    {"f --port 8o",          "--port is \"8o\", must be a whole number from 0 to 65535"   },
    {"f --seed -1",          "--seed is \"-1\", must be a whole number"                   },
    {"f --seed 1.5",         "--seed is \"1.5\", must be a whole number"                  },
    {"f --memory 2X",        "--memory is \"2X\", must be bytes such as 512M (of 1024) or 2GB (of "
                      "1000) from 1024 to 1000000000000"             },
    {"f --memory 1",         "--memory is \"1\", must be bytes such as 512M (of 1024) or 2GB (of "
                     "1000) from 1024 to 1000000000000"               },
    {"f --temperature warm", "--temperature is \"warm\", must be a number from -1 to 2"   },
    {"f --temperature nan",  "--temperature is \"nan\", must be a number from -1 to 2"    },
    {"f --temperature 2.1",  "--temperature is \"2.1\", must be a number from -1 to 2"    },
};

START_TEST(a_mistake_is_one_line_and_status_two) {
    char want[300] = "";
    int result = parse(mistakes[_i].line);
    if (!mistakes[_i].message) {
        ck_assert_int_eq(result, CLI_GO_ON);
        return;
    }
    snprintf(want, sizeof(want), "try: %s (try --help lists the options)\n",
             mistakes[_i].message);
    ck_assert_int_eq(result, CLI_USAGE);
    ck_assert_str_eq(err, want);
    ck_assert_uint_eq(n_out, 0);
    ck_assert_int_eq(got.port, 8080); // a wrong value is not written
}
END_TEST

START_TEST(a_list_that_is_too_long_is_refused) {
    char *argv[CLI_LIST_MAX + 3] = {(char *)"try", (char *)"f"};
    for (int i = 0; i <= CLI_LIST_MAX; i++) argv[i + 2] = (char *)"--api-key=k";
    ck_assert_int_eq(cli_parse(&cli, CLI_LIST_MAX + 2, argv), CLI_GO_ON);
    got.keys.n_items = 0;
    ck_assert_int_eq(cli_parse(&cli, CLI_LIST_MAX + 3, argv), CLI_USAGE);
}
END_TEST

START_TEST(strange_bytes_do_not_reach_the_terminal) {
    char *argv[] = {(char *)"try", (char *)"--\x1b[2J\nforged"};
    ck_assert_int_eq(cli_parse(&cli, 2, argv), CLI_USAGE);
    fflush(cli.err);
    ck_assert_ptr_null(strchr(err, '\x1b'));
    ck_assert_ptr_eq(strchr(err, '\n'), err + n_err - 1);
}
END_TEST

START_TEST(a_program_fails_with_one_line_and_status_one) {
    struct error e = {0};
    error_set(&e, ERR_IO, "a.gguf: No such file");
    ck_assert_int_eq(cli_fail(&cli, &e), CLI_FAILED);
    fflush(cli.err);
    ck_assert_str_eq(err, "try: a.gguf: No such file\n");
}
END_TEST

START_TEST(output_that_nobody_got_is_a_failure) {
    FILE *text = cli.out, *full = fopen("/dev/full", "w");
    if (!full) return; // only Linux has it
    cli.out = full;
    fputs("hello\n", full);
    ck_assert_int_eq(cli_finish(&cli), CLI_FAILED);
    fflush(cli.err);
    ck_assert_str_eq(err, "try: standard output: No space left on device\n");
    ck_assert_int_eq(parse("--help"), CLI_FAILED);
    ck_assert_int_eq(parse("--version"), CLI_FAILED);
    fclose(full);
    cli.out = text;
    ck_assert_int_eq(cli_finish(&cli), CLI_DONE);
}
END_TEST

START_TEST(an_earlier_failed_write_is_not_forgotten) {
    FILE *text = cli.out, *full = fopen("/dev/full", "w");
    if (!full) return;
    cli.out = full;
    setvbuf(full, NULL, _IONBF, 0);
    fputs("hello\n", full); // fails here, and nothing is left to flush
    ck_assert_int_eq(cli_finish(&cli), CLI_FAILED);
    fclose(full);
    cli.out = text;
}
END_TEST

// The exit status of a process that parses with a standard file closed, then opens another.
static int parse_with_closed(int fd) {
    close(fd);
    if (parse("a.gguf") != CLI_GO_ON) return 10;
    int opened = open("/dev/zero", O_RDWR); // a socket, say
    char byte = 'x';
    if (opened <= STDERR_FILENO) return 11;
    ssize_t n = fd == STDIN_FILENO ? read(fd, &byte, 1) : write(fd, &byte, 1);
    return n == -1 ? 0 : 12; // using what was closed stays an error
}

START_TEST(a_closed_standard_file_is_not_taken_by_another) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int status;
        pid_t child = fork();
        if (child == 0) _exit(parse_with_closed(fd));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "fd %d: status %x", fd,
                      (unsigned)status);
    }
}
END_TEST

START_TEST(a_program_may_refuse_a_command_line_itself) {
    ck_assert_int_eq(cli_usage(&cli, "give %s or %s", "FILE", "--name"), CLI_USAGE);
    fflush(cli.err);
    ck_assert_str_eq(err, "try: give FILE or --name (try --help lists the options)\n");
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(after_two_dashes_everything_is_an_argument) {
    ck_assert_int_eq(parse("-- --help --json"), CLI_GO_ON);
    ck_assert_str_eq(got.file, "--help");
    ck_assert_str_eq(got.text, "--json");
    ck_assert(!got.json);
}
END_TEST

START_TEST(one_dash_is_an_argument_and_a_value) {
    ck_assert_int_eq(parse("- --name -"), CLI_GO_ON);
    ck_assert_str_eq(got.file, "-");
    ck_assert_str_eq(got.name, "-");
}
END_TEST

START_TEST(empty_arguments_are_taken_as_they_are) {
    char *argv[] = {(char *)"try", (char *)"", (char *)"--name", (char *)""};
    ck_assert_int_eq(cli_parse(&cli, 4, argv), CLI_GO_ON);
    ck_assert_str_eq(got.file, "");
    ck_assert_str_eq(got.name, "");
}
END_TEST

START_TEST(the_last_positional_may_be_a_list) {
    const struct cli_option some[] = {
        {NULL,              "FIRST", CLI_STRING, &got.file, .required = true, .help = ""},
        {NULL,       "REST", CLI_LIST, &got.rest, .help = ""},
        {0},
    };
    cli.options = some;
    ck_assert_int_eq(parse("a b c d"), CLI_GO_ON);
    ck_assert_str_eq(got.file, "a");
    ck_assert_int_eq(got.rest.n_items, 3);
    ck_assert_str_eq(got.rest.items[2], "d");
    ck_assert_int_eq(parse("--help"), CLI_DONE);
    ck_assert_ptr_nonnull(strstr(out, "usage: try [options] FIRST [REST]...\n"));
}
END_TEST

START_TEST(a_file_is_no_terminal_and_gets_no_colour) {
    FILE *file = tmpfile();
    ck_assert(!cli_wants_colour(file));
    fclose(file);
    ck_assert(!cli_wants_colour(cli.out)); // a stream without a descriptor
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(any_words_end_in_a_known_way) {
    static const char *const words[] = {"f",
                                        "--",
                                        "-",
                                        "--port",
                                        "--port=7",
                                        "--json",
                                        "--json=x",
                                        "--prot",
                                        "-x",
                                        "",
                                        "--=",
                                        "---",
                                        "--name",
                                        "=",
                                        "--seed=1",
                                        "--api-key",
                                        "--temperature=\xff",
                                        "12"};
    struct draw d = draw_start("words");
    for (int round = 0; round < 20000; round++) {
        char *argv[9] = {(char *)"try"};
        int argc = draw_int(&d, 1, 8);
        for (int i = 1; i < argc; i++)
            argv[i] = (char *)words[draw_int(&d, 0, sizeof(words) / sizeof(words[0]) - 1)];
        memset(&got, 0, sizeof(got));
        rewind(cli.err);
        int result = cli_parse(&cli, argc, argv);
        if (result != CLI_GO_ON && result != CLI_USAGE) ck_abort_msg("result %d", result);
        if (result == CLI_GO_ON && !got.file) ck_abort_msg("FILE is missing");
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/cli");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, options_and_arguments_may_be_mixed);
    tcase_add_test(reference, what_is_not_given_keeps_its_default);
    tcase_add_test(reference, both_ends_of_a_range_belong_to_it);
    tcase_add_test(reference, a_list_collects_and_any_other_option_takes_the_last);
    tcase_add_test(reference, help_is_printed_from_the_table);
    tcase_add_test(reference, help_wins_over_mistakes_and_shows_the_true_defaults);
    tcase_add_test(reference, the_version_has_a_name_and_a_number);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, a_mistake_is_one_line_and_status_two, 0,
                        sizeof(mistakes) / sizeof(mistakes[0]));
    tcase_add_test(failures, a_list_that_is_too_long_is_refused);
    tcase_add_test(failures, strange_bytes_do_not_reach_the_terminal);
    tcase_add_test(failures, a_program_fails_with_one_line_and_status_one);
    tcase_add_test(failures, output_that_nobody_got_is_a_failure);
    tcase_add_test(failures, an_earlier_failed_write_is_not_forgotten);
    tcase_add_test(failures, a_closed_standard_file_is_not_taken_by_another);
    tcase_add_test(failures, a_program_may_refuse_a_command_line_itself);
    suite_add_tcase(s, failures);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, after_two_dashes_everything_is_an_argument);
    tcase_add_test(edges, one_dash_is_an_argument_and_a_value);
    tcase_add_test(edges, empty_arguments_are_taken_as_they_are);
    tcase_add_test(edges, the_last_positional_may_be_a_list);
    tcase_add_test(edges, a_file_is_no_terminal_and_gets_no_colour);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, any_words_end_in_a_known_way);
    suite_add_tcase(s, property);
    return s;
}
