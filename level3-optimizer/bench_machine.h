// Where a number was measured: it stands above every report of bench.
#ifndef LEVEL3_BENCH_MACHINE_H
#define LEVEL3_BENCH_MACHINE_H

struct bench_machine {
    char cpu[128], features[256];
    int n_cores;
    const char *compiler, *flags; // borrowed
};

struct bench_machine bench_machine_here(const char *compiler, const char *flags);

void bench_machine_print(const struct bench_machine *machine);

#endif
