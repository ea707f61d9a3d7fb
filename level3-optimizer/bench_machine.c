// The operating system knows the machine, the build knows compiler and flags.
#include "level3-optimizer/bench_machine.h"

#include <stdio.h>

#include "common/os.h"

struct bench_machine bench_machine_here(const char *compiler, const char *flags) {
    struct bench_machine m = {.compiler = compiler, .flags = flags};
    os_cpu_name(m.cpu, sizeof(m.cpu));
    os_cpu_features(m.features, sizeof(m.features));
    m.n_cores = os_cpu_count();
    return m;
}

void bench_machine_print(const struct bench_machine *m) {
    printf("machine   %s, %d cores (%s)\n", m->cpu, m->n_cores, m->features);
    printf("compiler  %s, %s\n", m->compiler, m->flags);
}
