// Text to ids, ids to text, messages to text.
#include "level2-operator/api/text_tools.h"

#include <jansson.h>
#include <stdio.h>

#include "level2-operator/api/api_request.h"
#include "level2-operator/text/json_input.h"
#include "level2-operator/text/json_output.h"

static enum status no_memory(struct error *err) {
    return error_set(err, ERR_MEMORY, "no memory for the reply");
}

// One id per byte of a hostile text: too many for a tree of values.
static void put_ids(struct buffer *out, const token_id *ids, int n_ids) {
    char number[16];

    buffer_put_string(out, "{\"tokens\":[");
    for (int i = 0; i < n_ids; i++) {
        snprintf(number, sizeof(number), i ? ",%d" : "%d", ids[i]);
        buffer_put_string(out, number);
    }
    buffer_put_string(out, "]}");
}

static enum status tokenize(struct buffer *out, const struct json_input *in,
                            const struct model *model, struct arena *arena,
                            struct error *err) {
    const char *text = NULL;
    size_t n_text = 0;
    bool add_special = false, parse_special = true;
    int n_ids;

    enum status st = json_input_string(&text, &n_text, in, "prompt", err);
    if (!st) st = json_input_string(&text, &n_text, in, "content", err);
    if (!st) st = json_input_bool(&add_special, in, "add_special", err);
    if (!st) st = json_input_bool(&parse_special, in, "parse_special", err);
    if (!st && !text)
        st = json_input_refuse(in, "content", ERR_INPUT, "must be given", err);
    if (st) return st;

    const struct markup everywhere = {0, n_text};
    token_id *ids =
        ARENA_NEW(arena, token_id, tokenizer_max_ids(&model->tokenizer, n_text));
    if (!ids) return no_memory(err);
    st = tokenizer_encode(&model->tokenizer, text, n_text, &everywhere,
                          parse_special ? 1 : 0, add_special ? ADD_BOS | ADD_EOS : 0, ids,
                          &n_ids, arena, err);
    if (!st) put_ids(out, ids, n_ids);
    return st;
}

// Ids may be cut inside a character, so the text is repaired as a whole.
static enum status detokenize(struct buffer *out, const struct json_input *in,
                              const struct model *model, struct arena *arena,
                              struct error *err) {
    const struct tokenizer *t = &model->tokenizer;
    const token_id *ids;
    int n_ids;
    struct buffer text;
    enum status st = api_ids_read(&ids, &n_ids, json_input_find(in, "tokens"), in, "tokens",
                                  t->n_vocab, arena, err);
    if (st) return st;

    buffer_init(&text, LIMIT_TOOL_BYTES); // no more than /tokenize would take back
    struct decoding decoding = decoding_start(t, true);
    for (int i = 0; i < n_ids; i++) {
        struct token_piece piece = decoding_next(&decoding, ids[i]);
        buffer_put(&text, piece.bytes, piece.n_bytes);
    }
    if (text.failed) {
        st = json_input_refuse(in, "tokens", ERR_LIMIT, "stand for too long a text", err);
    } else {
        json_output(
            out, json_pack("{s:o}", "content", json_output_text(text.bytes, text.n_bytes)));
    }
    buffer_free(&text);
    return st;
}

static enum status apply_template(struct buffer *out, const struct json_input *in,
                                  size_t n_body, const struct model *model,
                                  struct arena *arena, struct error *err) {
    struct api_request request = {0};
    struct chat_text chat;

    enum status st = api_chat_read(&request, in, arena, err);
    if (!st) {
        struct chat_request chat_request = api_chat_request(&request, n_body);
        st = chat_render(&chat, &model->chat, &chat_request, arena, err);
    }
    if (!st) {
        json_output(out,
                    json_pack("{s:o}", "prompt", json_stringn(chat.text, chat.n_bytes)));
    }
    return st;
}

bool text_tool_serves(enum route route) {
    return route == ROUTE_TOKENIZE || route == ROUTE_DETOKENIZE ||
           route == ROUTE_APPLY_TEMPLATE;
}

enum status text_tool_reply(struct buffer *out, const struct job *job,
                            const struct model *model, struct error *err) {
    json_t *body;
    struct arena arena;

    enum status st = json_input_parse(&body, job->body, job->n_body, err);
    if (st) return st;
    arena_init(&arena, LIMIT_READ_BYTES + LIMIT_READ_PER_BYTE * job->n_body +
                           tokenizer_work_bytes(&model->tokenizer, job->n_body));

    const struct json_input in = {body, ""};
    switch (job->route) {
    case ROUTE_TOKENIZE:
        st = tokenize(out, &in, model, &arena, err);
        break;
    case ROUTE_DETOKENIZE:
        st = detokenize(out, &in, model, &arena, err);
        break;
    case ROUTE_APPLY_TEMPLATE:
        st = apply_template(out, &in, job->n_body, model, &arena, err);
        break;
    default:
        MUST(!"a route of text_tool_serves");
    }
    if (!st && out->failed) st = no_memory(err);
    arena_free(&arena);
    json_decref(body);
    return st;
}
