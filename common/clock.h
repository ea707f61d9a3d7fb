// Time as a value that is passed in. Real: monotonic, in nanoseconds. Virtual: stands still until
// someone sleeps or advances it, so that traces are tested exactly.
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>

struct clock {
    int64_t (*now)(struct clock *c);              // ns since an arbitrary start
    void (*sleep)(struct clock *c, int64_t n_ns); // returns at once on a virtual clock
    int64_t virtual_ns;                           // the virtual clock's present
};

void clock_init_real(struct clock *c);
void clock_init_virtual(struct clock *c, int64_t start_ns);

static inline int64_t clock_now(struct clock *c) {
    return c->now(c);
}

// Wall time for logs and `created` fields: seconds since 1970. Not for measuring.
int64_t clock_unix_s(void);

#endif
