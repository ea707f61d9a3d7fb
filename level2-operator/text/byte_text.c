// One number, two units.
#include "level2-operator/text/byte_text.h"

#include <stdio.h>

static const struct {
    const char *decimal, *binary;
    double decimal_bytes, binary_bytes;
} units[] = {
    {"KB", "KiB", 1e3,  1024.0            },
    {"MB", "MiB", 1e6,  1048576.0         },
    {"GB", "GiB", 1e9,  1073741824.0      },
    {"TB", "TiB", 1e12, 1099511627776.0   },
    {"PB", "PiB", 1e15, 1125899906842624.0},
};

char *byte_text(char text[BYTE_TEXT_BYTES], uint64_t n_bytes) {
    double n = (double)n_bytes;
    int u = -1;
    while (u < 4 && n >= (u < 0 ? 1e3 : units[u].decimal_bytes * 1e3)) u++;
    if (u < 0) {
        snprintf(text, BYTE_TEXT_BYTES, "%d B", (int)n_bytes);
    } else {
        snprintf(text, BYTE_TEXT_BYTES, "%.1f %s (%.1f %s)", n / units[u].decimal_bytes,
                 units[u].decimal, n / units[u].binary_bytes, units[u].binary);
    }
    return text;
}
