// Strings that know who wrote each byte.
#include "level2-operator/template/template_text.h"

#include <string.h>
#include <utf8proc.h>

#include "common/utf8.h"
#include "level2-operator/tokenizer/char_class.h"

struct text text_own(const char *literal) {
    return (struct text){.bytes = literal, .n_bytes = strlen(literal), .is_own = true};
}

struct text text_foreign(const char *bytes, size_t n_bytes) {
    return (struct text){.bytes = bytes, .n_bytes = n_bytes};
}

struct text text_slice(struct text t, size_t begin, size_t end) {
    if (begin >= end) return (struct text){.bytes = "", .is_own = t.is_own};
    t.bytes += begin;
    if (t.own) t.own += begin;
    t.n_bytes = end - begin;
    return t;
}

bool text_equal(struct text a, struct text b) {
    return a.n_bytes == b.n_bytes &&
           (a.n_bytes == 0 || memcmp(a.bytes, b.bytes, a.n_bytes) == 0);
}

bool text_is(struct text t, const char *literal) {
    return text_equal(t, text_own(literal));
}

// UTF-8 keeps the order of code points.
int text_compare(struct text a, struct text b) {
    size_t n = a.n_bytes < b.n_bytes ? a.n_bytes : b.n_bytes;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;
    return order ? order : (a.n_bytes > b.n_bytes) - (a.n_bytes < b.n_bytes);
}

size_t text_candidate(struct text t, struct text needle, size_t from) {
    if (from > t.n_bytes || needle.n_bytes > t.n_bytes - from) return SIZE_MAX;
    if (needle.n_bytes == 0) return from;
    const char *at =
        memchr(t.bytes + from, needle.bytes[0], t.n_bytes - needle.n_bytes - from + 1);
    return at ? (size_t)(at - t.bytes) : SIZE_MAX;
}

bool text_stands_at(struct text t, struct text needle, size_t at) {
    return text_equal(text_slice(t, at, at + needle.n_bytes), needle);
}

size_t text_find(struct text t, struct text needle, size_t from) {
    size_t at = text_candidate(t, needle, from);
    while (at != SIZE_MAX && !text_stands_at(t, needle, at))
        at = text_candidate(t, needle, at + 1);
    return at;
}

// Every byte but those that go on with a character.
size_t text_length(struct text t) {
    size_t n = 0;
    for (size_t i = 0; i < t.n_bytes; i++) n += ((unsigned char)t.bytes[i] & 0xc0) != 0x80;
    return n;
}

size_t text_offset(struct text t, size_t i_character) {
    for (size_t i = 0; i < t.n_bytes; i++) {
        if (((unsigned char)t.bytes[i] & 0xc0) == 0x80) continue;
        if (i_character-- == 0) return i;
    }
    return t.n_bytes;
}

bool text_is_space(int32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
    return char_is_wide_space(c);
}

// ---- strip --------------------------------------------------------------------------------------

static bool is_stripped(struct text character, const struct text *chars) {
    size_t n_used;
    if (chars) return text_find(*chars, character, 0) != SIZE_MAX;
    return text_is_space(utf8_next(character.bytes, character.n_bytes, &n_used));
}

static struct text first_character(struct text t) {
    size_t n_used;
    utf8_next(t.bytes, t.n_bytes, &n_used);
    return text_slice(t, 0, n_used);
}

static struct text last_character(struct text t) {
    size_t begin = t.n_bytes - 1;
    while (begin > 0 && ((unsigned char)t.bytes[begin] & 0xc0) == 0x80) begin--;
    return text_slice(t, begin, t.n_bytes);
}

struct text text_strip(struct text t, const struct text *chars, enum text_side side) {
    while ((side & TEXT_LEFT) && t.n_bytes > 0) {
        struct text c = first_character(t);
        if (!is_stripped(c, chars)) break;
        t = text_slice(t, c.n_bytes, t.n_bytes);
    }
    while ((side & TEXT_RIGHT) && t.n_bytes > 0) {
        struct text c = last_character(t);
        if (!is_stripped(c, chars)) break;
        t = text_slice(t, 0, t.n_bytes - c.n_bytes);
    }
    return t;
}

// ---- building -----------------------------------------------------------------------------------

enum { FIRST_CAPACITY = 128 };

void text_builder_init(struct text_builder *b, struct pool *pool, size_t max_bytes) {
    *b = (struct text_builder){.pool = pool, .max_bytes = max_bytes};
}

// The old bytes stay in the pool; doubling keeps that below what is in use.
static bool make_room(struct text_builder *b, size_t n_more) {
    if (b->failed) return false;
    if (n_more <= b->capacity - b->n_bytes) return true;
    b->failed = true;
    b->is_long = n_more > b->max_bytes - b->n_bytes;
    if (b->is_long) return false;

    size_t capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
    if (capacity < b->n_bytes + n_more) capacity = b->n_bytes + n_more;
    if (capacity > b->max_bytes) capacity = b->max_bytes;
    char *bytes = pool_take(b->pool, capacity, 1);
    unsigned char *own = pool_take(b->pool, capacity, 1);
    if (!bytes || !own) return false;
    if (b->n_bytes) {
        memcpy(bytes, b->bytes, b->n_bytes);
        memcpy(own, b->own, b->n_bytes);
    }
    b->bytes = bytes;
    b->own = own;
    b->capacity = capacity;
    b->failed = false;
    return true;
}

void text_put(struct text_builder *b, struct text t) {
    if (t.n_bytes == 0 || !make_room(b, t.n_bytes)) return;
    memcpy(b->bytes + b->n_bytes, t.bytes, t.n_bytes);
    if (t.own) {
        memcpy(b->own + b->n_bytes, t.own, t.n_bytes);
        b->has_own = b->has_foreign = true;
    } else {
        memset(b->own + b->n_bytes, t.is_own, t.n_bytes);
        b->has_own |= t.is_own;
        b->has_foreign |= !t.is_own;
    }
    b->n_bytes += t.n_bytes;
}

void text_put_made(struct text_builder *b, const char *string) {
    text_put(b, text_foreign(string, strlen(string)));
}

void text_put_character(struct text_builder *b, int32_t code_point, bool is_own) {
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(code_point, bytes);
    struct text t = text_foreign((const char *)bytes, (size_t)n);
    t.is_own = is_own;
    text_put(b, t);
}

struct text text_built(const struct text_builder *b) {
    return (struct text){.bytes = b->bytes ? b->bytes : "",
                         .n_bytes = b->n_bytes,
                         .own = b->has_own && b->has_foreign ? b->own : NULL,
                         .is_own = b->has_own || !b->has_foreign};
}
