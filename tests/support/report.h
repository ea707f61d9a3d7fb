// What a suite tells the harness about each test, line by line, beside the results that Check writes:
// which test begins, how the first element differed, that the end was reached. A line is
//
//   PID begin NAME INDEX
//   PID differs {"what": "...", "index": 3, "got": "1.5", "want": "2", "used": 130.2}
//   PID end NONCE
//
// The nonce comes in over a pipe, once; a child that leaves early cannot have said it. Without a report
// (a suite started by hand) all of this does nothing.
#ifndef TESTS_SUPPORT_REPORT_H
#define TESTS_SUPPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

// Opens the report at path and takes the nonce from standard input. only: "NAME" or "NAME[INDEX]", the
// one test whose body runs; NULL: all. false: cannot be opened.
bool report_open(const char *path, const char *only);

// The same as report_open without a file: only the choice.
void report_choose(const char *only);

bool report_begin(const char *test_name, int index); // false: this test was not chosen
void report_end(void);

// The first difference that an assertion found. used: share of the tolerance, above 1; INFINITY: the
// values had to be equal. format prints a double.
void report_differs(const char *what, size_t index, const char *format, double got,
                    double want, double used) __attribute__((format(printf, 3, 0)));
void report_differs_text(const char *what, size_t index, const char *got, const char *want);

#endif
