// Faults on purpose (serve --inject), to see that what should notice them does.
//
//   step-hang      the engine never steps again, and cannot be stopped
//   slow-step      every step takes a second more
//   device-error   the engine cannot go on: the program ends with status 1
#ifndef LEVEL2_FAULT_H
#define LEVEL2_FAULT_H

#include "common/status.h"

enum fault_kind { FAULT_NONE, FAULT_HANG, FAULT_SLOW, FAULT_DEVICE };

struct fault { // all-zero: none
    enum fault_kind kind;
    int after; // steps that go well first
};

// "step-hang", or "step-hang:100" with the steps that go well before it; else 1.
enum status fault_parse(struct fault *f, const char *text, struct error *err);

// When n steps are done. Hangs, waits, or returns ERR_IO with a reason; else OK.
enum status fault_strike(const struct fault *f, int n, struct error *err);

#endif
