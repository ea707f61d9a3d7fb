// The main of every suite: runs it, prints each failure, and exits 1 if anything failed.
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>

int main(void) {
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
