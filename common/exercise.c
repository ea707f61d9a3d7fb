// The end of the road for code that nobody has written yet.
#include "common/exercise.h"

#include <stdio.h>
#include <stdlib.h>

void exercise_not_started(const char *id, const char *file, int line) {
    fflush(NULL); // _Exit flushes nothing, and what was printed so far is the learner's
    fprintf(stderr, "not started: %s, %s:%d\n", id, file, line);
    _Exit(EXERCISE_STATUS);
}
