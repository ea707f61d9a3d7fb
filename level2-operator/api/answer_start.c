// From a request's bytes to its choices inside the engine.
#include "level2-operator/api/answer.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

// What a body justifies. Read (LIMIT_READ_PER_BYTE): a message of 25 bytes of JSON takes a struct of
// 24, an id of 2 bytes takes 4, each part at least a cache line; text and markup take less. Encoded:
// what the tokenizer says. Kept: what choices need, whatever the size of the body.
enum {
    KEPT_BYTES = 1 << 20,
    CHOICE_BYTES = 4 << 10,
    LOGGED_BYTES = 1500, // of a prompt, if any: it must fit into a line
    CHOICE_PIECES = 8    // the stop filter may hold some pieces
};

static size_t kept_limit(size_t max_piece) {
    return KEPT_BYTES +
           LIMIT_CHOICES * (CHOICE_BYTES + CHOICE_PIECES * (max_piece + LIMIT_STOP_BYTES));
}

// ---- prompts ------------------------------------------------------------------------------------

static enum status refuse_length(const struct answer *a, const char *at_least, int n_prompt,
                                 struct error *err) {
    const char *param = a->reply.route == ROUTE_CHAT ? "messages" : "prompt";
    return error_set_param(err, ERR_CONTEXT, param,
                           "the prompt has %s%d tokens, but the context holds %d, answer "
                           "included; shorten the prompt",
                           at_least, n_prompt, engine_context(a->engine));
}

// Only for who has asked for it: --log-prompts.
static void log_prompt(const struct answer *a, const char *text, size_t n_text) {
    char cut[LOGGED_BYTES + 1], quoted[LOGGED_BYTES + 3];
    if (!a->prompt_log) return;
    size_t n = n_text < LOGGED_BYTES ? n_text : LOGGED_BYTES;
    memcpy(cut, text, n);
    cut[n] = '\0';
    log_line(a->prompt_log, LOG_INFO, "prompt", "exchange=%" PRIu64 " n_bytes=%zu text=%s",
             a->exchange, n_text, log_quote(quoted, sizeof(quoted), cut));
}

// Encoding takes time and memory by the byte. A text that cannot fit, even if all its tokens were
// the longest of the vocabulary, is refused before.
static enum status encode(struct prompt_ids *p, const struct answer *a, const char *text,
                          size_t n_text, const struct markup *markup, int n_markup,
                          struct arena *scratch, struct error *err) {
    log_prompt(a, text, n_text);
    size_t n_least = n_text / a->max_piece;
    if (n_least > (size_t)engine_context(a->engine)) {
        return refuse_length(a, "at least ", (int)n_least, err);
    }
    token_id *ids =
        ARENA_NEW(scratch, token_id, tokenizer_max_ids(&a->model->tokenizer, n_text));
    if (!ids)
        return error_set(err, ERR_MEMORY, "no memory for a prompt of %zu bytes", n_text);
    p->ids = ids;
    return tokenizer_encode(&a->model->tokenizer, text, n_text, markup, n_markup, ADD_BOS,
                            ids, &p->n_ids, scratch, err);
}

static enum status encode_chat(struct prompt_ids *p, const struct answer *a,
                               const struct api_request *r, size_t n_body,
                               struct arena *scratch, struct error *err) {
    struct chat_request chat_request = api_chat_request(r, n_body);
    struct chat_text chat;

    enum status st = chat_render(&chat, &a->model->chat, &chat_request, scratch, err);
    if (st) return st;
    return encode(p, a, chat.text, chat.n_bytes, chat.markup, chat.n_markup, scratch, err);
}

// Who sends a bare prompt writes its markup himself: special tokens count everywhere in it.
static enum status encode_prompt(struct prompt_ids *p, const struct answer *a,
                                 const struct api_prompt *prompt, struct arena *scratch,
                                 struct error *err) {
    const struct markup everywhere = {0, prompt->n_text};

    if (!prompt->text) {
        *p = (struct prompt_ids){prompt->ids, prompt->n_ids};
        return OK;
    }
    return encode(p, a, prompt->text, prompt->n_text, &everywhere, 1, scratch, err);
}

static enum status check_length(const struct answer *a, const struct prompt_ids *p,
                                struct error *err) {
    if (p->n_ids == 0) {
        return error_set_param(
            err, ERR_INPUT, "prompt",
            "the prompt is empty, and this model begins no text by itself");
    }
    if (p->n_ids >= engine_context(a->engine)) return refuse_length(a, "", p->n_ids, err);
    return OK;
}

