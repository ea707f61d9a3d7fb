// The main of every suite: runs it, prints each failure, and closes with the line that
// tools/run_tests.py adds up.
//
//   NAME                                    run by hand
//   NAME --only TEST[INDEX]                 one test
//   NAME --report FILE [--only TEST]        for the harness: FILE and FILE.xml; a nonce on stdin
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

struct arguments {
    const char *report, *only;
};

static bool read_arguments(struct arguments *a, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--report") == 0)
            a->report = argv[i + 1];
        else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
            a->only = argv[i + 1];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct arguments a = {0};
    static char xml[4096];

    if (!read_arguments(&a, argc, argv)) {
        fprintf(stderr, "usage: %s [--report FILE] [--only TEST[INDEX]]\n", argv[0]);
        return 2;
    }
    if (a.report && !report_open(a.report, a.only)) {
        fprintf(stderr, "%s: cannot be written, or no nonce on standard input\n", a.report);
        return 2;
    }
    if (!a.report && a.only) report_choose(a.only);

    SRunner *runner = srunner_create(suite());
    snprintf(xml, sizeof(xml), "%s.xml", a.report ? a.report : "");
    if (a.report) srunner_set_xml(runner, xml);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    int n_run = srunner_ntests_run(runner);
    srunner_free(runner);
    if (n_failed > 0) {
        const char *seed = getenv("COURSE_SEED");
        printf("draws came from COURSE_SEED=%s\n", seed ? seed : "1");
    }
    printf("%d passed, %d failed\n", n_run - n_failed, n_failed);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
