// One reply, chunks that it is given, and what is judged of it afterwards. JSON is written with ' for ",
// so that it can be read.
#ifndef TESTS_SUPPORT_REPLY_RIG_H
#define TESTS_SUPPORT_REPLY_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"
#include "level1-user/reply.h"

// Of the test that runs.
extern struct reply reply;
extern struct error err;
extern char json[2048]; // the last chunk, with real quotes

void reply_rig_open(void); // fixtures
void reply_rig_close(void);

size_t quote(const char *data); // puts it into json; returns its bytes
enum status push_at(const char *data, int64_t now_ns);
enum status whole_at(const char *data, int64_t now_ns);
void push(const char *data); // must be taken

// "after reply_push({'choices':[...]}): FIELD": what an assertion judges. Valid until the next call.
const char *after(const char *field);

void assert_returned(enum status got, enum status want);
void assert_choice(int i, const char *text, const char *finish_reason);
void assert_times(int64_t first_ns, int64_t last_ns);
void assert_told(int64_t prompt, int64_t cached, int64_t completion);
void assert_error(const char *message);

#endif
