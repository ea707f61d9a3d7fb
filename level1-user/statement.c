// Two invoices side by side.
#include "level1-user/statement.h"

#include <string.h>

#include "level1-user/digits.h"
#include "level1-user/invoice_json.h"

static enum status compare(struct comparison *c, const struct invoice_usage *used,
                           const struct price *price, struct error *err) {
    const struct invoice_usage uncached = {.input = used->input, .output = used->output};
    enum status st = invoice_of_request(&c->with, used, price, err);
    if (st == OK) st = invoice_of_request(&c->without, &uncached, price, err);
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
    enum status st = compare(&s->one, &work->used, &entry->price, err);
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

static void print_kind(FILE *out, const char *name, int64_t price, int64_t without,
                       int64_t with, int n_places) {
    char per_million[MONEY_TEXT_BYTES] = "";
    if (price != PRICE_UNKNOWN) money_text(per_million, price, PRICE_PLACES);
    print_row(out, name, per_million, without, with, n_places);
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
    const struct price *p = &s->entry->price;
    const struct invoice *a = &s->all.without, *b = &s->all.with;
    int n_places = places_of(&s->all);

    print_period(out, s->entry);
    workload_print(out, &s->work);
    fprintf(out, "\n%-14s  %13s  %20s  %20s\n", "", "$ per million", "without cache",
            "with cache");
    print_kind(out, "input", p->input, a->input, b->input, n_places);
    print_kind(out, "cached input", p->cached_input, a->cached, b->cached, n_places);
    if (s->work.used.cache_write)
        print_kind(out, "cache write", p->cache_write, a->cache_write, b->cache_write,
                   n_places);
    print_kind(out, "output", p->output, a->output, b->output, n_places);
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
        "{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:s}", "model", s->entry->model, "prices",
        json_prices(s->entry), "requests", (json_int_t)s->work.n_requests,
        is_sum ? "tokens_of_all" : "tokens_per_request", workload_tokens_json(&s->work),
        "per_request", is_sum ? json_null() : json_comparison(&s->one), "workload",
        json_comparison(&s->all), "saved_usd",
        invoice_json_amount(s->all.without.total - s->all.with.total), "saved_percent",
        percent);
    return s->per_day > 0 ? with_month(root, s) : root;
}
