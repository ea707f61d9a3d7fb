// Two invoices side by side.
#include "level1-user/statement.h"

#include <string.h>

#include "level1-user/digits.h"
#include "level1-user/invoice_json.h"

static enum status compare(struct comparison *c, const struct workload *work,
                           const struct price_entry *entry, struct error *err) {
    const struct workload uncached = workload_uncached(work);
    enum status st = workload_bill_once(&c->with, work, entry, err);
    if (st == OK) st = workload_bill_once(&c->without, &uncached, entry, err);
    return st;
}

static enum status repeat(struct comparison *all, const struct comparison *one,
                          int64_t n_requests, struct error *err) {
    *all = (struct comparison){0};
    enum status st = invoice_add(&all->without, &one->without, n_requests, err);
    if (st == OK) st = invoice_add(&all->with, &one->with, n_requests, err);
    return st;
}

enum status statement_of(struct statement *s, const struct price_entry *entry,
                         const struct workload *work, struct error *err) {
    const int64_t times = workload_times(work);
    *s = (struct statement){.entry = entry, .work = *work};
    enum status st = compare(&s->one, work, entry, err);
    if (st == OK) st = repeat(&s->all, &s->one, times, err);
    return st;
}

enum status statement_per_day(struct statement *s, int64_t per_day, struct error *err) {
    struct comparison day;
    s->per_day = per_day;
    enum status st = repeat(&s->thousand, &s->one, 1000, err);
    if (st == OK) st = repeat(&day, &s->one, per_day, err);
    if (st == OK) st = repeat(&s->month, &day, DAYS_OF_A_MONTH, err);
    return st;
}

// Of all that was to be paid without the cache.
static double percent_saved(const struct statement *s) {
    double without = (double)s->all.without.total, with = (double)s->all.with.total;
    return without > 0 ? 100 * (without - with) / without : 0;
}

// ---- for people ---------------------------------------------------------------------------------

static int larger(int a, int b) {
    return a > b ? a : b;
}

// So many digits behind the point that nothing in the table is rounded; two at least, as in a shop.
static int places_of(const struct comparison *c) {
    const struct invoice *both[] = {&c->without, &c->with};
    int n = 2;
    for (int i = 0; i < 2; i++) {
        n = larger(n, money_places(both[i]->input));
        n = larger(n, money_places(both[i]->cached));
        n = larger(n, money_places(both[i]->cache_write));
        n = larger(n, money_places(both[i]->output));
    }
    return n;
}

// note: the price, or what else belongs to the row.
static void print_row(FILE *out, const char *name, const char *note, int64_t without,
                      int64_t with, int n_places) {
    char left[MONEY_TEXT_BYTES + 1] = "$", right[MONEY_TEXT_BYTES + 1] = "$";
    money_rounded(left + 1, without, n_places);
    money_rounded(right + 1, with, n_places);
    fprintf(out, "%-14s  %13s  %20s  %20s\n", name, note, left, right);
}

enum { N_KINDS = 4, CACHE_WRITE = 2, PRICE_BYTES = 2 * MONEY_TEXT_BYTES + 3 };

static int64_t of_kind(const struct price *p, int kind) {
    const int64_t prices[N_KINDS] = {p->input, p->cached_input, p->cache_write, p->output};
    return prices[kind];
}

// The price that the requests have; "2 / 4" where some are above a step at which it changes.
static void print_price(char out[PRICE_BYTES], const struct statement *s, int kind) {
    const int64_t n_above = workload_n_above(&s->work, s->entry);
    int64_t below = of_kind(&s->entry->price, kind);
    int64_t above = of_kind(&s->entry->step.price, kind);
    char text[MONEY_TEXT_BYTES];
    if (n_above == 0) above = below;
    if (n_above > 0 && n_above == s->work.n_requests) below = above;
    *out = '\0';
    if (below != PRICE_UNKNOWN) money_text(out, below, PRICE_PLACES);
    if (above == below) return;
    money_text(text, above, PRICE_PLACES);
    sprintf(out + strlen(out), "%s / %s", *out ? "" : "unknown", text);
}

static void print_kinds(FILE *out, const struct statement *s, int n_places) {
    static const char *const names[N_KINDS] = {"input", "cached input", "cache write",
                                               "output"};
    const struct invoice *a = &s->all.without, *b = &s->all.with;
    const int64_t without[N_KINDS] = {a->input, a->cached, a->cache_write, a->output};
    const int64_t with[N_KINDS] = {b->input, b->cached, b->cache_write, b->output};
    for (int kind = 0; kind < N_KINDS; kind++) {
        char price[PRICE_BYTES];
        if (kind == CACHE_WRITE && s->work.used.cache_write == 0) continue;
        print_price(price, s, kind);
        print_row(out, names[kind], price, without[kind], with[kind], n_places);
    }
}

