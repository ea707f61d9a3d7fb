// A machine of one's own against an API: a machine is paid by the hour whether it works or not, an API
// by the request. So there is a number of requests a day from which the machine is cheaper, if it can
// serve so many.
//
//   a day │            API ╱
//         │              ╱
//         │────────────╳──────────── machine: 24 hours, and those that stand by
//         │          ╱ ┊         ┊
//         └────────────┴─────────┴──▶ requests a day
//                 break-even   all it can serve
//
// do:    measure tokens_per_s on this workload, prefill included, with as many requests at a time as come
// don't: forget what is not in it: people, network, the days until it runs
#ifndef LEVEL1_OWN_MACHINE_H
#define LEVEL1_OWN_MACHINE_H

#include <jansson.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/gpu_hours.h"

struct own_terms {
    int64_t tokens_per_s; // output tokens of one machine at full load: 1 to LIMIT_OWN_RATE
    int64_t utilization;  // millionths of that, reached while requests come: 1 to 10^6
    int64_t idle_hours;   // of a day, paid and without a request: 0 to 23
    int64_t redundancy; // machines paid for each one that works: 1 to LIMIT_OWN_REDUNDANCY
};

// By one price of an hour. Amounts in 10^-12 dollars.
struct own_price {
    const struct gpu_offer *offer; // borrowed
    int64_t hour, day;             // of one machine; of all that are paid for
    int64_t request;               // when it serves all it can; rounded up
    int64_t break_even;            // requests a day from which it is cheaper; -1: never
};

struct own_machine {
    struct own_terms terms;
    int64_t api_request;      // what the API takes for one request
    int64_t requests_per_day; // all that one machine can serve
    struct own_price low, high;
};

// output: tokens of one request. ERR_INPUT: terms outside their limits, no output, or a machine that
// does not serve one request a day; err->param names the term. ERR_LIMIT: an amount. And the errors of
// gpu_hours_find.
enum status own_machine_of(struct own_machine *m, const struct gpu_hours *list,
                           const char *gpu, const struct own_terms *terms, int64_t output,
                           int64_t api_request, struct error *err);

void own_machine_print(FILE *out, const struct own_machine *m);
json_t *own_machine_json(const struct own_machine *m); // NULL: no memory

#endif
