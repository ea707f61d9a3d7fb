// Log lines: logfmt that a program can read back, one write per line, nothing forged.
#include "common/log.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

static char *text; // what was logged, after fclose or fflush
static size_t n_text;
static struct log logger;

static void setup(void) {
    logger = (struct log){.out = open_memstream(&text, &n_text), .level = LOG_DEBUG};
    ck_assert_ptr_nonnull(logger.out);
}

static void teardown(void) {
    fclose(logger.out);
    free(text);
}

// The line behind its time, which is checked for its shape.
static const char *after_time(const char *line) {
    static const char shape[] = "time=dddd-dd-ddTdd:dd:dd.dddZ ";
    for (size_t i = 0; i < sizeof(shape) - 1; i++) {
        bool fits =
            shape[i] == 'd' ? line[i] >= '0' && line[i] <= '9' : line[i] == shape[i];
        if (!fits) ck_abort_msg("no time: %s", line);
    }
    return line + sizeof(shape) - 1;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(a_line_has_time_level_message_and_fields) {
    log_line(&logger, LOG_INFO, "model loaded", "model=%s n=%d", "tiny", 3);
    ck_assert_str_eq(after_time(text), "level=info msg=\"model loaded\" model=tiny n=3\n");
}
END_TEST

START_TEST(fields_may_be_absent) {
    log_line(&logger, LOG_ERROR, "gone", NULL);
    ck_assert_str_eq(after_time(text), "level=error msg=\"gone\"\n");
}
END_TEST

static const struct {
    const char *name;
    const char *value, *quoted;
} quotes[] = {
    {"empty",                "",                                     "\"\""                      },
    {"plain",                "tiny",                                 "\"tiny\""                  },
    {"words",                "two words",                            "\"two words\""             },
    {"quote",                "say \"hi\"",                           "\"say \\\"hi\\\"\""        },
    {"backslash",            "a\\b",                                 "\"a\\\\b\""                },
    {"line breaks and tab",  "a\r\n\tb",                             "\"a\\r\\n\\tb\""           },
    {"escape",               "\x1b[31m",                             "\"\\u001b[31m\""           },
    {"delete",               "\x7f",                                 "\"\\u007f\""               },
    {"one-character CSI",    "\xc2\x9b",                             "\"\\u009b\""               },
    {"equals sign",          "a=b",                                  "\"a=b\""                   },
    {"letters of all lands", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
     "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""                                                  },
    {"wrong bytes",          "a\xff\xe2\x82",                        "\"a\\ufffd\\ufffd\\ufffd\""},
};

START_TEST(a_value_is_quoted_and_escaped) {
    char out[64];
    ck_assert_ptr_eq(log_quote(out, sizeof(out), quotes[_i].value), out);
    ck_assert_msg(strcmp(out, quotes[_i].quoted) == 0, "%s: got %s", quotes[_i].name, out);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(lines_below_the_level_are_dropped) {
    for (int level = LOG_DEBUG; level <= LOG_OFF; level++) {
        logger.level = (enum log_level)level;
        for (int line = LOG_DEBUG; line < LOG_OFF; line++)
            log_line(&logger, (enum log_level)line, "x", "from=%d at=%d", level, line);
    }
    fflush(logger.out);
    int n_lines = 0;
    for (const char *c = text; *c; c++) n_lines += *c == '\n';
    ck_assert_int_eq(n_lines, 4 + 3 + 2 + 1 + 0);
    ck_assert_ptr_null(strstr(text, "from=2 at=1"));
    ck_assert_ptr_nonnull(strstr(text, "from=2 at=2"));
}
END_TEST

START_TEST(a_loggerwithout_a_file_is_silent) {
    struct log silent = {0};
    log_line(&silent, LOG_ERROR, "x", NULL);
    log_line(NULL, LOG_ERROR, "x", NULL);
    log_line(&logger, LOG_OFF, "no line has this level", NULL);
    fflush(logger.out);
    ck_assert_uint_eq(n_text, 0);
}
END_TEST

START_TEST(a_quote_that_does_not_fit_is_cut_whole) {
    static const char value[] = "a\xe2\x82\xac\"\x01z";
    static const char *const want[] = {
        "",
        "",
        "",
        "\"\"",
        "\"a\"",
        "\"a\"",
        "\"a\"",
        "\"a\xe2\x82\xac\"",
        "\"a\xe2\x82\xac\"",
        "\"a\xe2\x82\xac\\\"\"",
    };
    for (size_t n = 1; n < sizeof(want) / sizeof(want[0]); n++) {
        char out[16];
        memset(out, '#', sizeof(out));
        log_quote(out, n, value);
        ck_assert_msg(strcmp(out, want[n]) == 0, "%zu bytes: %s", n, out);
        ck_assert(out[n] == '#'); // not a byte too far
    }
    ck_assert_str_eq(log_quote(NULL, 0, value), "");
}
END_TEST

START_TEST(a_line_that_is_too_long_is_cut_at_a_character_and_still_ends) {
    char long_text[5000];
    for (size_t i = 0; i < sizeof(long_text) - 1; i++) long_text[i] = "\xe2\x82\xac"[i % 3];
    for (int shift = 0; shift < 3; shift++) {
        long_text[sizeof(long_text) - 1] = '\0';
        log_line(&logger, LOG_INFO, long_text, "%.*sfield=%s", shift, "ab", long_text);
    }
    int n_lines = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        ck_assert_ptr_nonnull(strchr(line, '\n'));
        n_lines++;
    }
    ck_assert_int_eq(n_lines, 3);
    ck_assert(utf8_valid(text, n_text));
}
END_TEST

START_TEST(a_field_cannot_forge_a_line) {
    log_line(&logger, LOG_INFO, "x\nlevel=error", "name=%s", "a\nlevel=error\x1b[2J");
    ck_assert_str_eq(after_time(text),
                     "level=info msg=\"x\\nlevel=error\" name=a level=error [2J\n");
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// A reader of logfmt: the bytes between the quotes, unescaped; NULL if it is no quoted value.
static const char *unquote(char *out, const char *quoted) {
    if (*quoted++ != '"') return NULL;
    while (*quoted && *quoted != '"') {
        if (*quoted != '\\') {
            *out++ = *quoted++;
            continue;
        }
        unsigned code = 0;
        switch (*++quoted) {
        case 'n':
            *out++ = '\n';
            break;
        case 'r':
            *out++ = '\r';
            break;
        case 't':
            *out++ = '\t';
            break;
        case 'u':
            sscanf(quoted + 1, "%4x", &code);
            if (code >= 0x80) return NULL; // the test below writes only ASCII
            *out++ = (char)code;
            quoted += 4;
            break;
        default:
            *out++ = *quoted;
        }
        quoted++;
    }
    *out = '\0';
    return *quoted == '"' && quoted[1] == '\0' ? out : NULL;
}

START_TEST(what_was_quoted_is_read_back) {
    struct draw d = draw_start("quote");
    for (int round = 0; round < 10000; round++) {
        char value[30], quoted[200], back[200];
        int n = draw_int(&d, 0, 29);
        for (int i = 0; i < n; i++) value[i] = (char)draw_int(&d, 1, 127);
        value[n] = '\0';
        log_quote(quoted, sizeof(quoted), value);
        if (!unquote(back, quoted) || strcmp(back, value) != 0)
            ck_abort_msg("%s came from %s", quoted, value);
    }
}
END_TEST

static const int buffer_modes[] = {_IONBF, _IOLBF, _IOFBF};

// Each write to a datagram socket arrives as one message.
START_TEST(a_line_is_one_write_however_the_file_is_buffered) {
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    FILE *out = fdopen(ends[1], "w");
    setvbuf(out, NULL, buffer_modes[_i], BUFSIZ);
    struct log log = {.out = out};
    char message[4096], fill[1500];
    memset(fill, 'f', sizeof(fill));
    for (int n = 0; n < (int)sizeof(fill); n += 53) {
        log_line(&log, LOG_INFO, "two words", "fill=%.*s", n, fill);
        ssize_t n_got = recv(ends[0], message, sizeof(message), MSG_DONTWAIT);
        ck_assert_int_gt(n_got, n);
        ck_assert_int_eq(message[n_got - 1], '\n');
        ck_assert_int_eq(recv(ends[0], message, sizeof(message), MSG_DONTWAIT), -1);
    }
    fclose(out);
    close(ends[0]);
}
END_TEST

enum { N_LINES = 2000 };
static struct log shared_log;

static void *write_lines(void *arg) {
    char fill[200];
    memset(fill, *(char *)arg, sizeof(fill) - 1);
    fill[sizeof(fill) - 1] = '\0';
    for (int i = 0; i < N_LINES; i++)
        log_line(&shared_log, LOG_INFO, "x", "fill=%s i=%d", fill, i);
    return NULL;
}

static void read_lines_of_two(FILE *out) {
    char line[1000];
    int next[2] = {0};
    rewind(out);
    while (fgets(line, sizeof(line), out)) {
        char fill[201] = "";
        int number = -1;
        int n =
            sscanf(after_time(line), "level=info msg=\"x\" fill=%200s i=%d", fill, &number);
        int who = fill[0] == 'b';
        bool is_whole = n == 2 && strspn(fill, who ? "b" : "a") == 199 && !fill[199];
        if (!is_whole || number != next[who]++) ck_abort_msg("torn: %s", line);
    }
    ck_assert_int_eq(next[0], N_LINES);
    ck_assert_int_eq(next[1], N_LINES);
}

START_TEST(lines_of_two_threads_never_mix) {
    FILE *out = tmpfile();
    shared_log = (struct log){.out = out, .level = LOG_INFO};
    pthread_t threads[2];
    char letters[2] = {'a', 'b'};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_lines, &letters[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    read_lines_of_two(out);
    fclose(out);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

// What the disk does not take is gone, and does not come back with the next line.
START_TEST(a_full_disk_loses_lines_and_counts_them) {
    static const int modes[] = {_IONBF, _IOLBF, _IOFBF};
    _Atomic uint64_t n_lost = 0;
    if (access("/dev/full", W_OK) != 0) return; // Linux has one
    struct log log = {.out = fopen("/dev/full", "w"), .n_lost = &n_lost};
    setvbuf(log.out, NULL, modes[_i], 4096);
    for (int i = 0; i < 3; i++) log_line(&log, LOG_INFO, "lost", NULL);
    ck_assert_int_eq((int)n_lost, 3);
    log.n_lost = NULL;
    log_line(&log, LOG_INFO, "lost, and nobody counts", NULL);
    fclose(log.out);
}
END_TEST

START_TEST(a_pipe_that_nobody_reads_holds_nobody_up) {
    int ends[2];
    _Atomic uint64_t n_lost = 0;
    char long_text[1800];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    ck_assert_int_eq(pipe(ends), 0);
    struct log log = {.out = fdopen(ends[1], "w"), .n_lost = &n_lost};
    for (int i = 0; i < 1000; i++) log_line(&log, LOG_INFO, "n", "i=%d x=%s", i, long_text);
    ck_assert_int_gt((int)n_lost, 0);

    FILE *in = fdopen(ends[0], "r"); // what was taken is whole, and in order
    fclose(log.out);
    char line[4096];
    int n_lines = 0, n;
    for (; fgets(line, sizeof(line), in); n_lines++) {
        ck_assert_int_eq(sscanf(strstr(line, " i="), " i=%d", &n), 1);
        ck_assert_int_eq(n, n_lines);
    }
    ck_assert_int_eq(n_lines + (int)n_lost, 1000);
    fclose(in);
}
END_TEST

START_TEST(a_pipe_whose_reader_has_gone_loses_lines) {
    int ends[2];
    _Atomic uint64_t n_lost = 0;
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    struct log log = {.out = fdopen(ends[1], "w"), .n_lost = &n_lost};
    log_line(&log, LOG_INFO, "heard", NULL);
    close(ends[0]);
    log_line(&log, LOG_INFO, "lost", NULL);
    ck_assert_int_eq((int)n_lost, 1);
    fclose(log.out);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/log");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_line_has_time_level_message_and_fields);
    tcase_add_test(reference, fields_may_be_absent);
    tcase_add_loop_test(reference, a_value_is_quoted_and_escaped, 0,
                        sizeof(quotes) / sizeof(quotes[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, lines_below_the_level_are_dropped);
    tcase_add_test(edges, a_loggerwithout_a_file_is_silent);
    tcase_add_test(edges, a_quote_that_does_not_fit_is_cut_whole);
    tcase_add_test(edges, a_line_that_is_too_long_is_cut_at_a_character_and_still_ends);
    tcase_add_test(edges, a_field_cannot_forge_a_line);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_full_disk_loses_lines_and_counts_them, 0, 3);
    tcase_add_test(failures, a_pipe_that_nobody_reads_holds_nobody_up);
    tcase_add_test(failures, a_pipe_whose_reader_has_gone_loses_lines);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_test(property, what_was_quoted_is_read_back);
    tcase_add_loop_test(property, a_line_is_one_write_however_the_file_is_buffered, 0, 3);
    tcase_add_test(property, lines_of_two_threads_never_mix);
    suite_add_tcase(s, property);
    return s;
}