static void print_total(FILE *out, const char *name, const char *note,
                        const struct comparison *c) {
    print_row(out, name, note, c->without.total, c->with.total, places_of(c));
}

static void print_month(FILE *out, const struct statement *s) {
    char name[16], note[DIGITS_BYTES + 8], n[DIGITS_BYTES];
    snprintf(name, sizeof(name), "%d days", DAYS_OF_A_MONTH);
    snprintf(note, sizeof(note), "%s a day", digits_grouped(n, s->per_day));
    print_total(out, "1,000 requests", "", &s->thousand);
    print_total(out, name, note, &s->month);
}

static void print_period(FILE *out, const struct price_entry *e) {
    bool has_from = *e->valid_from, has_to = *e->valid_to;
    fprintf(out, "%s (%s), prices", e->model, e->provider);
    if (has_from) fprintf(out, " %s %s", has_to ? "of" : "since", e->valid_from);
    if (has_to) fprintf(out, " %s %s", has_from ? "to" : "until", e->valid_to);
    if (*e->window) fprintf(out, ", %s", e->window);
    fprintf(out, "\n");
}

static void print_saved(FILE *out, const struct statement *s, int n_places) {
    char text[MONEY_TEXT_BYTES];
    int64_t saved = s->all.without.total - s->all.with.total;
    money_rounded(text, saved < 0 ? -saved : saved, n_places);
    fprintf(out, "%s by the cache: $%s, %.1f %%\n", saved < 0 ? "lost" : "saved", text,
            saved < 0 ? -percent_saved(s) : percent_saved(s));
}

void statement_print(FILE *out, const struct statement *s) {
    const struct invoice *a = &s->all.without, *b = &s->all.with;
    int n_places = places_of(&s->all);

    print_period(out, s->entry);
    workload_print(out, &s->work);
    workload_print_step(out, "", workload_n_above(&s->work, s->entry), s->work.n_requests,
                        s->entry);
    fprintf(out, "\n%-14s  %13s  %20s  %20s\n", "", "$ per million", "without cache",
            "with cache");
    print_kinds(out, s, n_places);
    print_row(out, "total", "", a->total, b->total, n_places);
    if (!s->work.is_sum) print_total(out, "one request", "", &s->one);
    if (s->per_day > 0) print_month(out, s);
    fprintf(out, "\n");
    print_saved(out, s, n_places);
    if (*s->entry->source) fprintf(out, "source of the prices: %s\n", s->entry->source);
}

// ---- for programs -------------------------------------------------------------------------------

// The invoice with the cache, and inside it the one without.
static json_t *json_comparison(const struct comparison *c) {
    json_t *with = invoice_json(&c->with);
    if (with && json_object_set_new(with, "without_cache", invoice_json(&c->without)) == 0)
        return with;
    json_decref(with);
    return NULL;
}

static json_t *json_prices(const struct price_entry *e) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "provider", e->provider,
                     "valid_from", e->valid_from, "valid_to", e->valid_to, "window",
                     e->window, "tag", e->tag, "source", e->source);
}

// Takes root over. NULL: no memory.
static json_t *with_month(json_t *root, const struct statement *s) {
    json_t *more = json_pack("{s:I, s:o, s:o}", "requests_per_day", (json_int_t)s->per_day,
                             "per_thousand", json_comparison(&s->thousand), "per_month",
                             json_comparison(&s->month));
    bool is_whole = root && more && json_object_update(root, more) == 0;
    json_decref(more);
    if (is_whole) return root;
    json_decref(root);
    return NULL;
}

json_t *statement_json(const struct statement *s) {
    char percent[32];
    bool is_sum = s->work.is_sum;
    snprintf(percent, sizeof(percent), "%.1f", percent_saved(s));
    json_t *root = json_pack(
        "{s:s, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:s}", "model", s->entry->model, "prices",
        json_prices(s->entry), "price_step",
        workload_step_json(workload_n_above(&s->work, s->entry), s->entry), "requests",
        (json_int_t)s->work.n_requests, is_sum ? "tokens_of_all" : "tokens_per_request",
        workload_tokens_json(&s->work), "per_request",
        is_sum ? json_null() : json_comparison(&s->one), "workload",
        json_comparison(&s->all), "saved_usd",
        invoice_json_amount(s->all.without.total - s->all.with.total), "saved_percent",
        percent);
    return s->per_day > 0 ? with_month(root, s) : root;
}
