// Request bodies under a fuzzer: the first byte chooses the route, the rest is the body. Whatever is
// taken must be in range; whatever is refused must become a valid error object.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/api/api_error.h"
#include "level2-operator/api/api_request.h"

enum { N_VOCAB = 100, ARENA_BYTES = 16 << 20 };

static void check(bool claim) {
    if (!claim) abort();
}

static void check_ids(const token_id *ids, int n_ids) {
    for (int i = 0; i < n_ids; i++) check(ids[i] >= 0 && ids[i] < N_VOCAB);
}

static void check_prompts(const struct api_request *r) {
    check(r->n_prompts >= 1 && r->n_prompts <= LIMIT_CHOICES);
    for (int i = 0; i < r->n_prompts; i++) {
        check((r->prompts[i].text == NULL) == (r->prompts[i].n_ids > 0));
        check_ids(r->prompts[i].ids, r->prompts[i].n_ids);
    }
}

static void check_messages(const struct api_request *r) {
    check(r->n_messages >= 1 && r->n_messages <= LIMIT_MESSAGES);
    for (int i = 0; i < r->n_messages; i++) {
        const struct chat_message *m = &r->messages[i];
        check(m->role[0] != '\0' && m->content != NULL);
        check(memchr(m->content, '\0', m->n_content) == NULL);
    }
}

static void check_request(const struct api_request *r) {
    const struct engine_params *p = &r->params;
    check(r->model != NULL && r->n >= 1 && r->n <= LIMIT_CHOICES);
    check(p->max_tokens >= 0 && p->max_tokens <= LIMIT_CONTEXT && p->min_tokens >= 0);
    check(p->sampling.temperature >= 0 && p->sampling.temperature <= 2);
    check(p->sampling.repetition_penalty > 0 && p->sampling.top_k >= 0);
    check(p->sampling.n_bias <= LIMIT_LOGIT_BIAS && p->n_stop_ids <= LIMIT_STOP_IDS);
    check(p->n_top_logprobs >= -1 && p->n_top_logprobs <= LIMIT_TOP_LOGPROBS);
    check_ids(p->stop_ids, p->n_stop_ids);
    for (int i = 0; i < p->sampling.n_bias; i++) check_ids(&p->sampling.bias[i].token, 1);
    for (int i = 0; i < r->n_stops; i++) {
        check(r->stops[i].n_bytes >= 1 && r->stops[i].n_bytes <= LIMIT_STOP_BYTES);
    }
    if (r->route == ROUTE_CHAT) {
        check_messages(r);
    } else {
        check_prompts(r);
    }
}

static void check_refusal(const struct error *err) {
    struct api_error how = api_error_of(err);
    size_t n_body;

    check(err->text[0] != '\0' && how.http_status >= 400 && how.http_status < 500);
    char *body = api_error_body(&how, err->text, err->param, &n_body);
    json_t *object = json_loadb(body, n_body, 0, NULL);
    check(object != NULL);
    json_decref(object);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static const struct log silent;
    const struct api_model model = {.n_vocab = N_VOCAB};
    struct api_request r;
    struct arena arena;
    struct error err = {0};

    if (n_bytes < 1) return 0;
    enum route route = bytes[0] % 2 ? ROUTE_CHAT : ROUTE_COMPLETIONS;
    arena_init(&arena, ARENA_BYTES);
    if (api_request_parse(&r, route, (const char *)bytes + 1, n_bytes - 1, &model, &silent,
                          &arena, &err) == OK) {
        check_request(&r);
    } else {
        check_refusal(&err);
    }
    api_request_free(&r);
    arena_free(&arena);
    return 0;
}
