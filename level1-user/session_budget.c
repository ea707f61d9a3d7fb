// Counts, decides, asks for a summary if that is wanted, and shortens the conversation.
#include "level1-user/session_budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/client_models.h"
#include "level1-user/conversation_turns.h"
#include "level1-user/money.h"
#include "level1-user/session_body.h"

enum {
    LOW_PERCENT = 50,     // rare and deep cuts: docs/level1/budget.md has the numbers
    SUMMARY_TOKENS = 256, // of the model's summary, and of what stands around it
    AROUND_SUMMARY = 16,
    AROUND_QUESTION = 64,       // of the question for it, which follows
    CONTEXT_PATIENCE_MS = 3000, // an answer matters more than the length of the context
};

static const char SUMMARISE[] = "Sum up our conversation so far in at most 150 words: "
                                "names, numbers, what was decided, "
                                "what is open. Say nothing else.";
static const char SUMMARY[] = "In short, what we said before: ";

// A context that nobody knows is none; an answer never takes more than half of it. n_prompt: before a cut.
// After one the prompt may be below a step of the price; then the plan reckons a little too dear.
static struct budget_limits limits_of(const struct session *s, int64_t n_prompt) {
    const struct price_entry *price = s->account.price;
    struct budget_limits l = {
        .n_context = s->budget.n_context > 0 ? s->budget.n_context : INT64_MAX,
        .n_answer = s->request.max_tokens,
        .max_price = INT64_MAX,
        .low_percent = LOW_PERCENT,
        .n_summary = s->budget.wants_summary ? SUMMARY_TOKENS + AROUND_SUMMARY : 0,
    };
    if (l.n_answer > l.n_context / 2) l.n_answer = l.n_context / 2;
    if (price && s->budget.max_price > 0) {
        l.price = *price_entry_price(price, n_prompt);
        l.max_price = s->budget.max_price;
    }
    return l;
}

static struct budget_conversation conversation_of(const struct session *s,
                                                  const struct conversation_turns *t,
                                                  const struct budget_limits *l) {
    bool knows_price = l->price.cached_input >= 0;
    return (struct budget_conversation){t->turns, t->n_turns,
                                        knows_price ? s->budget.n_found : 0};
}

// ---- what goes ----------------------------------------------------------------------------------

// The request for it begins with the bytes that the cache knows already.
static enum status obtain_summary(struct text *summary, struct session *s, int n_messages,
                                  struct error *err) {
    struct reply reply;
    struct client_call call = {.reply = &reply, .cancelled = s->interrupted};
    struct chat_request request = s->request;
    char *body = NULL;

    reply_init(&reply);
    request.max_tokens = SUMMARY_TOKENS;
    enum status st = session_body(&body, s, &request, n_messages, SUMMARISE, err);
    if (st == OK) {
        call.body = body;
        st = attempts_chat(&s->attempts, &call, err);
    }
    if (st == OK) {
        struct summary figures = summary_of(&reply, call.start_ns);
        account_add(&s->account, &figures, &reply.usage);
    }
    if (st == OK && reply.n_bytes == 0)
        st = error_set(err, ERR_FORMAT, "the model gave no summary");
    const char *text = reply_text(&reply);
    if (st == OK && !(text_append(summary, SUMMARY, sizeof(SUMMARY) - 1) &&
                      text_append(summary, text, strlen(text))))
        st = error_set(err, ERR_MEMORY, "no memory for the summary");
    free(body);
    reply_free(&reply);
    return st;
}

// The request for a summary is a request, too: it stays below what one may cost.
static bool is_affordable(const struct budget_plan *plan,
                          const struct budget_conversation *c,
                          const struct budget_limits *l) {
    struct budget_limits of_summary = *l;
    int64_t n_prompt = 0;

    if (plan->n_summary == 0) return true;
    for (int i = 0; i < plan->keep_from; i++) n_prompt += c->turns[i].n_tokens;
    int64_t n_cached = c->n_cached < n_prompt ? c->n_cached : n_prompt;
    of_summary.n_answer = SUMMARY_TOKENS;
    return budget_price(&of_summary, n_cached, n_prompt + AROUND_QUESTION - n_cached) <=
           l->max_price;
}

