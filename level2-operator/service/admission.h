// Who may wait: at most max_inside requests are in the house, from the door to the last byte.
// The others are told at once to come back, and when. Pure: no clock, no lock; the HTTP loop is
// the only caller.
//
//   request ──▶ enter ──▶ OK: one of n_inside <= max_inside ──▶ ... ──▶ leave(service_s)
//                 │                                                         │
//                 └─────▶ ERR_BUSY, and *retry_after_s ◀── mean_service_s ◀─┘
#ifndef LEVEL2_ADMISSION_H
#define LEVEL2_ADMISSION_H

#include <stdint.h>

#include "common/status.h"

struct admission {
    int n_inside;          // requests admitted and not left
    int max_inside;        // fixed at init
    double mean_service_s; // of those that left; the newest counts 1/8; 0: none yet
};

void admission_init(struct admission *a, int max_inside); // max_inside > 0

// OK, and counted, while there is room. Else ERR_BUSY: nothing is counted, the message
// names max_inside, and *retry_after_s says when to come back: mean_service_s rounded up to
// whole seconds, at least 1 (also when nobody has left yet), at most LIMIT_RETRY_AFTER_S
// (common/limits.h), however large it is. *retry_after_s is written only then.
enum status admission_enter(struct admission *a, int *retry_after_s, struct error *err);

// One who was admitted leaves, service_s >= 0 seconds after it came. Its place is free, and
// mean_service_s moves: to service_s if it is 0, else by one eighth of the way to it.
// Somebody must be inside: MUST (common/status.h).
void admission_leave(struct admission *a, double service_s);

#endif
