// A few names of our own; what files hold, common/dtype.c knows.
#include "level2-operator/fit/fit_type.h"

#include <string.h>
#include <strings.h>

#include "common/dtype.h"
#include "common/number.h"

static const struct {
    const char *name;
    struct fit_type type;
} types[] = {
    {"f32",       {1, 4}    },
    {"f16",       {1, 2}    },
    {"bf16",      {1, 2}    },
    {"fp8",       {1, 1}    },
    {"int8",      {1, 1}    },
    {"int4",      {2, 1}    },
    {"int4-g128", {256, 133}}, // two groups of 64 + 2 + 1/2 bytes
};

const char fit_type_names[] =
    "f32, f16, bf16, fp8, int8, int4, int4-g128, a type of GGUF files such as q4_k, or the "
    "mean bits of a value such as 4.89";

// A mixture by its mean: four digits behind the point are exact.
static bool find_mean(struct fit_type *type, const char *bits) {
    double mean;
    if (!number_double(bits, &mean) || !(mean >= 0.5 && mean <= 64)) return false;
    *type = (struct fit_type){80000, (int)(mean * 10000 + 0.5)};
    return true;
}

bool fit_type_find(struct fit_type *type, const char *name) {
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *type = types[i].type;
        return true;
    }
    for (int t = 0; t < DTYPE_COUNT; t++) {
        const struct dtype_info *info = dtype_info((enum dtype)t);
        if (strcasecmp(info->name, name) != 0) continue;
        *type = (struct fit_type){info->block_len, info->block_bytes};
        return true;
    }
    return find_mean(type, name);
}

double fit_type_bits(struct fit_type type) {
    return 8.0 * type.block_bytes / type.block_len;
}
