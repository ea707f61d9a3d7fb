// A line from a terminal, with editing and a history that lasts as long as the program. libedit does
// the work; this is the little of it that we use.
#ifndef LEVEL1_LINE_EDITOR_H
#define LEVEL1_LINE_EDITOR_H

#include "common/status.h"
#include "level1-user/text.h"

struct line_editor {
    // owned
    void *edit, *history; // libedit's
    struct text line;     // the last one
};

enum line_end {
    LINE_ENTERED,
    LINE_INTERRUPTED, // a signal came: what was typed is dropped
    LINE_CLOSED       // Ctrl-D, or no terminal any more
};

// Reads standard input, shows prompt and echo on standard error.
enum status line_editor_open(struct line_editor *e, struct error *err);
void line_editor_close(struct line_editor *e); // safe on a zeroed editor

// *line: without its line end, valid until the next call; NULL unless LINE_ENTERED.
enum line_end line_editor_read(struct line_editor *e, const char **line);

#endif
