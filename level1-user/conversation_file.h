// A conversation in a file, to go on with later, or with another model:
//
//   {"version": 1, "model": "parrot", "messages": [{"role": "system", "content": "Be brief."},
//                                                  {"role": "user", "content": "Hello"}, ...]}
//
// model is a note: whom the conversation was with. Fields that are not named here are passed over.
#ifndef LEVEL1_CONVERSATION_FILE_H
#define LEVEL1_CONVERSATION_FILE_H

#include <stddef.h>

#include "common/status.h"
#include "level1-user/conversation.h"
#include "level1-user/text.h"

// system: "" for none. The file is for its owner alone (mode 0600), and either the old one or the whole
// new one: it is written under another name beside it, then renamed. ERR_INPUT: there is a file of this
// name that is no saved conversation, and stays; or system or model is no UTF-8. ERR_IO, ERR_MEMORY:
// nothing changed.
enum status conversation_save(const struct conversation *said, const char *system,
                              const char *model, const char *path, struct error *err);

// Puts what the file says in place of *said and *system. A file that somebody else made may say
// anything: on failure both stay as they were. ERR_FORMAT: not JSON, or not such a conversation; says
// where. ERR_UNSUPPORTED: another version. ERR_LIMIT: above LIMIT_BODY_BYTES or LIMIT_MESSAGES.
// ERR_MEMORY; conversation_load also ERR_IO. name: how errors call the file.
enum status conversation_parse(struct conversation *said, struct text *system,
                               const char *bytes, size_t n_bytes, const char *name,
                               struct error *err);
enum status conversation_load(struct conversation *said, struct text *system,
                              const char *path, struct error *err);

#endif
