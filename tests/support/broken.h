// What becomes of a broken invariant: a MUST ends its process, so the call gets one of its own.
#ifndef TESTS_SUPPORT_BROKEN_H
#define TESTS_SUPPORT_BROKEN_H

// Makes the call: "it returned", "MUST aborted it" or "another signal ended it". One that meets an exercise
// that is not written yet ends the test as not started.
const char *ending_of(void (*call)(void *arg), void *arg);

#endif
