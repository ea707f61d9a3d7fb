// Where the words of a request come from, and the key that it is sent with.
#ifndef LEVEL1_QUESTION_H
#define LEVEL1_QUESTION_H

#include <stddef.h>

#include "common/cli.h"
#include "common/status.h"
#include "level1-user/text.h"

// The words of the command line with a space between them.
enum status question_from_words(struct text *question, const struct cli_list *words,
                                struct error *err);

// All of standard input without the line ends at its end; at most LIMIT_BODY_BYTES, no NUL.
enum status question_from_pipe(struct text *question, struct error *err);

// A whole file, byte for byte: UTF-8 without NUL, at most LIMIT_BODY_BYTES; else ERR_INPUT, ERR_LIMIT.
// text stays as it is on failure. Refuses what is not a regular file.
enum status text_from_file(struct text *text, const char *path, struct error *err);

// The first line of a file: so the key stands in no command line and no list of processes.
enum status key_from_file(char *key, size_t key_bytes, const char *path, struct error *err);

#endif
