// The main of every suite: runs it, prints each failure, and closes with the line that
// tools/run_tests.py adds up.
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

int main(void) {
    SRunner *runner = srunner_create(suite());
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
