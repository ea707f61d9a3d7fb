// libedit, wrapped.
#include "level1-user/line_editor.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

enum { HISTORY_LINES = 1000 };

static char *prompt(EditLine *edit) {
    static char text[] = "> "; // never written: libedit's type lacks the const
    (void)edit;
    return text;
}

// Letters are edited as letters only if the locale knows UTF-8.
static void use_utf8(void) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

enum status line_editor_open(struct line_editor *e, struct error *err) {
    HistEvent event;

    use_utf8();
    e->edit = el_init("ask", stdin, stderr, stderr);
    e->history = history_init();
    if (!e->edit || !e->history) {
        line_editor_close(e);
        return error_set(err, ERR_MEMORY, "no memory for line editing");
    }
    history(e->history, &event, H_SETSIZE, HISTORY_LINES);
    el_set(e->edit, EL_PROMPT, prompt);
    el_set(e->edit, EL_EDITOR, "emacs");
    el_set(e->edit, EL_HIST, history, e->history);
    el_source(e->edit, NULL); // the user's own ~/.editrc
    return OK;
}

void line_editor_close(struct line_editor *e) {
    if (e->edit) el_end(e->edit);
    if (e->history) history_end(e->history);
    text_free(&e->line);
    *e = (struct line_editor){0};
}

enum line_end line_editor_read(struct line_editor *e, const char **line) {
    HistEvent event;
    int n = 0;

    *line = NULL;
    errno = 0;
    const char *typed = el_gets(e->edit, &n);
    if (!typed || n <= 0) {
        bool was_signal = n < 0 && errno == EINTR;
        fputc('\n', stderr);
        if (was_signal) el_reset(e->edit);
        return was_signal ? LINE_INTERRUPTED : LINE_CLOSED;
    }
    if (strcmp(typed, "\n") != 0) history(e->history, &event, H_ENTER, typed);

    e->line.n = 0;
    if (!text_append(&e->line, typed, strcspn(typed, "\n"))) return LINE_CLOSED;
    *line = e->line.bytes;
    return LINE_ENTERED;
}
