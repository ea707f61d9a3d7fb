// From the engine's events to the bytes of a reply.
#include "level2-operator/api/answer.h"

#include <string.h>

// ---- events -------------------------------------------------------------------------------------

static void count_end(struct answer *a, const struct generation *g) {
    enum metrics_end how = METRICS_ERROR;
    if (g->finish_reason)
        how = strcmp(g->finish_reason, "length") == 0 ? METRICS_LENGTH : METRICS_STOP;
    metrics_end(a->metrics, &g->times, how, g->n_prompt, g->n_completion);
}

static void take_event(struct answer *a, struct generation *g,
                       const struct engine_event *event) {
    bool cancel;
    a->has_news = true;
    if (g->is_over) return; // of a choice that a stop string has ended
    metrics_event(a->metrics, &g->times, event);
    generation_event(g, event, &cancel);
    if (cancel) engine_cancel(a->engine, event->id);
    if (g->is_over) count_end(a, g);
}

bool answer_event(struct answer *a, const struct engine_event *event) {
    for (int i = 0; i < a->n_choices; i++) {
        if (a->choices[i].id != event->id) continue;
        take_event(a, &a->choices[i], event);
        return true;
    }
    return false;
}

static struct api_usage count_tokens(const struct answer *a, bool only_begun) {
    struct api_usage usage = {0, 0, 0};
    for (int i = 0; i < a->n_choices; i++) {
        const struct generation *g = &a->choices[i];
        usage.n_completion += g->n_completion;
        if (i % a->n != 0 || (only_begun && !g->times.started_ns)) continue;
        usage.n_prompt += g->n_prompt;
        usage.n_cached += g->n_cached;
    }
    return usage;
}

struct api_usage answer_usage(const struct answer *a) {
    return count_tokens(a, false);
}

struct api_usage answer_used(const struct answer *a) {
    return count_tokens(a, true);
}

// ---- replies ------------------------------------------------------------------------------------

static enum status find_failure(const struct answer *a, struct error *err) {
    for (int i = 0; i < a->n_choices; i++) {
        const struct generation *g = &a->choices[i];
        if (!g->is_over || g->finish_reason) continue;
        if (err) *err = g->err;
        return g->err.code;
    }
    return OK;
}

static bool is_complete(const struct answer *a) {
    for (int i = 0; i < a->n_choices; i++) {
        if (!a->choices[i].is_over) return false;
    }
    return true;
}

static enum status write_choice(struct answer *a, int i, struct buffer *out,
                                struct error *err) {
    struct generation *g = &a->choices[i];
    struct api_piece piece = generation_piece(g);
    enum status st = OK;

    bool has_text = piece.n_text > 0 || piece.n_tokens > 0;
    if (a->has_ended[i] || (!has_text && !g->is_over)) return OK;
    if (!a->has_begun[i]) st = api_reply_begin(out, &a->reply, g->index, err);
    if (!st) st = api_reply_text(out, &a->reply, &piece, err);
    if (!st && g->is_over) st = api_reply_finish(out, &a->reply, &piece, err);
    a->has_begun[i] = true;
    a->has_ended[i] = g->is_over;
    generation_clear(g);
    return st;
}

static enum status write_stream(struct answer *a, struct buffer *out, struct error *err) {
    struct api_usage usage = answer_usage(a);
    enum status st = OK;

    for (int i = 0; i < a->n_choices && !st; i++) st = write_choice(a, i, out, err);
    if (st || !is_complete(a)) return st;
    a->is_over = true;
    return api_reply_end(out, &a->reply, &usage, err);
}

static enum status write_body(struct answer *a, struct buffer *out, struct error *err) {
    struct api_usage usage = answer_usage(a);

    if (!is_complete(a)) return OK;
    struct api_piece *pieces = ARENA_NEW(&a->arena, struct api_piece, a->n_choices);
    if (!pieces) return error_set(err, ERR_MEMORY, "no memory for the reply");
    for (int i = 0; i < a->n_choices; i++) pieces[i] = generation_piece(&a->choices[i]);
    a->is_over = true;
    return api_reply_body(out, &a->reply, pieces, a->n_choices, &usage, err);
}

enum status answer_write(struct answer *a, struct buffer *out, struct error *err) {
    a->has_news = false;
    enum status st = find_failure(a, err);
    if (!st) st = a->is_stream ? write_stream(a, out, err) : write_body(a, out, err);
    if (st) a->is_over = true;
    return st;
}

static void cancel_all(struct answer *a) {
    for (int i = 0; i < a->n_choices; i++) {
        struct generation *g = &a->choices[i];
        if (!g->id || g->is_over) continue;
        engine_cancel(a->engine, g->id);
        metrics_end(a->metrics, &g->times, METRICS_ABORT, 0, 0);
    }
}

void answer_free(struct answer *a) {
    if (!a) return;
    cancel_all(a);
    for (int i = 0; i < a->n_choices; i++) generation_free(&a->choices[i]);
    arena_free(&a->prompt_arena);
    struct arena arena = a->arena; // a itself lies in it
    arena_free(&arena);
}
