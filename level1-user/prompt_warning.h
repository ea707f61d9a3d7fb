// A part of a prompt that did not keep its promise, and what that costs.
#ifndef LEVEL1_PROMPT_WARNING_H
#define LEVEL1_PROMPT_WARNING_H

#include <stddef.h>

enum prompt_trouble {
    PROMPT_FINE,
    PROMPT_CHANGED,  // a date, a time, an id, a name: bytes came, went or differ
    PROMPT_SHUFFLED, // each byte as often as before, in another order: a map without one
    PROMPT_TROUBLE_COUNT
};

// What happened to a text: PROMPT_FINE if the two are the same.
enum prompt_trouble prompt_trouble_of(const char *was, const char *is);

// PROMPT_FINE: all other fields are 0 and NULL.
struct prompt_warning {
    enum prompt_trouble trouble;
    const char *part; // its name, borrowed; "history" for a turn of it
    const char *text; // its text in the later request, borrowed
    size_t at;        // the first byte of it that differs
    size_t n_spoiled; // bytes behind it that are the same in both requests, and yet lost
};

enum { PROMPT_WARNING_BYTES = 256 };

// One sentence with the word that differs:
//   rules: "10:05." was another before; it stands before 57 bytes that stay the same
// "" for PROMPT_FINE. What is too long is cut at a whole character.
void prompt_warning_line(char line[PROMPT_WARNING_BYTES], const struct prompt_warning *w);

#endif
