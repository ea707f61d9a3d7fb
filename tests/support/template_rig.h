// A template rendered once: its source as C text, its variables as JSON.
#ifndef TESTS_SUPPORT_TEMPLATE_RIG_H
#define TESTS_SUPPORT_TEMPLATE_RIG_H

#include <jansson.h>

#include "level2-operator/template/template.h"

struct rendering {
    // of the last call
    enum status st;
    struct text text;
    struct error err;
    // behind it
    struct arena arena;
    json_t *variables;
};

enum { RENDERING_BYTES = 64 << 20 }; // limit of the arena

// variables: a JSON object, or NULL. fail_after: allocations that succeed; -1: all.
void rendering_make(struct rendering *r, const char *source, const char *variables,
                    long fail_after);
void rendering_free(struct rendering *r);

// The template gives this text; else the test fails and says both.
void assert_renders(const char *source, const char *variables, const char *want);

// The template is refused, with these words in the message, at this line.
void assert_not_rendered(const char *source, const char *variables, enum status want,
                         int line, const char *words);

// '1' for each byte that the template wrote itself, '0' for others.
void assert_own(const char *source, const char *variables, const char *want);

#endif
