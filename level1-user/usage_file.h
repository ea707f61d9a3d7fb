// Recorded usage, one JSON object a line, read as it comes: a pipe will do, and a file of any length
// takes the memory of one line.
//
// do:    record what the API returned, as it returned it
// don't: skip a line that cannot be read; a bill that leaves something out is no bill
#ifndef LEVEL1_USAGE_FILE_H
#define LEVEL1_USAGE_FILE_H

#include <stdio.h>

#include "common/status.h"
#include "level1-user/invoice.h"

// Called with each record in turn. Anything but OK ends the reading.
typedef enum status usage_take_fn(void *ctx, const struct invoice_usage *used,
                                  struct error *err);

// Lines of white space are passed over; the last one may lack its newline. Errors begin with
// "NAME:LINE: ". Those of usage_record_parse and of take; ERR_FORMAT: no record at all, or a
// line above LIMIT_USAGE_LINE_BYTES; ERR_IO; ERR_MEMORY.
enum status usage_file_read(FILE *in, const char *name, usage_take_fn *take, void *ctx,
                            struct error *err);

// The same of the file at path.
enum status usage_file_open_read(const char *path, usage_take_fn *take, void *ctx,
                                 struct error *err);

#endif
