// What changes least stands first.
#include "level1-user/prompt.h"

// [exercise prompt.build drop]
#include <stdbool.h>
#include <string.h>
// [end]

// [exercise prompt.build drop]
// One more text behind all others. *end is the NUL of the text before it.
static void add(struct prompt *p, char **end, const char *role, const char *text) {
    struct chat_message *last = p->n_messages > 0 ? &p->messages[p->n_messages - 1] : NULL;
    size_t n = strlen(text);
    if (n == 0) return;

    if (last && strcmp(last->role, role) == 0) {
        memcpy(*end, "\n\n", 2);
        *end += 2;
    } else {
        if (last) *end += 1;
        p->messages[p->n_messages++] = (struct chat_message){role, *end};
    }
    memcpy(*end, text, n + 1);
    *end += n;
}

static void add_parts(struct prompt *p, char **end, const struct prompt_input *in,
                      enum prompt_change change) {
    for (int i = 0; i < in->n_parts; i++) {
        const struct prompt_part *part = &in->parts[i];
        if (part->change == change) add(p, end, part->role, part->text);
    }
}
// [end]

enum status prompt_build(struct prompt *p, const struct prompt_input *in,
                         struct arena *arena, struct error *err) {
    // [exercise prompt.build]
    enum status st = prompt_input_check(in, err);
    if (st != OK) return st;

    p->messages = ARENA_NEW(arena, struct chat_message, prompt_input_texts(in));
    char *end = ARENA_NEW(arena, char, prompt_input_bytes(in));
    if (!p->messages || !end) {
        return error_set(err, ERR_MEMORY, "no memory for the prompt");
    }
    p->n_messages = 0;
    add_parts(p, &end, in, PROMPT_NEVER);
    add_parts(p, &end, in, PROMPT_PER_USER);
    add_parts(p, &end, in, PROMPT_PER_CONVERSATION);
    for (int t = 0; t < in->n_history; t++) {
        add(p, &end, in->history[t].role, in->history[t].text);
    }
    add_parts(p, &end, in, PROMPT_PER_TURN);
    add(p, &end, "user", in->question);
    return OK;
    // [end]
}

// [exercise prompt.compare drop]
// The next text of both requests: the first that differs is named, what is the same behind it is lost.
static void look(struct prompt_warning *w, const char *part, const char *was,
                 const char *is) {
    size_t n_was = strlen(was), n_is = strlen(is), at = 0, end = 0;
    if (strcmp(was, is) == 0) {
        if (w->part) w->n_spoiled += n_is;
        return;
    }
    if (w->part) return;

    while (was[at] == is[at]) at++;
    while (end < n_was - at && end < n_is - at &&
           was[n_was - 1 - end] == is[n_is - 1 - end]) {
        end++;
    }
    *w = (struct prompt_warning){
        .trouble = prompt_trouble_of(was, is),
        .part = part,
        .text = is,
        .at = at,
        .n_spoiled = end,
    };
}
// [end]

enum status prompt_compare(struct prompt_warning *w, const struct prompt_input *before,
                           const struct prompt_input *now, enum prompt_change shared,
                           struct error *err) {
    // [exercise prompt.compare]
    enum status st = prompt_input_check_pair(before, now, shared, err);
    if (st != OK) return st;

    *w = (struct prompt_warning){.trouble = PROMPT_FINE};
    for (int change = PROMPT_NEVER; change <= (int)shared; change++) {
        for (int i = 0; i < now->n_parts; i++) {
            if ((int)now->parts[i].change != change) continue;
            look(w, now->parts[i].name, before->parts[i].text, now->parts[i].text);
        }
    }
    for (int t = 0; shared == PROMPT_PER_CONVERSATION; t++) {
        if (t == before->n_history || t == now->n_history) break;
        look(w, "history", before->history[t].text, now->history[t].text);
    }
    if (w->n_spoiled == 0) *w = (struct prompt_warning){.trouble = PROMPT_FINE};
    return OK;
    // [end]
}
