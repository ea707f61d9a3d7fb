// One answer in the making.
#include "level2-operator/api/generation.h"

#include <string.h>

// A byte that is no UTF-8 is shown as a character of three.
enum { SHOWN_BYTES = 3 };

enum status generation_init(struct generation *g, int index,
                            const struct api_request *request,
                            const struct tokenizer *tokenizer, size_t max_piece,
                            int max_tokens, struct arena *arena, struct error *err) {
    size_t n_tokens = (size_t)max_tokens;

    *g = (struct generation){
        .index = index,
        .tokenizer = tokenizer,
        .show_special = request->show_special,
        .n_top = request->params.n_top_logprobs,
    };
    buffer_init(&g->text, SHOWN_BYTES * (n_tokens * max_piece + LIMIT_STOP_BYTES));
    buffer_init(&g->logprobs,
                n_tokens * (size_t)(1 + g->n_top) * sizeof(struct token_logprob));
    buffer_init(&g->offsets, n_tokens * sizeof(int));
    enum status st =
        stop_init(&g->stop, request->stops, request->n_stops, max_piece, arena, err);
    g->stop.include_stop = request->include_stop;
    return st;
}

// Characters are counted where they begin, so a character of two tokens belongs to the first.
static int count_begun(struct token_piece piece) {
    int n = 0;
    for (uint32_t i = 0; i < piece.n_bytes; i++) n += (piece.bytes[i] & 0xC0) != 0x80;
    return n;
}

static bool keep_logprobs(struct generation *g, const struct engine_event *event) {
    const struct token_logprob none = {.token = -1};

    if (!buffer_put(&g->offsets, &g->n_chars, sizeof(g->n_chars))) return false;
    if (!buffer_put(&g->logprobs, &event->drawn, sizeof(event->drawn))) return false;
    for (int i = 0; i < g->n_top; i++) {
        const struct token_logprob *top = i < event->n_top ? &event->top[i] : &none;
        if (!buffer_put(&g->logprobs, top, sizeof(*top))) return false;
    }
    return true;
}

static void fail(struct generation *g, enum status code, const char *text) {
    g->is_over = true;
    error_set(&g->err, code, "%s", text);
}

static void take_token(struct generation *g, const struct engine_event *event,
                       bool *cancel) {
    struct token_piece piece =
        tokenizer_piece(g->tokenizer, event->drawn.token, g->show_special);
    const char *text;
    size_t n_text;

    g->n_completion++;
    bool matched = stop_push(&g->stop, piece.bytes, piece.n_bytes, &text, &n_text);
    bool kept = buffer_put(&g->text, text, n_text);
    if (kept && g->n_top >= 0) kept = keep_logprobs(g, event);
    g->n_chars += count_begun(piece);

    if (!kept) fail(g, ERR_MEMORY, "no memory for the answer");
    if (matched && kept) {
        g->is_over = true;
        g->finish_reason = "stop";
    }
    *cancel = g->is_over;
}

static void take_finish(struct generation *g, const struct engine_event *event) {
    const char *text;
    size_t n_text;

    if (event->reason == FINISH_CANCELLED) {
        fail(g, ERR_STATE, "the server stopped before the answer was complete");
        return;
    }
    if (event->reason == FINISH_ERROR) {
        g->is_over = true;
        g->err = event->err;
        return;
    }
    stop_flush(&g->stop, &text, &n_text);
    if (!buffer_put(&g->text, text, n_text)) {
        fail(g, ERR_MEMORY, "no memory for the answer");
        return;
    }
    g->is_over = true;
    g->finish_reason = event->reason == FINISH_LENGTH ? "length" : "stop";
}

void generation_event(struct generation *g, const struct engine_event *event,
                      bool *cancel) {
    *cancel = false;
    if (g->is_over) return;
    if (event->kind == EVENT_TOKEN) {
        take_token(g, event, cancel);
        return;
    }
    g->n_prompt = event->n_prompt;
    g->n_cached = event->n_cached;
    if (event->kind == EVENT_FINISH) take_finish(g, event);
}

struct api_piece generation_piece(const struct generation *g) {
    return (struct api_piece){
        .index = g->index,
        .text = g->text.bytes,
        .n_text = g->text.n_bytes,
        .has_logprobs = g->n_top >= 0,
        .n_top = g->n_top,
        .n_tokens = (int)(g->offsets.n_bytes / sizeof(int)),
        .logprobs = (const struct token_logprob *)(const void *)g->logprobs.bytes,
        .offsets = (const int *)(const void *)g->offsets.bytes,
        .finish_reason = g->finish_reason,
    };
}

void generation_clear(struct generation *g) {
    buffer_clear(&g->text);
    buffer_clear(&g->logprobs);
    buffer_clear(&g->offsets);
}

void generation_free(struct generation *g) {
    buffer_free(&g->text);
    buffer_free(&g->logprobs);
    buffer_free(&g->offsets);
    memset(g, 0, sizeof(*g));
}
