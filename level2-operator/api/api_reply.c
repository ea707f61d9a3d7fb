// Whole answers and the events of a stream.
#include "level2-operator/api/api_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "level2-operator/api/api_error.h"
#include "level2-operator/text/json_output.h"

void api_reply_init(struct api_reply *r, enum route route, exchange_id exchange,
                    int64_t created_s, const char *model,
                    const struct tokenizer *tokenizer) {
    *r = (struct api_reply){
        .route = route, .created_s = created_s, .model = model, .tokenizer = tokenizer};
    // The time keeps ids apart over restarts.
    snprintf(r->id, sizeof(r->id), "%s-%" PRIx64 "%08" PRIx64,
             route == ROUTE_CHAT ? "chatcmpl" : "cmpl", (uint64_t)created_s, exchange);
}

static enum status finish_write(const struct buffer *out, struct error *err) {
    return out->failed ? error_set(err, ERR_MEMORY, "no memory for the reply") : OK;
}

// Zeros where nothing is counted: clients add these numbers up.
static json_t *usage_json(const struct api_usage *u) {
    return json_pack("{s:i, s:i, s:i, s:{s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i}}",
                     "prompt_tokens", u->n_prompt, "completion_tokens", u->n_completion,
                     "total_tokens", u->n_prompt + u->n_completion, "prompt_tokens_details",
                     "cached_tokens", u->n_cached, "cache_write_tokens", 0, "audio_tokens",
                     0, "completion_tokens_details", "reasoning_tokens", 0,
                     "accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0,
                     "audio_tokens", 0);
}

// The frame of every object, open behind `"choices":[`.
static void open_frame(struct buffer *out, const struct api_reply *r, const char *object) {
    json_output_open(out,
                     json_pack("{s:s, s:s, s:I, s:s}", "id", r->id, "object", object,
                               "created", (json_int_t)r->created_s, "model", r->model));
    buffer_put_string(out, ",\"choices\":[");
}

// ---- whole --------------------------------------------------------------------------------------

static json_t *choice_json(const struct api_reply *r, const struct api_piece *piece) {
    json_t *text = json_output_text(piece->text, piece->n_text);
    if (r->route == ROUTE_CHAT) {
        return json_pack("{s:i, s:{s:s, s:o, s:n}, s:s?}", "index", piece->index, "message",
                         "role", "assistant", "content", text, "refusal", "finish_reason",
                         piece->finish_reason);
    }
    return json_pack("{s:i, s:o, s:s?}", "index", piece->index, "text", text,
                     "finish_reason", piece->finish_reason);
}

// Takes the reference of choice, an object without logprobs.
static void put_choice(struct buffer *out, const struct api_reply *r, json_t *choice,
                       const struct api_piece *piece) {
    json_output_open(out, choice);
    buffer_put_string(out, ",\"logprobs\":");
    api_logprobs_put(out, r, piece);
    buffer_put_string(out, "}");
}

enum status api_reply_body(struct buffer *out, const struct api_reply *r,
                           const struct api_piece *pieces, int n_pieces,
                           const struct api_usage *usage, struct error *err) {
    open_frame(out, r, r->route == ROUTE_CHAT ? "chat.completion" : "text_completion");
    for (int i = 0; i < n_pieces; i++) {
        if (i > 0) buffer_put_string(out, ",");
        put_choice(out, r, choice_json(r, &pieces[i]), &pieces[i]);
    }
    buffer_put_string(out, "],\"usage\":");
    json_output(out, usage_json(usage));
    buffer_put_string(out, "}");
    return finish_write(out, err);
}

// ---- stream -------------------------------------------------------------------------------------
//
//   data: {frame, "choices":[ choice ] , "usage": null}      usage only where it is wanted

static void open_chunk(struct buffer *out, const struct api_reply *r) {
    buffer_put_string(out, "data: ");
    open_frame(out, r,
               r->route == ROUTE_CHAT ? "chat.completion.chunk" : "text_completion");
}

static enum status close_chunk(struct buffer *out, const struct api_reply *r,
                               struct error *err) {
    buffer_put_string(out, r->include_usage ? "],\"usage\":null}\n\n" : "]}\n\n");
    return finish_write(out, err);
}

enum status api_reply_begin(struct buffer *out, const struct api_reply *r, int index,
                            struct error *err) {
    if (r->route != ROUTE_CHAT) return OK;
    open_chunk(out, r);
    json_output(out,
                json_pack("{s:i, s:{s:s, s:s}, s:n, s:n}", "index", index, "delta", "role",
                          "assistant", "content", "", "logprobs", "finish_reason"));
    return close_chunk(out, r, err);
}

enum status api_reply_text(struct buffer *out, const struct api_reply *r,
                           const struct api_piece *piece, struct error *err) {
    bool has_tokens = piece->has_logprobs && piece->n_tokens > 0;
    if (piece->n_text == 0 && !has_tokens) return OK;

    json_t *text = json_output_text(piece->text, piece->n_text);
    open_chunk(out, r);
    if (r->route == ROUTE_CHAT) {
        put_choice(out, r,
                   json_pack("{s:i, s:{s:o}, s:n}", "index", piece->index, "delta",
                             "content", text, "finish_reason"),
                   piece);
    } else {
        put_choice(out, r,
                   json_pack("{s:i, s:o, s:n}", "index", piece->index, "text", text,
                             "finish_reason"),
                   piece);
    }
    return close_chunk(out, r, err);
}

enum status api_reply_finish(struct buffer *out, const struct api_reply *r,
                             const struct api_piece *piece, struct error *err) {
    open_chunk(out, r);
    if (r->route == ROUTE_CHAT) {
        json_output(out, json_pack("{s:i, s:{}, s:n, s:s}", "index", piece->index, "delta",
                                   "logprobs", "finish_reason", piece->finish_reason));
    } else {
        json_output(out, json_pack("{s:i, s:s, s:n, s:s}", "index", piece->index, "text",
                                   "", "logprobs", "finish_reason", piece->finish_reason));
    }
    return close_chunk(out, r, err);
}

enum status api_reply_end(struct buffer *out, const struct api_reply *r,
                          const struct api_usage *usage, struct error *err) {
    if (r->include_usage) {
        open_chunk(out, r);
        buffer_put_string(out, "],\"usage\":");
        json_output(out, usage_json(usage));
        buffer_put_string(out, "}\n\n");
    }
    buffer_put_string(out, "data: [DONE]\n\n");
    return finish_write(out, err);
}

enum status api_reply_error(struct buffer *out, const struct error *why,
                            struct error *err) {
    struct api_error how = api_error_of(why);
    char *body = api_error_body(&how, why->text, why->param, NULL);

    if (!body) return error_set(err, ERR_MEMORY, "no memory for the reply");
    buffer_put_string(out, "data: ");
    buffer_put_string(out, body);
    buffer_put_string(out, "\n\n");
    free(body);
    return finish_write(out, err);
}
