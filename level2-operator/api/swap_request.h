// The body of POST /admin/models: {"path": FILE, "id": NAME}. id may be left out: the file's name.
#ifndef LEVEL2_SWAP_REQUEST_H
#define LEVEL2_SWAP_REQUEST_H

#include <stddef.h>

#include "common/limits.h"
#include "common/status.h"

struct swap_request {
    char path[LIMIT_PATH_BYTES]; // a real path below the directory of models
    char id[LIMIT_MODEL_ID_BYTES];
};

// Nothing is ignored: a field that is not known is refused. ERR_INPUT, ERR_FORMAT, ERR_LIMIT; ERR_IO
// when there is no such file.
enum status swap_request_parse(struct swap_request *r, const char *body, size_t n_body,
                               const char *dir, struct error *err);

#endif
