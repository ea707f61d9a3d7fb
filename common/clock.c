// Two clocks behind one struct: the machine's, and one that tests move by hand.
#include "common/clock.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int64_t NS_PER_S = 1000000000;

static int64_t real_now(struct clock *c) {
    (void)c;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void real_sleep(struct clock *c, int64_t n_ns) {
    (void)c;
    if (n_ns <= 0) return;
    struct timespec left = {.tv_sec = (time_t)(n_ns / NS_PER_S),
                            .tv_nsec = (long)(n_ns % NS_PER_S)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    } // a signal is no reason to hurry
}

static int64_t virtual_now(struct clock *c) {
    return c->virtual_ns;
}

static void virtual_sleep(struct clock *c, int64_t n_ns) {
    if (n_ns > 0) c->virtual_ns += n_ns;
}

void clock_init_real(struct clock *c) {
    *c = (struct clock){.now = real_now, .sleep = real_sleep};
}

void clock_init_virtual(struct clock *c, int64_t start_ns) {
    *c = (struct clock){.now = virtual_now, .sleep = virtual_sleep, .virtual_ns = start_ns};
}

int64_t clock_unix_s(void) {
    return (int64_t)time(NULL);
}
