// One matrix of a model, as its file stores it.
#ifndef LEVEL2_WEIGHT_H
#define LEVEL2_WEIGHT_H

#include <stddef.h>

#include "common/dtype.h"

// y[o] = bias[o] + sum over i of w[o,i] * x[i]. Rows of n_in values, one per output.
struct weight {
    enum dtype dtype;
    int n_out, n_in;
    const void *file; // borrowed: (n_out, n_in) in the mapping, row-major
    size_t row_bytes;
    const float *bias; // (n_out); NULL: none
    void *packed; // owned by the arena that ops->prepare was given; NULL: ops read the file
};

#endif
