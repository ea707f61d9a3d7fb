// Parsing KIND:STEPS, and misbehaving.
#include "level2-operator/service/fault.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/number.h"

enum status fault_parse(struct fault *f, const char *text, struct error *err) {
    static const char *const names[] = {"", "step-hang", "slow-step", "device-error"};
    size_t n = strcspn(text, ":");

    *f = (struct fault){.after = 1};
    for (int i = FAULT_HANG; i <= FAULT_DEVICE; i++) {
        if (strlen(names[i]) == n && strncmp(names[i], text, n) == 0)
            f->kind = (enum fault_kind)i;
    }
    bool has_steps = text[n] == ':';
    if (f->kind && has_steps && (!number_int(text + n + 1, &f->after) || f->after < 0))
        f->kind = FAULT_NONE;
    if (f->kind) return OK;
    return error_set(
        err, ERR_INPUT,
        "--inject %s: step-hang, slow-step or device-error, and perhaps :STEPS "
        "that go well before",
        text);
}

enum status fault_strike(const struct fault *f, int n, struct error *err) {
    static const struct timespec second = {1, 0};
    if (f->kind == FAULT_NONE || n < f->after) return OK;
    if (f->kind == FAULT_SLOW) nanosleep(&second, NULL);
    while (f->kind == FAULT_HANG) nanosleep(&second, NULL);
    if (f->kind != FAULT_DEVICE) return OK;
    return error_set(err, ERR_IO,
                     "the device failed at step %d (--inject); start the server again", n);
}
