// Nothing here is clever: texts are taken one after the other, ends are tried from the longest to the
// shortest, and warnings are found from the back.
#include "tests/support/prompt_oracle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const roles[] = {"system", "user", "assistant"};

// ---- drawing ------------------------------------------------------------------------------------

static char *draw_text(struct draw *d, int low, int high) {
    int n = draw_int(d, low, high);
    char *text = calloc((size_t)n + 1, 1);
    for (int i = 0; i < n; i++) text[i] = (char)draw_int(d, 'a', 'b');
    return text;
}

static char *shuffled_copy(struct draw *d, const char *text) {
    char *copy = strdup(text);
    for (int i = (int)strlen(copy) - 1; i > 0; i--) {
        int j = draw_int(d, 0, i);
        char byte = copy[i];
        copy[i] = copy[j];
        copy[j] = byte;
    }
    return copy;
}

static char *next_text(struct draw *d, const char *text, int max_bytes) {
    switch (draw_int(d, 0, 5)) {
    case 0:
        return draw_text(d, 0, max_bytes);
    case 1:
        return shuffled_copy(d, text);
    default:
        return strdup(text);
    }
}

static void drawn_join(struct drawn *in, int n_parts, int n_history, char *question) {
    in->input = (struct prompt_input){in->parts, n_parts, in->history, n_history, question};
}

void drawn_make(struct drawn *in, struct draw *d, int max_bytes) {
    static const char *const names[DRAWN_PARTS] = {"p0", "p1", "p2", "p3", "p4",
                                                   "p5", "p6", "p7", "p8"};
    int n_parts = draw_int(d, 0, DRAWN_PARTS), n_history = draw_int(d, 0, DRAWN_TURNS);
    for (int i = 0; i < n_parts; i++) {
        enum prompt_change change = (enum prompt_change)draw_int(d, 0, PROMPT_PER_TURN);
        in->parts[i] = (struct prompt_part){names[i], roles[draw_int(d, 0, 2)], change,
                                            draw_text(d, 0, max_bytes)};
    }
    for (int t = 0; t < n_history; t++) {
        in->history[t] =
            (struct chat_message){roles[draw_int(d, 1, 2)], draw_text(d, 0, max_bytes)};
    }
    drawn_join(in, n_parts, n_history, draw_text(d, 1, max_bytes + 1));
}

void drawn_next(struct drawn *next, const struct drawn *in, struct draw *d, int max_bytes) {
    const struct prompt_input *was = &in->input;
    int n_history = draw_int(d, 0, DRAWN_TURNS);
    for (int i = 0; i < was->n_parts; i++) {
        next->parts[i] = in->parts[i];
        next->parts[i].text = next_text(d, in->parts[i].text, max_bytes);
    }
    for (int t = 0; t < n_history; t++) {
        bool is_old = t < was->n_history;
        next->history[t] =
            (struct chat_message){is_old ? in->history[t].role : "user",
                                  is_old ? next_text(d, in->history[t].text, max_bytes)
                                         : draw_text(d, 0, max_bytes)};
    }
    drawn_join(next, was->n_parts, n_history, draw_text(d, 1, max_bytes + 1));
}

void drawn_free(struct drawn *in) {
    for (int i = 0; i < in->input.n_parts; i++) free((char *)in->parts[i].text);
    for (int t = 0; t < in->input.n_history; t++) free((char *)in->history[t].text);
    free((char *)in->input.question);
}

// ---- messages -----------------------------------------------------------------------------------

// Where a text belongs, from 0 (first) to 5 (last), whatever its number in the list: parts, turns, question.
static int place_of(const struct prompt_input *in, int i) {
    static const int places[] = {0, 1, 2, 4};
    if (i < in->n_parts) return places[in->parts[i].change];
    return i < in->n_parts + in->n_history ? 3 : 5;
}

static struct chat_message text_of(const struct prompt_input *in, int i) {
    if (i < in->n_parts) return (struct chat_message){in->parts[i].role, in->parts[i].text};
    if (i < in->n_parts + in->n_history) return in->history[i - in->n_parts];
    return (struct chat_message){"user", in->question};
}

// Takes one text after the other, always the first of those that belong to the lowest place.
void expect_messages(struct expected_messages *e, const struct prompt_input *in) {
    e->n_messages = 0;
    for (int place = 0; place < 6; place++) {
        for (int i = 0; i < in->n_parts + in->n_history + 1; i++) {
            struct chat_message m = text_of(in, i);
            if (place_of(in, i) != place || *m.text == '\0') continue;
            int last = e->n_messages - 1;
            if (last >= 0 && strcmp(e->messages[last].role, m.role) == 0) {
                strcat(strcat(e->texts[last], "\n\n"), m.text);
                continue;
            }
            strcpy(e->texts[e->n_messages], m.text);
            e->messages[e->n_messages] =
                (struct chat_message){m.role, e->texts[e->n_messages]};
            e->n_messages++;
        }
    }
}

// ---- warnings -----------------------------------------------------------------------------------

// Bytes of the longest common end of two texts, not reaching back over their first `at` bytes: the longest
// are tried first.
static size_t common_end(const char *a, const char *b, size_t at) {
    size_t n_a = strlen(a), n_b = strlen(b), n = (n_a < n_b ? n_a : n_b) - at;
    while (strcmp(a + n_a - n, b + n_b - n) != 0) n--;
    return n;
}

static bool same_letters(const char *a, const char *b) {
    int n_a = 0, n_b = 0; // of the letter a; the texts hold a and b
    for (const char *c = a; *c; c++) n_a += *c == 'a';
    for (const char *c = b; *c; c++) n_b += *c == 'a';
    return n_a == n_b && strlen(a) == strlen(b);
}

// From the back: what lies behind grows text by text, and the last one that differs is the first.
struct prompt_warning expect_warning(const struct prompt_input *was,
                                     const struct prompt_input *is,
                                     enum prompt_change shared) {
    static const int place_ends[] = {1, 2, 4};
    int place_end = place_ends[shared];
    struct prompt_warning w = {0};
    size_t n_same = 0;
    for (int place = place_end - 1; place >= 0; place--) {
        for (int i = is->n_parts + is->n_history - 1; i >= 0; i--) {
            int turn = i - is->n_parts;
            if (place_of(is, i) != place || turn >= was->n_history) continue;
            const char *a = turn < 0 ? was->parts[i].text : was->history[turn].text;
            const char *b = text_of(is, i).text;
            size_t at = 0;
            if (strcmp(a, b) == 0) {
                n_same += strlen(b);
                continue;
            }
            while (a[at] == b[at]) at++;
            w = (struct prompt_warning){same_letters(a, b) ? PROMPT_SHUFFLED
                                                           : PROMPT_CHANGED,
                                        turn < 0 ? is->parts[i].name : "history", b, at,
                                        n_same + common_end(a, b, at)};
        }
    }
    return w.n_spoiled > 0 ? w : (struct prompt_warning){0};
}
