// What bench found out, as text for a person and as one JSON document for a program.
#ifndef LEVEL3_BENCH_REPORT_H
#define LEVEL3_BENCH_REPORT_H

#include <stdbool.h>

#include "common/status.h"
#include "level3-optimizer/bench_machine.h"
#include "level3-optimizer/measure.h"
#include "level3-optimizer/prediction.h"

// Prefill or decode: what it should take and what it takes, tokens per second.
struct phase_report {
    const char *name; // "prefill"
    struct workload workload;
    struct rate rate;             // measured
    struct speed speed;           // with --predict: what the prediction stands on
    struct prediction prediction; // of the whole workload
};

struct bench_report {
    struct bench_machine machine;
    int n_threads;
    const char *model_name, *ops_name;
    double token_bytes; // weights read for one token
    struct rate read;   // bytes per second
    struct phase_report prefill, decode;
    bool is_predicted;
    char layer_kernel[64], head_kernel[64]; // "Q4_1, 1536 x 576": what was measured alone
};

void bench_report_print(const struct bench_report *r);

enum status bench_report_json(const struct bench_report *r, struct error *err);

#endif
