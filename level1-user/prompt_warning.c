// The warning as a person reads it.
#include "level1-user/prompt_warning.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

enum prompt_trouble prompt_trouble_of(const char *was, const char *is) {
    int surplus[UCHAR_MAX + 1] = {0}; // of each byte value, in was
    if (strcmp(was, is) == 0) return PROMPT_FINE;
    while (*was) surplus[(unsigned char)*was++]++;
    while (*is) surplus[(unsigned char)*is++]--;
    for (int byte = 0; byte <= UCHAR_MAX; byte++) {
        if (surplus[byte] != 0) return PROMPT_CHANGED;
    }
    return PROMPT_SHUFFLED;
}

// Where the word around byte `at` begins, and its bytes: 0 if a space stands there.
static const char *word_at(size_t *n_bytes, const char *text, size_t at) {
    enum { MAX_WORD = 40 };
    size_t first = at, end = at;
    while (first > 0 && !is_space(text[first - 1]) && at - first < MAX_WORD / 2) first--;
    while (text[first] && (text[first] & 0xc0) == 0x80) first++; // not inside a character
    if (end < first) end = first;
    while (text[end] && !is_space(text[end]) && end - first < MAX_WORD) end++;
    *n_bytes = utf8_whole(text + first, end - first);
    return text + first;
}

void prompt_warning_line(char line[PROMPT_WARNING_BYTES], const struct prompt_warning *w) {
    size_t n_word;
    line[0] = '\0';
    if (w->trouble == PROMPT_FINE) return;

    const char *word = word_at(&n_word, w->text, w->at);
    const char *what = w->trouble == PROMPT_SHUFFLED
                           ? "begins another order of the same bytes"
                           : "was another before";
    snprintf(line, PROMPT_WARNING_BYTES,
             "%.*s: \"%.*s\" %s; it stands before %zu bytes that stay the same",
             (int)utf8_whole(w->part, strnlen(w->part, 64)), w->part, (int)n_word, word,
             what, w->n_spoiled);
}
