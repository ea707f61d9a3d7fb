// Upper and lower case, one character for one. (Python turns a few characters into two, as in "SS"
// for a sharp s; templates change the case of roles and names of types, where there are none.)
#include "level2-operator/template/template_python.h"

#include <string.h>
#include <utf8proc.h>

#include "common/utf8.h"
#include "level2-operator/template/template_render.h"

enum letter_case { KEEP, UPPER, LOWER };
// What a character becomes, by what stood before it: state is the rule's own.
typedef enum letter_case case_fn(int32_t c, int *state);

static int32_t in_case(int32_t c, enum letter_case letter_case) {
    if (letter_case == UPPER) return utf8proc_toupper(c);
    return letter_case == LOWER ? utf8proc_tolower(c) : c;
}

static struct text change_case(struct render *r, struct text t, case_fn *rule) {
    struct text_builder b;
    size_t n_used;
    int state = 0;

    render_builder(r, &b);
    for (size_t at = 0; at < t.n_bytes && !b.failed; at += n_used) {
        int32_t c = utf8_next(t.bytes + at, t.n_bytes - at, &n_used);
        int32_t changed = in_case(c, rule(c, &state));
        struct text same = text_slice(t, at, at + n_used);
        bool is_own = t.own ? t.own[at] : t.is_own;
        if (changed == c)
            text_put(&b, same);
        else
            text_put_character(&b, changed, is_own);
    }
    struct value built = render_built(r, &b);
    return r->st ? text_own("") : built.text;
}

static enum letter_case all_upper(int32_t c, int *state) {
    (void)c, (void)state;
    return UPPER;
}

static enum letter_case all_lower(int32_t c, int *state) {
    (void)c, (void)state;
    return LOWER;
}

static enum letter_case first_upper(int32_t c, int *state) {
    (void)c;
    return (*state)++ == 0 ? UPPER : LOWER;
}

// Each letter behind something that is none.
static enum letter_case words_upper(int32_t c, int *state) {
    bool is_letter = utf8proc_toupper(c) != c || utf8proc_tolower(c) != c;
    enum letter_case result = is_letter && *state ? LOWER : UPPER;
    *state = is_letter;
    return result;
}

// Each character behind one that separates words for jinja2.
static enum letter_case beginnings_upper(int32_t c, int *state) {
    bool separates = text_is_space(c) || (c > 0 && c < 0x80 && strchr("-({[<", c));
    enum letter_case result = *state ? LOWER : UPPER;
    *state = !separates;
    return result;
}

struct text text_upper(struct render *r, struct text t) {
    return change_case(r, t, all_upper);
}

struct text text_lower(struct render *r, struct text t) {
    return change_case(r, t, all_lower);
}

struct text text_capitalize(struct render *r, struct text t) {
    return change_case(r, t, first_upper);
}

struct text text_title(struct render *r, struct text t) {
    return change_case(r, t, words_upper);
}

struct text text_words(struct render *r, struct text t) {
    return change_case(r, t, beginnings_upper);
}
