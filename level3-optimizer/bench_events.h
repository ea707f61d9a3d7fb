// bench --events FILE: how fast the parser of level 1 reads a recorded event stream.
#ifndef LEVEL3_BENCH_EVENTS_H
#define LEVEL3_BENCH_EVENTS_H

#include "common/status.h"
#include "level3-optimizer/bench_machine.h"

// Measures and prints. Errors of mapped_file_open and events_probe_init, with the path.
enum status bench_events(const char *path, const struct bench_machine *machine,
                         struct error *err);

#endif
