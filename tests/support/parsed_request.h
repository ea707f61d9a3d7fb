// The body of a request as the API reads it.
#ifndef TESTS_SUPPORT_PARSED_REQUEST_H
#define TESTS_SUPPORT_PARSED_REQUEST_H

#include "level2-operator/api/api_request.h"

enum { N_VOCAB = 100, ARENA_BYTES = 8 << 20 };

struct parsed {
    struct arena arena;
    struct api_model model;
    struct api_request r;
    struct error err;
};

enum status parse_body(struct parsed *f, enum route route, const char *body);

// A whole body from the fields that matter.
enum status parse_fields(struct parsed *f, enum route route, const char *fields);

void close_parsed(struct parsed *f);

// What is refused, and the field that the error names.
struct refusal {
    enum route route;
    const char *fields;
    enum status want;
    const char *param;
};
void check_refusal(const struct refusal *refusal);

#endif