// ids of prompt i, kept until its choices are submitted.
static enum status make_prompt(struct answer *a, const struct api_request *r, int i,
                               size_t n_body, struct arena *scratch, struct error *err) {
    struct prompt_ids p = {NULL, 0};
    enum status st = r->route == ROUTE_CHAT
                         ? encode_chat(&p, a, r, n_body, scratch, err)
                         : encode_prompt(&p, a, &r->prompts[i], scratch, err);
    if (!st) st = check_length(a, &p, err);
    if (st) return st;

    token_id *kept = ARENA_NEW(&a->prompt_arena, token_id, p.n_ids);
    if (!kept)
        return error_set(err, ERR_MEMORY, "no memory for a prompt of %d tokens", p.n_ids);
    memcpy(kept, p.ids, (size_t)p.n_ids * sizeof(*kept));
    a->prompts[i] = (struct prompt_ids){kept, p.n_ids};
    return OK;
}

static enum status make_prompts(struct answer *a, const struct api_request *r,
                                size_t n_body, struct error *err) {
    const size_t n_read = LIMIT_READ_BYTES + LIMIT_READ_PER_BYTE * n_body;
    struct arena scratch;
    enum status st = OK;

    arena_init(&a->prompt_arena, n_read);
    a->prompts = ARENA_NEW(&a->prompt_arena, struct prompt_ids, a->n_prompts);
    if (!a->prompts) return error_set(err, ERR_MEMORY, "no memory for the prompts");
    for (int i = 0; i < a->n_prompts && !st; i++) {
        arena_init(&scratch, n_read + tokenizer_work_bytes(&a->model->tokenizer, n_body));
        st = make_prompt(a, r, i, n_body, &scratch, err);
        arena_free(&scratch);
    }
    return st;
}

// ---- submitting ---------------------------------------------------------------------------------

// What a choice asks of the engine.
static struct engine_params choice_params(const struct answer *a, int index) {
    const struct prompt_ids *p = &a->prompts[index / a->n];
    struct engine_params params = a->params;
    int room = engine_context(a->engine) - p->n_ids;

    if (params.max_tokens == 0 || params.max_tokens > room) params.max_tokens = room;
    if (params.min_tokens > params.max_tokens) params.min_tokens = params.max_tokens;
    params.prompt = p->ids;
    params.n_prompt = p->n_ids;
    params.choice = (uint32_t)(index % a->n);
    return params;
}

static int count_inside(const struct answer *a) {
    int n = 0;
    for (int i = 0; i < a->n_submitted; i++) n += !a->choices[i].is_over;
    return n;
}

// As many choices as may be inside. ERR_BUSY: not one of all is.
static enum status submit(struct answer *a, struct error *err) {
    while (a->n_submitted < a->n_choices && count_inside(a) < LIMIT_CHOICES_INSIDE) {
        struct engine_params params = choice_params(a, a->n_submitted);
        request_id *id = &a->choices[a->n_submitted].id;
        int64_t now_ns = clock_now(a->clock); // the engine may begin at once
        enum status st = engine_submit(a->engine, &params, id, err);
        if (st == ERR_BUSY && a->n_submitted > 0) return OK;
        if (st) return st;
        a->choices[a->n_submitted].times.submitted_ns = now_ns;
        a->n_submitted++;
    }
    if (a->n_submitted == a->n_choices) arena_free(&a->prompt_arena); // and a->prompts
    return OK;
}

void answer_submit(struct answer *a) {
    struct error err;
    if (a->n_submitted == a->n_choices || submit(a, &err) == OK) return;
    struct generation *g = &a->choices[a->n_submitted];
    g->is_over = true;
    g->err = err;
    a->has_news = true;
}

// ---- start --------------------------------------------------------------------------------------

static enum status check_model(const struct api_request *r, const char *served,
                               struct error *err) {
    if (strcmp(r->model, served) == 0 || strcmp(r->model, "default") == 0) return OK;
    return error_set_param(err, ERR_UNSUPPORTED, "model",
                           "the model %.80s is not served here; %.80s is", r->model,
                           served);
}

// Without a seed every request draws its own. It fits into a JSON number everywhere, so that the
// one on the log can be sent back.
static uint64_t choose_seed(exchange_id exchange, struct clock *clock) {
    enum { SEED_BITS = 31 };
    uint64_t now = (uint64_t)clock_now(clock) ^ ((uint64_t)clock_unix_s() << 32);
    return XXH64(&exchange, sizeof(exchange), now) >> (64 - SEED_BITS);
}

static uint64_t cache_scope(const struct job *job, const char *salt) {
    return salt ? XXH64(salt, strlen(salt), job->cache_scope) : job->cache_scope;
}

// n items of size bytes for as long as the answer runs. NULL stays NULL.
static bool keep(struct answer *a, const void **items, int n, size_t size) {
    if (!*items) return true;
    *items = arena_copy(&a->arena, *items, (size_t)n * size);
    return *items != NULL;
}

