// Published accelerators, data/gpus.json: memory that an engine can see, bandwidth, rates.
// data/README.md says what its fields mean.
#ifndef LEVEL2_DEVICE_TABLE_H
#define LEVEL2_DEVICE_TABLE_H

#include "common/data_table.h"

// All texts are UTF-8 without control characters, "" where the file has none. Numbers are 0 where the
// file has none.
struct device_entry {
    const char *name; // "h100-sxm"
    const char *also; // a shorter name: "h100"
    const char *listed_as, *source, *notes;
    int64_t label_gb;           // what is printed on the box
    int64_t marketed_bytes;     // that, as decimal GB
    int64_t board_bytes;        // what the driver shows
    int64_t usable_bytes;       // what an engine sees; marketed_bytes where nobody said
    const char *usable_printed; // "about 22": GiB, in the words of the source
    int64_t bandwidth;          // bytes a second
    int64_t flops_16, flops_8;  // a second, dense; a multiply and an add are two
    const char *tag_usable, *tag_bandwidth; // how well they are known
    const char *tag_flops16, *tag_flops8;
};

extern const struct data_table_kind device_table; // rows are struct device_entry

// By name or short name. NULL: there is none.
const struct device_entry *device_table_find(const struct data_table *t, const char *name);

#endif
