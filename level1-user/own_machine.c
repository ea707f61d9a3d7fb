// Rent by the hour against price by the request.
#include "level1-user/own_machine.h"

#include <inttypes.h>

#include "common/limits.h"
#include "level1-user/digits.h"
#include "level1-user/invoice_json.h"

static const int64_t MILLION = 1000000, SECONDS_PER_HOUR = 3600, HOURS_PER_DAY = 24;

static enum status check_term(const char *name, int64_t n, int64_t low, int64_t high,
                              struct error *err) {
    if (n >= low && n <= high) return OK;
    return error_set_param(err, ERR_INPUT, name, "%s must be from %" PRId64 " to %" PRId64,
                           name, low, high);
}

static enum status check_terms(const struct own_terms *t, struct error *err) {
    enum status st =
        check_term("tokens-per-second", t->tokens_per_s, 1, LIMIT_OWN_RATE, err);
    if (st == OK) st = check_term("idle-hours", t->idle_hours, 0, HOURS_PER_DAY - 1, err);
    if (st == OK)
        st = check_term("redundancy", t->redundancy, 1, LIMIT_OWN_REDUNDANCY, err);
    if (st == OK && (t->utilization < 1 || t->utilization > MILLION))
        st = error_set_param(err, ERR_INPUT, "utilization",
                             "utilization must be above 0 and at most 1");
    return st;
}

static int64_t divide_up(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

// The limits of the terms keep the product below 10^18.
static int64_t requests_per_day(const struct own_terms *t, int64_t output) {
    int64_t seconds = (HOURS_PER_DAY - t->idle_hours) * SECONDS_PER_HOUR;
    int64_t tokens = t->tokens_per_s * t->utilization * seconds / MILLION;
    return tokens / output;
}

static enum status price_machine(struct own_price *p, const struct gpu_offer *offer,
                                 int64_t per_hour, const struct own_machine *m,
                                 struct error *err) {
    *p = (struct own_price){.offer = offer, .break_even = -1};
    enum status st = money_add(&p->hour, MILLION, per_hour, "own", err);
    if (st == OK)
        st = money_add(&p->day, HOURS_PER_DAY * m->terms.redundancy, p->hour, "own", err);
    if (st != OK) return st;
    p->request = divide_up(p->day, m->requests_per_day);
    int64_t from = m->api_request > 0 ? divide_up(p->day, m->api_request) : INT64_MAX;
    if (from <= m->requests_per_day) p->break_even = from;
    return OK;
}

enum status own_machine_of(struct own_machine *m, const struct gpu_hours *list,
                           const char *gpu, const struct own_terms *terms, int64_t output,
                           int64_t api_request, struct error *err) {
    const struct gpu_offer *lowest, *highest;
    *m = (struct own_machine){.terms = *terms, .api_request = api_request};
    enum status st = check_terms(terms, err);
    if (st == OK && output < 1)
        st = error_set_param(err, ERR_INPUT, "output",
                             "a machine is measured by its output, and there is none");
    if (st == OK) st = gpu_hours_find(&lowest, &highest, list, gpu, err);
    if (st != OK) return st;

    m->requests_per_day = requests_per_day(terms, output);
    if (m->requests_per_day == 0)
        return error_set_param(err, ERR_INPUT, "tokens-per-second",
                               "such a machine does not serve one request a day");
    st = price_machine(&m->low, lowest, lowest->low, m, err);
    if (st == OK) st = price_machine(&m->high, highest, highest->high, m, err);
    return st;
}

// ---- for people ---------------------------------------------------------------------------------

enum { REQUEST_PLACES = 6 };

static void print_amounts(FILE *out, const char *name, int64_t low, int64_t high,
                          int n_places) {
    char left[MONEY_TEXT_BYTES + 1] = "$", right[MONEY_TEXT_BYTES + 1] = "$";
    money_rounded(left + 1, low, n_places);
    money_rounded(right + 1, high, n_places);
    fprintf(out, "%-30s  %20s  %20s\n", name, left, right);
}

static const char *requests_or_never(char text[DIGITS_BYTES], int64_t n) {
    return n < 0 ? "never" : digits_grouped(text, n);
}

void own_machine_print(FILE *out, const struct own_machine *m) {
    char left[DIGITS_BYTES], right[DIGITS_BYTES], part[MONEY_TEXT_BYTES];
    const struct own_terms *t = &m->terms;
    money_text(part, t->utilization, PRICE_PLACES);
    fprintf(out, "own machine: %s, %s tokens/s, utilization %s\n", m->low.offer->listed_as,
            digits_grouped(left, t->tokens_per_s), part);
    fprintf(out, "%" PRId64 " hours a day idle, %" PRId64 " paid for each that works",
            t->idle_hours, t->redundancy);
    fprintf(out, "; serves %s requests a day\n",
            digits_grouped(right, m->requests_per_day));
    fprintf(out, "\n%-30s  %20.20s  %20.20s\n", "rent", m->low.offer->offer,
            m->high.offer->offer);
    fprintf(out, "%-30s  %20.20s  %20.20s\n", "how well it is known", m->low.offer->tag,
            m->high.offer->tag);
    print_amounts(out, "an hour", m->low.hour, m->high.hour, 2);
    print_amounts(out, "a day", m->low.day, m->high.day, 2);
    print_amounts(out, "one request, at full load", m->low.request, m->high.request,
                  REQUEST_PLACES);
    print_amounts(out, "one request, API", m->api_request, m->api_request, REQUEST_PLACES);
    fprintf(out, "%-30s  %20s  %20s\n", "cheaper from requests a day",
            requests_or_never(left, m->low.break_even),
            requests_or_never(right, m->high.break_even));
}

// ---- for programs -------------------------------------------------------------------------------

static json_t *json_price(const struct own_price *p) {
    bool is_cheaper = p->break_even >= 0;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "offer", p->offer->offer,
                     "tag", p->offer->tag, "source", p->offer->source, "notes",
                     p->offer->notes, "hour_usd", invoice_json_amount(p->hour), "day_usd",
                     invoice_json_amount(p->day), "request_usd",
                     invoice_json_amount(p->request), "break_even_requests_per_day",
                     is_cheaper ? json_integer(p->break_even) : json_null());
}

json_t *own_machine_json(const struct own_machine *m) {
    char part[MONEY_TEXT_BYTES];
    const struct own_terms *t = &m->terms;
    money_text(part, t->utilization, PRICE_PLACES);
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "gpu",
                     m->low.offer->gpu, "tokens_per_second", (json_int_t)t->tokens_per_s,
                     "utilization", part, "idle_hours", (json_int_t)t->idle_hours,
                     "redundancy", (json_int_t)t->redundancy, "requests_per_day",
                     (json_int_t)m->requests_per_day, "api_request_usd",
                     invoice_json_amount(m->api_request), "low", json_price(&m->low),
                     "high", json_price(&m->high));
}
