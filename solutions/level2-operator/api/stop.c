// Stop strings over pieces. What is shown depends on the bytes alone, never on how they were cut.
// Not here: stop ids and the end-of-generation set, which are the engine's.
// [exercise stop drop]
// A byte goes out as soon as nothing that may still come can change it.
//
//   held   | decided: goes out now | may be the start of a stop string, or half a character |
//          0                      cut                                                    n_held
// [end]
#include "level2-operator/api/stop.h"

#include <string.h>

// [exercise stop drop]
#include "common/utf8.h"

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; // U+FFFD
// [end]
enum { REPLACEMENT_BYTES = 3, CUT_CHARACTER_BYTES = 3 };

// [exercise stop drop]
static bool ends_at(const struct stop *s, const struct stop_string *string, size_t end) {
    return string->n_bytes <= end &&
           memcmp(s->held + end - string->n_bytes, string->bytes, string->n_bytes) == 0;
}

// The longest stop string that ends at byte `end` of what is held; 0: none.
static size_t match_length(const struct stop *s, size_t end) {
    size_t longest = 0;
    for (int i = 0; i < s->n_strings; i++) {
        if (s->strings[i].n_bytes > longest && ends_at(s, &s->strings[i], end))
            longest = s->strings[i].n_bytes;
    }
    return longest;
}

// Where the longest tail begins that a stop string could continue; n_held: nowhere.
static size_t stop_prefix(const struct stop *s) {
    size_t begin = s->n_held < LIMIT_STOP_BYTES ? 0 : s->n_held - (LIMIT_STOP_BYTES - 1);
    for (; begin < s->n_held; begin++) {
        size_t n_tail = s->n_held - begin;
        for (int i = 0; i < s->n_strings; i++) {
            if (n_tail < s->strings[i].n_bytes &&
                memcmp(s->held + begin, s->strings[i].bytes, n_tail) == 0)
                return begin;
        }
    }
    return s->n_held;
}

// Repairs and forgets the first characters of what is held, as far as they lie before `cut` and
// are whole. Bytes behind the cut are looked at: they decide whether a character is valid.
static size_t show_decided(struct stop *s, size_t cut) {
    size_t n_whole = utf8_whole(s->held, s->n_held), n_shown = 0, used = 0, n;
    if (cut > n_whole) cut = n_whole;

    for (; used < cut; used += n) {
        bool is_valid = utf8_next(s->held + used, s->n_held - used, &n) >= 0;
        if (used + n > cut) break;
        memcpy(s->shown + n_shown, is_valid ? s->held + used : REPLACEMENT,
               is_valid ? n : REPLACEMENT_BYTES);
        n_shown += is_valid ? n : REPLACEMENT_BYTES;
    }
    s->n_held -= used;
    memmove(s->held, s->held + used, s->n_held);
    return n_shown;
}

// [end]
enum status stop_init(struct stop *s, const struct stop_string *strings, int n_strings,
                      size_t max_piece, struct arena *arena, struct error *err) {
    memset(s, 0, sizeof(*s));
    if (n_strings < 0 || n_strings > LIMIT_STOP_STRINGS)
        return error_set_param(err, ERR_LIMIT, "stop", "%d stop strings: at most %d",
                               n_strings, LIMIT_STOP_STRINGS);
    size_t longest = 0;
    for (int i = 0; i < n_strings; i++) {
        size_t n_bytes = strings[i].n_bytes;
        if (n_bytes < 1 || n_bytes > LIMIT_STOP_BYTES)
            return error_set_param(err, ERR_LIMIT, "stop",
                                   "a stop string of %zu bytes: it must have 1 to %d",
                                   n_bytes, LIMIT_STOP_BYTES);
        if (n_bytes > longest) longest = n_bytes;
        s->strings[i] = strings[i];
    }
    s->max_held = longest + CUT_CHARACTER_BYTES + max_piece;
    s->held = ARENA_NEW(arena, char, s->max_held);
    s->shown = arena_alloc(arena, s->max_held, REPLACEMENT_BYTES);
    if (!s->held || !s->shown) {
        memset(s, 0, sizeof(*s));
        return error_set(err, ERR_MEMORY, "no memory to look for stop strings");
    }
    s->n_strings = n_strings;
    return OK;
}

bool stop_push(struct stop *s, const char *piece, size_t n_bytes, const char **text,
               size_t *n_text) {
    // [exercise stop]
    *text = s->shown;
    *n_text = 0;
    if (s->matched || n_bytes == 0) return s->matched;

    MUST(n_bytes <= s->max_held - s->n_held);
    size_t end = s->n_held; // nothing ends in what was held before
    memcpy(s->held + s->n_held, piece, n_bytes);
    s->n_held += n_bytes;

    while (end < s->n_held && !s->matched) {
        size_t n_match = match_length(s, ++end);
        if (n_match == 0) continue;
        s->matched = true;
        *n_text = utf8_repair(s->shown, s->held, s->include_stop ? end : end - n_match);
        s->n_held = 0;
    }
    if (!s->matched) *n_text = show_decided(s, stop_prefix(s));
    return s->matched;
    // [end]
}

void stop_flush(struct stop *s, const char **text, size_t *n_text) {
    // [exercise stop]
    *text = s->shown;
    *n_text = show_decided(s, s->n_held);
    if (s->n_held == 0) return;
    memcpy(s->shown + *n_text, REPLACEMENT, REPLACEMENT_BYTES);
    *n_text += REPLACEMENT_BYTES;
    s->n_held = 0;
    // [end]
}
