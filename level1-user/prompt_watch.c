// Two looks at the front of a prompt.
#include "level1-user/prompt_watch.h"

#include <string.h>

#include "common/printable.h"
#include "level1-user/prompt.h"
#include "level1-user/volatile_word.h"

// The words of a file must not move the cursor.
static void print_line(FILE *out, const char *line) {
    fputs("ask: ", out);
    printable_write(out, line, strlen(line));
    fputc('\n', out);
}

void prompt_watch_system(FILE *out, const char *system) {
    struct volatile_word w;
    char line[PROMPT_WARNING_BYTES];

    if (!volatile_word_find(&w, system)) return;
    snprintf(
        line, sizeof(line),
        "the system message says \"%.*s\" near its front: if that is another next time, no "
        "cache finds the %zu bytes behind it",
        (int)w.n_bytes, system + w.at, w.n_behind);
    print_line(out, line);
}

static enum status compare(const struct prompt_watch *w, FILE *out, const char *system,
                           const struct prompt_input *now, struct error *err) {
    const struct prompt_part was = {"system message", "system", PROMPT_PER_CONVERSATION,
                                    text_string(&w->system)};
    const struct prompt_part is = {"system message", "system", PROMPT_PER_CONVERSATION,
                                   system};
    struct prompt_input before = *now, after = *now;
    struct prompt_warning warning;
    char line[PROMPT_WARNING_BYTES];

    before.parts = &was;
    after.parts = &is;
    before.n_parts = after.n_parts = 1;
    enum status st =
        prompt_compare(&warning, &before, &after, PROMPT_PER_CONVERSATION, err);
    if (st != OK || warning.trouble == PROMPT_FINE) return st;
    prompt_warning_line(line, &warning);
    print_line(out, line);
    return OK;
}

enum status prompt_watch_request(struct prompt_watch *w, FILE *out, const char *system,
                                 const struct chat_message *history, int n_history,
                                 const char *question, struct error *err) {
    const struct prompt_input now = {
        .history = history, .n_history = n_history, .question = question};
    enum status st = OK;

    if (w->has_asked && strcmp(text_string(&w->system), system) == 0) return OK;
    if (w->has_asked) st = compare(w, out, system, &now, err);
    w->system.n = 0;
    w->has_asked = true;
    if (st == OK && !text_append(&w->system, system, strlen(system)))
        st = error_set(err, ERR_MEMORY, "no memory for the system message");
    return st;
}

void prompt_watch_forget(struct prompt_watch *w) {
    w->has_asked = false;
}

void prompt_watch_free(struct prompt_watch *w) {
    text_free(&w->system);
    *w = (struct prompt_watch){0};
}
