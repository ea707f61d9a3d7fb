// One measurement, one page. curl hands out a stream in reads of 16 KB; ours are as large.
#include "level3-optimizer/bench_events.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/mapped_file.h"
#include "level3-optimizer/events_probe.h"
#include "level3-optimizer/measure.h"

static void print(const char *path, const struct events_probe *p, struct rate bytes,
                  const struct bench_machine *machine) {
    double events = (double)p->n_events / ((double)p->n_repeats * (double)p->n_bytes);

    bench_machine_print(machine);
    printf("stream    %s, %zu bytes, %" PRId64 " events\n", path, p->n_bytes,
           p->n_events / p->n_repeats);
    printf("run       the stream %" PRId64 " times, in reads of %d bytes\n\n", p->n_repeats,
           EVENTS_READ_BYTES);
    printf("           median       spread of %d runs\n", MEASURE_RUNS);
    printf("parser    %7.0f   %7.0f .. %-7.0f MB/s\n", bytes.median / 1e6, bytes.min / 1e6,
           bytes.max / 1e6);
    printf("          %7.1f   %7.1f .. %-7.1f million events/s\n",
           events * bytes.median / 1e6, events * bytes.min / 1e6, events * bytes.max / 1e6);
}

enum status bench_events(const char *path, const struct bench_machine *machine,
                         struct error *err) {
    struct mapped_file file = {0};
    struct events_probe probe;
    struct measurement m = {.work = events_probe_run, .arg = &probe};
    struct clock clock;
    struct progress progress;
    struct error why = {0};

    enum status st = mapped_file_open(&file, path, err);
    if (st != OK) return st;
    st = events_probe_init(&probe, (const char *)file.bytes, file.n_bytes, &why);
    if (st == OK) {
        clock_init_real(&clock);
        progress_start(&progress, stderr, &clock, "measuring", MEASURE_RUNS, false);
        measure(&m, 1, &clock, &progress);
        progress_end(&progress);
        print(path, &probe, m.rate, machine);
    } else {
        error_set(err, st, "%s: no recorded event stream: %.150s", error_path(path),
                  why.text);
    }
    mapped_file_close(&file);
    return st;
}
