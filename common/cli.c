// From argv to the targets of a table. Four parts: values, --help, suggestions, the walk.
#include "common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/modules.h"
#include "common/number.h"
#include "common/version.h"

static FILE *out_of(const struct cli *cli) {
    return cli->out ? cli->out : stdout;
}

static FILE *err_of(const struct cli *cli) {
    return cli->err ? cli->err : stderr;
}

// ---- values -------------------------------------------------------------------------------------

static bool has_limits(const struct cli_option *option) {
    return option->low < 0 || option->low > 0 || option->high > 0;
}

static bool in_range(const struct cli_option *option, double number) {
    return !has_limits(option) || (number >= option->low && number <= option->high);
}

// Nothing is written unless the value is right.
static bool set_number(const struct cli_option *option, const char *value) {
    int whole = 0;
    uint64_t big = 0;
    double real = 0;

    switch (option->kind) {
    case CLI_INT:
        if (!number_int(value, &whole) || !in_range(option, whole)) return false;
        *(int *)option->target = whole;
        return true;
    case CLI_U64:
        if (!number_u64(value, &big) || !in_range(option, (double)big)) return false;
        *(uint64_t *)option->target = big;
        return true;
    case CLI_BYTES:
        if (!number_bytes(value, &big) || !in_range(option, (double)big)) return false;
        *(uint64_t *)option->target = big;
        return true;
    default:
        if (!number_double(value, &real) || !in_range(option, real)) return false;
        *(double *)option->target = real;
        return true;
    }
}

// "--port" or "FILE": what the user calls it.
static const char *shown_name(char buffer[64], const struct cli_option *option) {
    if (option->name)
        snprintf(buffer, 64, "--%s", option->name);
    else
        snprintf(buffer, 64, "%s", option->placeholder);
    return buffer;
}

static int wrong_number(const struct cli *cli, const struct cli_option *option,
                        const char *value) {
    char name[64], range[64] = "";
    const char *what = option->kind == CLI_DOUBLE ? "a number"
                       : option->kind == CLI_BYTES
                           ? "bytes such as 512M (of 1024) or 2GB (of 1000)"
                           : "a whole number";
    if (has_limits(option))
        snprintf(range, sizeof(range), " from %.16g to %.16g", option->low, option->high);
    return cli_usage(cli, "%s is \"%s\", must be %s%s", shown_name(name, option), value,
                     what, range);
}

static int set_value(const struct cli *cli, const struct cli_option *option,
                     const char *value) {
    char name[64];
    struct cli_list *list;

    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)option->target = true;
        return CLI_GO_ON;
    case CLI_STRING:
        *(const char **)option->target = value;
        return CLI_GO_ON;
    case CLI_LIST:
        list = option->target;
        if (list->n_items == CLI_LIST_MAX)
            return cli_usage(cli, "%s is given more than %d times",
                             shown_name(name, option), CLI_LIST_MAX);
        list->items[list->n_items++] = value;
        return CLI_GO_ON;
    default:
        return set_number(option, value) ? CLI_GO_ON : wrong_number(cli, option, value);
    }
}

// ---- --help -------------------------------------------------------------------------------------

// " (default 8080)", or nothing when the default says nothing.
static void print_default(FILE *out, const struct cli_option *option) {
    const char *string;
    double number;
    switch (option->kind) {
    case CLI_STRING:
        string = *(const char **)option->target;
        if (string && *string) fprintf(out, " (default %s)", string);
        break;
    case CLI_INT:
        if (*(int *)option->target) fprintf(out, " (default %d)", *(int *)option->target);
        break;
    case CLI_DOUBLE:
        number = *(double *)option->target;
        if (fpclassify(number) != FP_ZERO && !isnan(number))
            fprintf(out, " (default %g)", number);
        break;
    default:
        break; // flags are off, lists are empty, big numbers explain themselves
    }
}

enum { LEFT_BYTES = 128 };

// "--port PORT", "--json" or "FILE"; how wide it is.
static int write_left(char buffer[LEFT_BYTES], const struct cli_option *option) {
    char name[64];
    bool has_value = option->name && option->kind != CLI_FLAG;
    return snprintf(buffer, LEFT_BYTES, "%s%s%s", shown_name(name, option),
                    has_value ? " " : "", has_value ? option->placeholder : "");
}

