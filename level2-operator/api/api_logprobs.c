// Log probabilities in the two shapes of the OpenAI API.
//
//   chat:         {"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}], "refusal"}
//   completions:  {"tokens": [], "token_logprobs": [], "top_logprobs": [{}], "text_offset": []}
//
// A token may be half a character: its text is repaired, its bytes are exact.
#include "level2-operator/api/api_reply.h"

#include <math.h>

#include "level2-operator/text/json_output.h"

// JSON has no infinity; other servers write this number for a probability of zero.
static const float lowest_logprob = -9999.0f;

static json_t *logprob_json(float logprob) {
    return json_real((double)(isfinite(logprob) ? logprob : lowest_logprob));
}

static json_t *text_json(const struct api_reply *r, token_id id) {
    struct token_piece piece = tokenizer_piece(r->tokenizer, id, true);
    return json_output_text(piece.bytes, piece.n_bytes);
}

static json_t *bytes_json(const struct api_reply *r, token_id id) {
    struct token_piece piece = tokenizer_piece(r->tokenizer, id, true);
    json_t *bytes = json_array();
    for (uint32_t i = 0; bytes && i < piece.n_bytes; i++) {
        if (json_array_append_new(bytes, json_integer((unsigned char)piece.bytes[i])) == 0)
            continue;
        json_decref(bytes);
        bytes = NULL;
    }
    return bytes;
}

// The drawn token of place i and, behind it, its alternatives.
static const struct token_logprob *row_of(const struct api_piece *piece, int i) {
    return piece->logprobs + (size_t)i * (size_t)(1 + piece->n_top);
}

// {"token", "logprob", "bytes"}
static json_t *token_json(const struct api_reply *r, const struct token_logprob *t) {
    return json_pack("{s:o, s:o, s:o}", "token", text_json(r, t->token), "logprob",
                     logprob_json(t->logprob), "bytes", bytes_json(r, t->token));
}

static void put_chat(struct buffer *out, const struct api_reply *r,
                     const struct api_piece *piece) {
    buffer_put_string(out, "{\"content\":[");
    for (int i = 0; i < piece->n_tokens; i++) {
        const struct token_logprob *row = row_of(piece, i);
        if (i > 0) buffer_put_string(out, ",");
        json_output_open(out, token_json(r, &row[0]));
        buffer_put_string(out, ",\"top_logprobs\":[");
        for (int k = 1; k <= piece->n_top && row[k].token >= 0; k++) {
            if (k > 1) buffer_put_string(out, ",");
            json_output(out, token_json(r, &row[k]));
        }
        buffer_put_string(out, "]}");
    }
    buffer_put_string(out, "],\"refusal\":null}");
}

// {"text": logprob, ...}: the drawn token and its alternatives. Two tokens may look alike once
// repaired; the first, which is the likelier, keeps the name.
static json_t *named_json(const struct api_reply *r, const struct token_logprob *row,
                          int n_top) {
    json_t *named = json_object();
    bool failed = !named;

    for (int k = 0; k <= n_top && !failed && row[k].token >= 0; k++) {
        json_t *text = text_json(r, row[k].token);
        const char *key = json_string_value(text);
        size_t n_key = json_string_length(text);
        if (!text) {
            failed = true;
        } else if (!json_object_getn(named, key, n_key)) {
            failed =
                json_object_setn_new(named, key, n_key, logprob_json(row[k].logprob)) != 0;
        }
        json_decref(text);
    }
    if (!failed) return named;
    json_decref(named);
    return NULL;
}

static void put_legacy(struct buffer *out, const struct api_reply *r,
                       const struct api_piece *piece) {
    static const char *const names[] = {"{\"tokens\":[", "],\"token_logprobs\":[",
                                        "],\"top_logprobs\":[", "],\"text_offset\":["};

    for (int column = 0; column < 4; column++) {
        buffer_put_string(out, names[column]);
        for (int i = 0; i < piece->n_tokens; i++) {
            const struct token_logprob *row = row_of(piece, i);
            if (i > 0) buffer_put_string(out, ",");
            if (column == 0) json_output(out, text_json(r, row->token));
            if (column == 1) json_output(out, logprob_json(row->logprob));
            if (column == 2) json_output(out, named_json(r, row, piece->n_top));
            if (column == 3) json_output(out, json_integer(piece->offsets[i]));
        }
    }
    buffer_put_string(out, "]}");
}

void api_logprobs_put(struct buffer *out, const struct api_reply *r,
                      const struct api_piece *piece) {
    if (!piece->has_logprobs) {
        buffer_put_string(out, "null");
    } else if (r->route == ROUTE_CHAT) {
        put_chat(out, r, piece);
    } else {
        put_legacy(out, r, piece);
    }
}
