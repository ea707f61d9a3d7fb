// The command line of every program, from one table: parsing, --help, --version, and the same words
// for the same mistake.
//
//   int main(int argc, char **argv) {
//       const char *path = NULL;
//       int port = 8080;
//       const struct cli_option options[] = {
//           {NULL, "FILE", CLI_STRING, &path, .required = true, .help = "model file"},
//           {"port", "PORT", CLI_INT, &port, .high = 65535, .help = "0 takes a free one"},
//           {0},
//       };
//       const struct cli cli = {.program = "serve", .summary = "a server", .options = options};
//       int exit_status = cli_parse(&cli, argc, argv);
//       if (exit_status != CLI_GO_ON) return exit_status;
//
// do:    set each target to its default before the call: --help shows it (a double that is
//        NAN has none)
// don't: free or change argv: strings point into it
#ifndef COMMON_CLI_H
#define COMMON_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/status.h"

enum cli_kind {
    CLI_FLAG,   // bool: true when given; takes no value
    CLI_STRING, // const char *
    CLI_INT,    // int
    CLI_U64,    // uint64_t
    CLI_BYTES,  // uint64_t: 1000, 64K, 2G, 2GiB (powers of 1024), 2GB (of 1000)
    CLI_DOUBLE, // double; never NaN or infinite
    CLI_LIST    // struct cli_list: may be given several times
};

enum { CLI_LIST_MAX = 64 };

// 2^53 - 1: up to here every whole number is exact in a double, and so for every JSON reader.
static const double CLI_MAX_EXACT = 9007199254740991.0;

struct cli_list {
    const char *items[CLI_LIST_MAX];
    int n_items;
};

// One row of the table; a row without a target ends it.
struct cli_option {
    const char *name; // "port" for --port 80 or --port=80; NULL: a positional argument
    const char *placeholder; // "PORT": what stands for the value in --help; NULL for a flag
    enum cli_kind kind;
    void *target;     // what kind says; written when the option is given
    const char *help; // half a line
    double low, high; // of a number, both included; both 0: no limits
    bool required;    // without it the command line is wrong
};

struct cli {
    const char *program; // "serve"
    const char *summary; // one line: what it does
    const char *example; // one whole command line
    const struct cli_option *options;
    FILE *out, *err; // NULL: standard output and standard error
};

// Exit statuses, and the one value that is none.
enum { CLI_GO_ON = -1, CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

// CLI_GO_ON: targets are set, the program may start. CLI_DONE: --help or --version was printed.
// CLI_USAGE: one line on err says what is wrong. -h is --help. Options and arguments may be mixed;
// everything after "--" is an argument. Positional ones are filled in the order of their rows.
// Call it before anything is opened: it also takes the places of closed standard files.
int cli_parse(const struct cli *cli, int argc, char **argv);

// For what only the program can check: prints "serve: TEXT" and where to get help; CLI_USAGE.
int cli_usage(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The last line of a program that failed: prints "serve: TEXT"; CLI_FAILED.
int cli_fail(const struct cli *cli, const struct error *err);

// The last line of a program that did what it should: CLI_DONE, once all that it printed is written.
// Else says why not; CLI_FAILED.
int cli_finish(const struct cli *cli);

// true when out is a terminal, unless NO_COLOR is set and not empty (no-color.org).
bool cli_wants_colour(FILE *out);

#endif