// What choices need of the request: the stop filters borrow the strings, and who is submitted late
// asks for the same as the first.
static enum status keep_wishes(struct answer *a, struct api_request *r, struct error *err) {
    const void *bias = r->params.sampling.bias, *stop_ids = r->params.stop_ids;
    bool kept = keep(a, &bias, r->params.sampling.n_bias, sizeof(struct logit_bias)) &&
                keep(a, &stop_ids, r->params.n_stop_ids, sizeof(token_id));

    for (int i = 0; i < r->n_stops && kept; i++) {
        const void *bytes = r->stops[i].bytes;
        kept = keep(a, &bytes, (int)r->stops[i].n_bytes, 1);
        r->stops[i].bytes = bytes;
    }
    if (!kept) return error_set(err, ERR_MEMORY, "no memory for the request");
    a->params = r->params;
    a->params.sampling.bias = bias;
    a->params.stop_ids = stop_ids;
    return OK;
}

static enum status make_choices(struct answer *a, const struct api_request *r,
                                struct error *err) {
    int n_choices = a->n_prompts * a->n;
    enum status st = OK;

    a->choices = ARENA_NEW(&a->arena, struct generation, n_choices);
    a->has_begun = ARENA_NEW(&a->arena, bool, n_choices);
    a->has_ended = ARENA_NEW(&a->arena, bool, n_choices);
    if (!a->choices || !a->has_begun || !a->has_ended)
        return error_set(err, ERR_MEMORY, "no memory for the answer");
    a->n_choices = n_choices;
    for (int i = 0; i < a->n_choices && !st; i++) {
        struct engine_params params = choice_params(a, i);
        st = generation_init(&a->choices[i], i, r, &a->model->tokenizer, a->max_piece,
                             params.max_tokens, &a->arena, err);
        a->choices[i].n_prompt = params.n_prompt;
    }
    return st;
}

// Everything between the parsed request and its choices inside the engine.
static enum status begin(struct answer *a, struct api_request *r, const struct job *job,
                         const struct text_worker_options *options,
                         const struct served *served, struct error *err) {
    enum status st = check_model(r, served->id, err);
    if (st) return st;
    if (!r->has_seed) r->params.sampling.seed = choose_seed(a->exchange, options->clock);
    r->params.cache_scope = cache_scope(job, r->cache_salt);
    a->n = r->n;
    a->n_prompts = r->route == ROUTE_CHAT ? 1 : r->n_prompts;
    a->is_stream = r->stream;
    api_reply_init(&a->reply, job->route, job->exchange, clock_unix_s(), served->id,
                   &served->model->tokenizer);
    a->reply.include_usage = r->include_usage;

    st = keep_wishes(a, r, err);
    if (!st) st = make_prompts(a, r, job->n_body, err);
    if (!st) st = make_choices(a, r, err);
    if (!st) st = submit(a, err);
    if (st) return st;
    log_line(options->log, LOG_INFO, "request submitted",
             "exchange=%" PRIu64 " n_prompt=%d n_choices=%d stream=%d seed=%" PRId64,
             a->exchange, answer_usage(a).n_prompt, a->n_choices, a->is_stream,
             (int64_t)r->params.sampling.seed);
    return OK;
}

static struct answer *answer_new(const struct job *job,
                                 const struct text_worker_options *options,
                                 const struct served *served, size_t max_piece) {
    struct arena arena;
    arena_init(&arena, kept_limit(max_piece));
    struct answer *a = ARENA_NEW(&arena, struct answer, 1);
    if (!a) return NULL;
    a->arena = arena; // from here on it lies in itself
    a->exchange = job->exchange;
    a->key_scope = job->cache_scope;
    a->engine = served->engine;
    a->model = served->model;
    a->clock = options->clock;
    a->metrics = options->metrics;
    a->prompt_log = options->log_prompts ? options->log : NULL;
    a->max_piece = max_piece;
    return a;
}

enum status answer_start(struct answer **answer, const struct job *job,
                         const struct text_worker_options *options,
                         const struct served *served, size_t max_piece, struct error *err) {
    struct api_request request;
    struct arena reading; // the request's arrays: gone once it is submitted

    *answer = NULL;
    struct answer *a = answer_new(job, options, served, max_piece);
    if (!a) return error_set(err, ERR_MEMORY, "no memory for the request");

    const struct api_model model = {a->model->tokenizer.n_vocab, &a->model->sampling};
    arena_init(&reading, LIMIT_READ_BYTES + LIMIT_READ_PER_BYTE * job->n_body);
    enum status st = api_request_parse(&request, job->route, job->body, job->n_body, &model,
                                       options->log, &reading, err);
    if (!st) st = begin(a, &request, job, options, served, err);
    api_request_free(&request);
    arena_free(&reading);
    if (st) {
        answer_free(a);
        return st;
    }
    *answer = a;
    return OK;
}
