// What the machine gives apart from any run of the model: bytes per second of plain reading, operations
// per second of one matrix product that lies in the cache. Both are work for a struct measurement.
#ifndef LEVEL3_PROBE_H
#define LEVEL3_PROBE_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/mapped_file.h"
#include "common/status.h"
#include "common/team.h"
#include "level2-operator/model/model.h"

// The file summed up by all threads.
struct read_probe {
    const struct mapped_file *file; // borrowed
    struct team *team;              // borrowed
    _Atomic uint64_t checksum;      // keeps the reads alive
};
double read_probe_run(void *probe); // bytes read

// The first rows of a stored matrix times n_rows rows of input, again and again, by all threads.
struct matmul_probe {
    struct weight weight; // a view of at most PROBE_OUT rows, so that it stays in the cache
    int n_rows;
    struct team *team; // borrowed
    // owned by the arena
    float *x;   // (n_rows, n_in)
    float *y;   // (n_rows, n_out)
    float *row; // (n_workers, n_in): scratch
};

enum { PROBE_OUT = 2048 };

enum status matmul_probe_init(struct matmul_probe *p, const struct weight *w, int n_rows,
                              struct team *team, struct arena *arena, struct error *err);
double matmul_probe_run(void *probe); // operations done

#endif
