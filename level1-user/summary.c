// Times and counts of one answer.
#include "level1-user/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct summary summary_of(const struct reply *r, int64_t start_ns) {
    struct summary s = {.ttft_ms = -1, .tokens_per_s = -1};
    int64_t decode_ns = r->last_token_ns - r->first_token_ns;

    if (r->first_token_ns != 0) s.ttft_ms = (double)(r->first_token_ns - start_ns) / 1e6;
    // The first token ends the prefill; the others were made in decode_ns.
    if (r->usage.completion_tokens > 1 && decode_ns > 0) {
        s.tokens_per_s = (double)(r->usage.completion_tokens - 1) * 1e9 / (double)decode_ns;
    }
    return s;
}

// Adds a part to the line, with this between it and the part before.
static void append(char *out, size_t out_bytes, const char *between, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

static void append(char *out, size_t out_bytes, const char *between, const char *format,
                   ...) {
    size_t n = strlen(out);
    va_list args;
    if (n > 0) n += (size_t)snprintf(out + n, out_bytes - n, "%s", between);
    if (n >= out_bytes) return;
    va_start(args, format);
    vsnprintf(out + n, out_bytes - n, format, args);
    va_end(args);
}

// "" unless it is a plain word: it comes from a stranger and goes to a terminal.
static const char *finish_word(const struct reply *r) {
    const char *reason = r->n_choices > 0 ? r->choices[0].finish_reason : "";
    bool is_plain = strspn(reason, "abcdefghijklmnopqrstuvwxyz_") == strlen(reason);
    return is_plain ? reason : "";
}

void summary_line(char *out, size_t out_bytes, const struct summary *s,
                  const struct reply *r) {
    const struct reply_usage *u = &r->usage;
    const char *reason = finish_word(r);

    out[0] = '\0';
    if (s->ttft_ms >= 0) append(out, out_bytes, "", "TTFT %.0f ms", s->ttft_ms);
    if (s->tokens_per_s >= 0)
        append(out, out_bytes, ", ", "%.1f tokens/s", s->tokens_per_s);
    if (u->prompt_tokens >= 0)
        append(out, out_bytes, ", ", "%" PRId64 " prompt", u->prompt_tokens);
    if (u->prompt_tokens >= 0 && u->cached_tokens >= 0)
        append(out, out_bytes, " ", "(%" PRId64 " cached)", u->cached_tokens);
    if (u->prompt_tokens >= 0 && u->completion_tokens >= 0)
        append(out, out_bytes, " + ", "%" PRId64 " completion tokens",
               u->completion_tokens);
    if (*reason && strcmp(reason, "stop") != 0)
        append(out, out_bytes, ", ", "ended by %s", reason);
}

// null where a number is not known.
static json_t *known_real(double x) {
    return x >= 0 ? json_real(x) : json_null();
}

static json_t *known_count(int64_t n) {
    return n >= 0 ? json_integer(n) : json_null();
}

char *summary_json(const struct summary *s, const struct reply *r, const char *failure) {
    const char *text = reply_text(r);
    size_t n_text = r->n_choices > 0 ? r->choices[0].text.n : 0;
    const char *reason = finish_word(r);
    json_t *root = json_pack(
        "{s:s%, s:s?, s:o, s:o, s:{s:o, s:o, s:o}, s:s?}", "answer", text, n_text,
        "finish_reason", *reason ? reason : NULL, "ttft_ms", known_real(s->ttft_ms),
        "tokens_per_s", known_real(s->tokens_per_s), "usage", "prompt_tokens",
        known_count(r->usage.prompt_tokens), "cached_tokens",
        known_count(r->usage.cached_tokens), "completion_tokens",
        known_count(r->usage.completion_tokens), "model", *r->model ? r->model : NULL);

    int failed = 0;
    if (root && s->has_price)
        failed |= json_object_set_new(root, "cost_usd",
                                      s->cost_usd ? json_string(s->cost_usd) : json_null());
    if (root && failure) failed |= json_object_set_new(root, "error", json_string(failure));
    if (failed) {
        json_decref(root);
        return NULL;
    }
    char *document =
        root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    return document;
}
