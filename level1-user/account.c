// Tokens and money of a session. What a server tells may be any number: sums do not run over.
#include "level1-user/account.h"

#include <inttypes.h>
#include <string.h>

static bool is_told(const struct reply_usage *u) {
    return u->prompt_tokens >= 0 && u->completion_tokens >= 0;
}

static void count(int64_t *sum, int64_t n) {
    if (n > 0) *sum = n < INT64_MAX - *sum ? *sum + n : INT64_MAX;
}

static enum status bill_at(struct account *a, const struct invoice_usage *used,
                           struct error *err) {
    const struct price *price = price_entry_price(a->price, used->input);
    return invoice_of_request(&a->bill, used, price, err);
}

static void bill(struct account *a, const struct reply_usage *u) {
    const struct invoice_usage used = {
        .input = u->prompt_tokens,
        .cached = u->cached_tokens > 0 ? u->cached_tokens : 0,
        .output = u->completion_tokens,
    };
    struct invoice total = a->total;
    struct error err = {0};
    enum status st = OK;

    if (!is_told(u)) st = error_set(&err, ERR_INPUT, "the server told no usage");
    if (st == OK) st = bill_at(a, &used, &err);
    if (st == OK) st = invoice_add(&total, &a->bill, 1, &err);
    a->cost_is_known = st == OK;
    if (st != OK) {
        snprintf(a->why, sizeof(a->why), "%.95s", err.text);
        return;
    }
    a->total = total;
    a->n_above += price_entry_is_above(a->price, used.input);
}

void account_add(struct account *a, const struct summary *s, const struct reply_usage *u) {
    a->n_answers++;
    if (!is_told(u)) a->n_untold++;
    count(&a->prompt, u->prompt_tokens);
    count(&a->cached, u->cached_tokens);
    count(&a->completion, u->completion_tokens);
    if (s->ttft_ms >= 0) {
        a->n_timed++;
        a->ttft_ms += s->ttft_ms;
    }
    if (!a->price) return;
    bill(a, u);
    if (!a->cost_is_known) a->n_unbilled++;
}

void account_cut(struct account *a, int n_turns, bool is_summarised) {
    a->n_cuts++;
    a->n_cut_turns += n_turns;
    a->n_summaries += is_summarised;
}

void account_line(char *out, size_t out_bytes, const struct account *a) {
    char last[MONEY_TEXT_BYTES], total[MONEY_TEXT_BYTES];

    *out = '\0';
    if (!a->price || a->n_answers == 0) return;
    money_text(total, a->total.total, MONEY_PLACES);
    if (a->cost_is_known) {
        money_text(last, a->bill.total, MONEY_PLACES);
        snprintf(out, out_bytes, "$%s (so far $%s%s)", last, total,
                 a->n_unbilled > 0 ? " and what is not known" : "");
    } else {
        snprintf(out, out_bytes, "cost not known: %s (so far $%s and what is not known)",
                 a->why, total);
    }
}

void account_print_stats(FILE *out, const struct account *a) {
    double share = a->prompt > 0 ? 100 * (double)a->cached / (double)a->prompt : 0;

    fprintf(out,
            "answers %" PRId64 "\n"
            "tokens  %" PRId64 " prompt (%" PRId64 " cached, %.1f %%) + %" PRId64
            " completion\n",
            a->n_answers, a->prompt, a->cached, share, a->completion);
    if (a->n_untold > 0)
        fprintf(out, "        the server told no usage for %" PRId64 " of them\n",
                a->n_untold);
    if (a->n_timed > 0)
        fprintf(out, "TTFT    %.0f ms on average\n", a->ttft_ms / (double)a->n_timed);
    if (a->n_cuts > 0)
        fprintf(out,
                "cuts    %" PRId64 " (old turns: %" PRId64 ", summaries: %" PRId64 ")\n",
                a->n_cuts, a->n_cut_turns, a->n_summaries);
}

static void print_price(FILE *out, const char *what, int64_t price) {
    char text[MONEY_TEXT_BYTES];
    if (price < 0) {
        fprintf(out, ", %s not known", what);
        return;
    }
    money_text(text, price, PRICE_PLACES);
    fprintf(out, ", %s $%s", what, text);
}

static void print_prices(FILE *out, const struct price *p) {
    print_price(out, "input", p->input);
    print_price(out, "cached", p->cached_input);
    print_price(out, "output", p->output);
    fputc('\n', out);
}

static void print_line(FILE *out, const char *what, int64_t amount) {
    char text[MONEY_TEXT_BYTES];
    money_text(text, amount, MONEY_PLACES);
    fprintf(out, "%-7s $%s\n", what, text);
}

void account_print_cost(FILE *out, const struct account *a) {
    const struct price_entry *p = a->price;
    if (!p) {
        fputs("no price: begin with --price MODEL, such as --price deepseek-r1\n", out);
        return;
    }
    fprintf(out, "%s of %s, from %s, a million tokens", p->listed_as, p->provider,
            *p->valid_from ? p->valid_from : "a day not known");
    print_prices(out, &p->price);
    if (p->step.tokens > 0) {
        fprintf(out, "above %" PRId64 " input tokens, all of a request", p->step.tokens);
        print_prices(out, &p->step.price);
        fprintf(out, "        so %" PRId64 " of %" PRId64 " answers\n", a->n_above,
                a->n_answers);
    }
    print_line(out, "input", a->total.input);
    print_line(out, "cached", a->total.cached);
    print_line(out, "output", a->total.output);
    print_line(out, "total", a->total.total);
    if (a->n_unbilled > 0)
        fprintf(out,
                "        and %" PRId64 " of %" PRId64 " answers whose cost is not known\n",
                a->n_unbilled, a->n_answers);
}
