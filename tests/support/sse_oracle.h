// Event streams that are drawn, and what must be heard of them, by a reader that has all bytes at once.
#ifndef TESTS_SUPPORT_SSE_ORACLE_H
#define TESTS_SUPPORT_SSE_ORACLE_H

#include "level1-user/text.h"
#include "tests/support/sse_streams.h"
#include "tests/support/suite.h"

// Made of what matters; later rounds are longer, so that the first failure is a short one.
void random_stream(struct draw *d, int round, struct text *out);

void hear_slowly(const struct text *stream, struct transcript *said);

#endif
