// A date as HTTP writes it: RFC 9110, section 5.6.7.
//
//   Fri, 29 Sep 2023 16:26:37 GMT    what everybody should send
//   Friday, 29-Sep-23 16:26:37 GMT   obsolete; the year is one of this century
//   Fri Sep 29 16:26:37 2023         obsolete
#ifndef LEVEL1_HTTP_DATE_H
#define LEVEL1_HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

// *unix_s: seconds since 1970, of years 1970 to 9999. Spaces and tabs around the date do not count; the
// name of the day is not held against the date. false: no such date, *unix_s is as before.
bool http_date_parse(const char *text, int64_t *unix_s);

#endif