static void print_usage_line(FILE *out, const struct cli *cli) {
    fprintf(out, "usage: %s [options]", cli->program);
    for (const struct cli_option *o = cli->options; o->target; o++) {
        if (o->name) continue;
        fprintf(out, o->required ? " %s" : " [%s]", o->placeholder);
        if (o->kind == CLI_LIST) fprintf(out, "...");
    }
    fprintf(out, "\n");
}

static int print_help(const struct cli *cli) {
    FILE *out = out_of(cli);
    char left[LEFT_BYTES];
    int width = (int)strlen("--version");

    for (const struct cli_option *o = cli->options; o->target; o++) {
        int n = write_left(left, o);
        if (n > width) width = n;
    }
    fprintf(out, "%s: %s\n\n", cli->program, cli->summary);
    print_usage_line(out, cli);
    fprintf(out, "\n");
    for (const struct cli_option *o = cli->options; o->target; o++) {
        write_left(left, o);
        fprintf(out, "  %-*s  %s", width, left, o->help);
        print_default(out, o);
        fprintf(out, "\n");
    }
    fprintf(out, "  %-*s  print this text\n", width, "--help");
    fprintf(out, "  %-*s  print the version\n", width, "--version");
    if (cli->example) fprintf(out, "\nexample: %s\n", cli->example);
    return cli_finish(cli);
}

static int print_version(const struct cli *cli) {
    FILE *out = out_of(cli);
    fprintf(out, "%s %s\n", cli->program, VERSION);
    modules_print_count(out, modules_linked());
    modules_print_yours(out, modules_linked());
    return cli_finish(cli);
}

// ---- suggestions --------------------------------------------------------------------------------

enum { MAX_NAME = 31 }; // bytes; longer names get no suggestion

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

// Letters to insert, delete or replace to turn a into b (Levenshtein 1966), one row at a time.
static size_t edit_distance(const char *a, const char *b) {
    size_t n_a = strlen(a), n_b = strlen(b);
    size_t row[MAX_NAME + 1];
    if (n_a > MAX_NAME || n_b > MAX_NAME) return MAX_NAME;

    for (size_t j = 0; j <= n_b; j++) row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, 1 + smaller(row[j], row[j - 1]));
        }
    }
    return row[n_b];
}

static int unknown_option(const struct cli *cli, const char *argument, const char *name,
                          size_t n_name) {
    char given[MAX_NAME + 2]; // one too long is kept too long
    snprintf(given, sizeof(given), "%.*s", (int)n_name, name);
    const char *nearest = NULL;
    size_t least = smaller(3, n_name / 2 + 1); // further away is no typing error
    for (const struct cli_option *o = cli->options; o->target; o++) {
        size_t distance = o->name ? edit_distance(given, o->name) : least;
        if (distance >= least) continue;
        least = distance;
        nearest = o->name;
    }
    if (nearest)
        return cli_usage(cli, "unknown option %s; did you mean --%s?", argument, nearest);
    return cli_usage(cli, "unknown option %s", argument);
}

// ---- the walk along argv ------------------------------------------------------------------------

// Where the walk stands. Rows that were given are marked, so that missing ones are seen.
enum { MAX_OPTIONS = 64 };
struct walk {
    const struct cli *cli;
    char **argv;
    int argc, i; // i: the argument being read
    bool was_given[MAX_OPTIONS];
};

static int take_value(struct walk *walk, const struct cli_option *option,
                      const char *value) {
    walk->was_given[option - walk->cli->options] = true;
    return set_value(walk->cli, option, value);
}

static const struct cli_option *find_option(const struct cli *cli, const char *name,
                                            size_t n_name) {
    for (const struct cli_option *o = cli->options; o->target; o++) {
        if (o->name && strlen(o->name) == n_name && memcmp(o->name, name, n_name) == 0)
            return o;
    }
    return NULL;
}

