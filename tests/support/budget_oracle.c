// Budgets drawn, and worked out in the plainest way: token by token, cut by cut.
#include "tests/support/budget_oracle.h"

void drawn_budget(struct drawn_budget *x, struct draw *d, int n_turns) {
    int64_t n_tokens = 0;
    for (int t = 0; t < n_turns; t++) {
        x->turns[t] = (struct budget_turn){draw_int(d, 1, 40), draw_int(d, 0, 5) == 0};
        n_tokens += x->turns[t].n_tokens;
    }
    if (draw_int(d, 0, 2) > 0) x->turns[0].is_pinned = true;
    x->c =
        (struct budget_conversation){x->turns, n_turns, draw_int(d, 0, (int)n_tokens + 20)};
    x->l = (struct budget_limits){
        .n_answer = draw_int(d, 0, 30),
        .price = {draw_int(d, 1, 50), draw_int(d, 0, 10), PRICE_UNKNOWN,
                  draw_int(d, 0, 99)},
        .low_percent = draw_int(d, 1, 100),
        .n_summary = draw_int(d, 0, 1) * draw_int(d, 1, 30),
    };
    x->l.n_context = x->l.n_answer + n_tokens * draw_int(d, 10, 110) / 100;
    x->l.max_price = x->l.n_answer * x->l.price.output +
                     x->l.price.input * n_tokens * draw_int(d, 5, 130) / 100;
}

// Writes both prompts down, token by token as the number of its turn, and compares them.
struct budget_request measured_slowly(const struct budget_conversation *c,
                                      const struct budget_limits *l, int keep_from,
                                      int64_t n_summary) {
    enum { SUMMARY = -1, MAX_TOKENS = 4096 };
    static int whole[MAX_TOKENS], rest[MAX_TOKENS];
    int n_whole = 0, n_rest = 0, n_gone = 0;
    for (int t = 0; t < c->n_turns; t++) {
        bool stays = t >= keep_from || c->turns[t].is_pinned;
        if (!stays && n_gone++ == 0)
            for (int64_t i = 0; i < n_summary; i++) rest[n_rest++] = SUMMARY;
        for (int64_t i = 0; i < c->turns[t].n_tokens; i++) {
            whole[n_whole++] = t;
            if (stays) rest[n_rest++] = t;
        }
    }
    int n_same = 0;
    while (n_same < n_rest && n_same < c->n_cached && rest[n_same] == whole[n_same])
        n_same++;
    return (struct budget_request){n_rest, n_same,
                                   n_same * l->price.cached_input +
                                       (n_rest - n_same) * l->price.input +
                                       l->n_answer * l->price.output};
}

// percent: of what the answer leaves of both limits.
static bool fits(const struct budget_request *r, const struct budget_limits *l,
                 int percent) {
    int64_t answer = l->n_answer * l->price.output;
    return r->n_tokens <= (l->n_context - l->n_answer) * percent / 100 &&
           r->price <= l->max_price &&
           r->price - answer <= (l->max_price - answer) * percent / 100;
}

static int first_gone(const struct budget_conversation *c, int keep_from) {
    for (int t = 0; t < keep_from; t++)
        if (!c->turns[t].is_pinned) return t;
    return -1;
}

// Every kind of plan, in the header's order, with every cut.
enum status decided_slowly(struct budget_plan *plan, const struct budget_conversation *c,
                           const struct budget_limits *l) {
    const int percents[] = {100, l->low_percent, 100, 100};
    const int64_t summaries[] = {0, l->n_summary, l->n_summary, 0};
    struct budget_request r;
    for (int kind = 0; kind < 4; kind++) {
        for (int k = kind == 0 ? 0 : 1; k < (kind == 0 ? 1 : c->n_turns); k++) {
            int first = first_gone(c, k);
            r = measured_slowly(c, l, k, summaries[kind]);
            if ((kind > 0 && first < 0) || !fits(&r, l, percents[kind])) continue;
            *plan = (struct budget_plan){kind == 0 ? 0 : first, k, summaries[kind], r};
            return OK;
        }
    }
    r = measured_slowly(c, l, c->n_turns - 1, 0);
    return r.n_tokens > l->n_context - l->n_answer ? ERR_CONTEXT : ERR_LIMIT;
}
