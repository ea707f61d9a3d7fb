// Who may wait: at most max_inside requests are in the house, from the door to the last byte. The
// others are told at once to come back, and when. Pure; the HTTP loop is the only caller.
// An exercise: solutions/level2-operator/admission.c.
#ifndef LEVEL2_ADMISSION_H
#define LEVEL2_ADMISSION_H

#include <stdint.h>

#include "common/status.h"

struct admission {
    int n_inside;   // requests admitted and not left
    int max_inside; // fixed at init
    double
        mean_service_s; // of finished requests, exponential mean (weight 1/8); 0: none yet
};

void admission_init(struct admission *a, int max_inside);

// OK and counted, or ERR_BUSY; then *retry_after_s (>= 1) says when a place should be free: the
// mean service time, rounded up.
enum status admission_enter(struct admission *a, int *retry_after_s, struct error *err);

void admission_leave(struct admission *a, double service_s);

#endif