static void tell(const struct budget_plan *plan, const struct conversation_turns *t,
                 const struct budget_limits *l) {
    int64_t n_tokens = 0, room = l->n_context - l->n_answer;
    char price[MONEY_TEXT_BYTES];

    for (int i = plan->first_gone; i < plan->keep_from; i++)
        n_tokens += t->turns[i].n_tokens;
    fprintf(stderr, "ask: old turns %s: %d, about %" PRId64 " tokens; ",
            plan->n_summary > 0 ? "summed up" : "dropped",
            plan->keep_from - plan->first_gone, n_tokens);
    if (t->n_tokens > room) {
        fprintf(stderr, "the context has room for %" PRId64 "\n", room);
    } else {
        money_text(price, l->max_price, MONEY_PLACES);
        fprintf(stderr, "a request may cost $%s\n", price);
    }
}

// Instructions and question alone are above the limit.
static enum status explain_price(const struct budget_conversation *c,
                                 const struct budget_limits *l, struct error *err) {
    struct budget_request least;
    char price[MONEY_TEXT_BYTES], limit[MONEY_TEXT_BYTES];

    budget_measure(&least, c, l, c->n_turns - 1, 0);
    money_text(price, least.price, MONEY_PLACES);
    money_text(limit, l->max_price, MONEY_PLACES);
    return error_set(err, ERR_LIMIT,
                     "not sent: with an answer of %" PRId64
                     " tokens it would cost about $%s, above $%s",
                     l->n_answer, price, limit);
}

// Only the instructions are pinned, so what goes is the oldest part of the conversation.
static enum status carry_out(struct session *s, const struct budget_plan *plan,
                             struct error *err) {
    int n_messages = conversation_turn_begin(&s->conversation, plan->keep_from);
    struct text summary = {0};
    enum status st = OK;

    if (plan->n_summary > 0) st = obtain_summary(&summary, s, n_messages, err);
    if (st == OK)
        st = conversation_shorten(&s->conversation, n_messages, "user",
                                  plan->n_summary > 0 ? text_string(&summary) : NULL, err);
    if (st == OK)
        account_cut(&s->account, plan->keep_from - plan->first_gone, plan->n_summary > 0);
    text_free(&summary);
    return st;
}

// ---- a question ---------------------------------------------------------------------------------

// A first question fits; a server is asked only once, and only if there may be something to drop.
static void learn_context(struct session *s) {
    int64_t deadline_ms = s->attempts.deadline_ns / 1000000;
    int64_t patience_ms = CONTEXT_PATIENCE_MS;
    if (s->budget.n_context > 0 || s->budget.has_looked || s->conversation.n_messages == 0)
        return;
    if (deadline_ms > 0 && deadline_ms < patience_ms) patience_ms = deadline_ms;
    s->budget.n_context =
        client_context(s->attempts.client, s->request.model, patience_ms, s->interrupted);
    s->budget.has_looked = true;
}

static enum status count(struct session *s, struct conversation_turns *t,
                         const char *question, struct error *err) {
    const struct turn_scale scale = {s->estimate, s->budget.n_estimated, s->budget.n_told};
    return conversation_turns_init(t, text_string(&s->system), &s->conversation, question,
                                   &scale, err);
}

enum status session_budget_fit(struct session *s, const char *question, struct error *err) {
    struct conversation_turns turns;
    struct budget_plan plan = {0};

    learn_context(s);
    enum status st = count(s, &turns, question, err);
    if (st != OK) return st;
    struct budget_limits limits = limits_of(s, turns.n_tokens);
    const struct budget_conversation c = conversation_of(s, &turns, &limits);

    st = budget_decide(&plan, &c, &limits, err);
    if (st == OK && !is_affordable(&plan, &c, &limits)) {
        limits.n_summary = 0;
        st = budget_decide(&plan, &c, &limits, err);
    }
    if (st == ERR_LIMIT) st = explain_price(&c, &limits, err);
    if (st == ERR_CONTEXT) {
        plan.keep_from = 0;
        st = OK;
    }
    if (st == OK && plan.keep_from > 0) {
        tell(&plan, &turns, &limits);
        st = carry_out(s, &plan, err);
        conversation_turns_free(&turns);
        if (st == OK) st = count(s, &turns, question, err);
    }
    s->budget.n_asked = turns.n_estimated;
    conversation_turns_free(&turns);
    return st;
}

// A provider that found something this time will find this prompt again next time.
void session_budget_learn(struct session *s, const struct reply_usage *usage) {
    if (usage->prompt_tokens <= 0) return;
    s->budget.n_estimated = s->budget.n_asked;
    s->budget.n_told = usage->prompt_tokens;
    s->budget.n_found = usage->cached_tokens > 0 ? usage->prompt_tokens : 0;
}