// --name, --name VALUE or --name=VALUE.
static int read_option(struct walk *walk) {
    const char *argument = walk->argv[walk->i];
    const char *name = argument + strspn(argument, "-");
    size_t n_name = strcspn(name, "=");
    const char *value = name[n_name] ? name + n_name + 1 : NULL;
    bool is_long = name - argument == 2;

    const struct cli_option *option = is_long ? find_option(walk->cli, name, n_name) : NULL;
    if (!option) return unknown_option(walk->cli, argument, name, n_name);
    if (option->kind == CLI_FLAG) {
        if (value) return cli_usage(walk->cli, "--%s takes no value", option->name);
        return take_value(walk, option, NULL);
    }
    if (!value) {
        const char *next = walk->i + 1 < walk->argc ? walk->argv[walk->i + 1] : NULL;
        if (!next || strncmp(next, "--", 2) == 0) // --model --json: the value was forgotten
            return cli_usage(walk->cli, "--%s needs a value: --%s=%s", option->name,
                             option->name, option->placeholder);
        value = next;
        walk->i++;
    }
    return take_value(walk, option, value);
}

// The first positional row that is still free; a list is never full.
static int read_positional(struct walk *walk) {
    for (const struct cli_option *o = walk->cli->options; o->target; o++) {
        bool is_taken = walk->was_given[o - walk->cli->options] && o->kind != CLI_LIST;
        if (!o->name && !is_taken) return take_value(walk, o, walk->argv[walk->i]);
    }
    return cli_usage(walk->cli, "unexpected argument \"%s\"", walk->argv[walk->i]);
}

static int check_required(const struct walk *walk) {
    char name[64];
    for (const struct cli_option *o = walk->cli->options; o->target; o++) {
        if (o->required && !walk->was_given[o - walk->cli->options])
            return cli_usage(walk->cli, "%s is missing", shown_name(name, o));
    }
    return CLI_GO_ON;
}

static bool is_option(const char *argument) {
    return argument[0] == '-' && argument[1] != '\0'; // "-" alone: standard input
}

// Help wins over every mistake, and shows the defaults: so it comes before anything is set.
static bool asks_for(const struct walk *walk, const char *option) {
    for (int i = 1; i < walk->argc && strcmp(walk->argv[i], "--") != 0; i++) {
        if (strcmp(walk->argv[i], option) == 0) return true;
    }
    return false;
}

static int count_options(const struct cli *cli) {
    int n = 0;
    while (cli->options[n].target) n++;
    return n;
}

// A closed standard file would give its number to the next file or socket, and what we print would go
// there. /dev/null the wrong way round takes the place: using it stays an error.
static void hold_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) != -1) continue;
        int held = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (held != fd && held >= 0) close(held);
    }
}

int cli_parse(const struct cli *cli, int argc, char **argv) {
    struct walk walk = {.cli = cli, .argv = argv, .argc = argc};
    bool only_arguments = false;
    MUST(count_options(cli) <= MAX_OPTIONS);

    hold_standard_files();
    if (asks_for(&walk, "--help") || asks_for(&walk, "-h")) return print_help(cli);
    if (asks_for(&walk, "--version")) return print_version(cli);
    for (walk.i = 1; walk.i < argc; walk.i++) {
        if (!only_arguments && strcmp(argv[walk.i], "--") == 0) {
            only_arguments = true;
            continue;
        }
        bool reads_option = !only_arguments && is_option(argv[walk.i]);
        int result = reads_option ? read_option(&walk) : read_positional(&walk);
        if (result != CLI_GO_ON) return result;
    }
    return check_required(&walk);
}

int cli_usage(const struct cli *cli, const char *format, ...) {
    struct error e; // its text is one clean line, whatever was typed
    char text[sizeof(e.text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    error_set(&e, ERR_INPUT, "%s", text);
    fprintf(err_of(cli), "%s: %s (%s --help lists the options)\n", cli->program, e.text,
            cli->program);
    return CLI_USAGE;
}

int cli_fail(const struct cli *cli, const struct error *err) {
    fprintf(err_of(cli), "%s: %s\n", cli->program, err->text);
    return CLI_FAILED;
}

int cli_finish(const struct cli *cli) {
    struct error err;
    FILE *out = out_of(cli);
    bool is_written = fflush(out) == 0;
    if (is_written && !ferror(out)) return CLI_DONE;
    error_set(&err, ERR_IO, "standard output: %s",
              is_written ? "not all could be written" : strerror(errno));
    return cli_fail(cli, &err);
}

bool cli_wants_colour(FILE *out) {
    const char *no_color = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no_color && *no_color);
}
