// Loaded in front of libc (LD_PRELOAD): the wall clock jumps by a day with every look at it, forward and
// back. The monotonic clock is left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static time_t jump(void) {
    static atomic_uint n_looks;
    return atomic_fetch_add(&n_looks, 1) % 2 ? 86400 : -86400;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    *now = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out) *out = t.tv_sec;
    return t.tv_sec;
}
