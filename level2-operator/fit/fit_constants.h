// What fit takes from data/ besides models and devices: overheads that start-up logs showed, and the
// rates at which weights come. Each knows how well it is known, and whence.
#ifndef LEVEL2_FIT_CONSTANTS_H
#define LEVEL2_FIT_CONSTANTS_H

#include "common/data_table.h"

struct fit_overhead {
    const char *name; // "context", "context-split", "activations", "graphs"
    const char *listed_as, *printed, *tag, *source, *notes;
    int64_t low_bytes, high_bytes; // on each device
};

struct fit_rate {
    const char *name; // "page-cache", "disk", "network"
    const char *tag, *source, *notes;
    int64_t bytes_per_s;
};

extern const struct data_table_kind fit_overhead_table; // rows are struct fit_overhead
extern const struct data_table_kind fit_rate_table;     // rows are struct fit_rate

// NULL: there is none.
const struct fit_overhead *fit_overhead_find(const struct data_table *t, const char *name);
const struct fit_rate *fit_rate_find(const struct data_table *t, const char *name);

#endif
