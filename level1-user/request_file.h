// The body of a chat request, as a client sent it, read for an audit: OpenAI's shape, and Anthropic's
// with its system text apart and its marks.
//
//   {"system": "rules",                                         text 0: system
//    "messages": [{"role": "user", "content": [                 text 1: messages[0].content[0]
//        {"type": "text", "text": "a", "cache_control": {...}}, mark: behind 2 texts
//        {"type": "text", "text": "b"}]}, ...]}                 text 2: messages[0].content[1]
#ifndef LEVEL1_REQUEST_FILE_H
#define LEVEL1_REQUEST_FILE_H

#include <stddef.h>

#include "common/status.h"
#include "level1-user/audit.h"

// Where a text stands, as above.
struct text_place {
    char name[64];
};

struct request_file {
    // owned
    void *document;                // jansson's: the texts
    struct chat_message *messages; // one for each text; what audit.h calls a message
    int *marks;
    struct text_place *places; // of each text, and one more behind the last: "the end"
    // points to the above
    struct audit_request request;
};

// What else a body says is passed over. ERR_FORMAT: not JSON, or not the body of a chat request; says
// where. ERR_UNSUPPORTED: it has tools or content that is no text, which a cache sees, too. ERR_LIMIT:
// above LIMIT_BODY_BYTES or LIMIT_AUDIT_BLOCKS texts. ERR_MEMORY; request_file_open also ERR_IO. On
// failure the file is closed. name: how errors call it.
enum status request_file_parse(struct request_file *f, const char *bytes, size_t n_bytes,
                               const char *name, struct error *err);
enum status request_file_open(struct request_file *f, const char *path, struct error *err);
void request_file_close(struct request_file *f); // safe on a zeroed or closed file

#endif
