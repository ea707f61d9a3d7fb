// What every reader of a JSON file has to stand: the file cut at any byte, any byte of it wrong, and
// memory that fails at any allocation.
#ifndef TESTS_SUPPORT_JSON_SWEEPS_H
#define TESTS_SUPPORT_JSON_SWEEPS_H

#include <stddef.h>

#include "common/status.h"

// Reads, and closes what it read. It asserts nothing, since memory may fail: what a failure must leave
// behind is a MUST.
typedef enum status json_reader(const char *bytes, size_t n_bytes, struct error *err);

// whole: a text that is read well, and not if its last byte is missing. ERR_FORMAT for each cut.
void assert_cuts_are_refused(json_reader *read, const char *whole);

// Either it is read, or there is a sentence.
void assert_wrong_bytes_do_no_harm(json_reader *read, const char *whole);

// ERR_MEMORY; or what jansson makes of it, which blames the text now and then, with a reason.
void assert_failed_allocations_are_told(json_reader *read, const char *whole);

#endif
