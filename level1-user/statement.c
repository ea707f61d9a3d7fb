// Two invoices side by side.
#include "level1-user/statement.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static enum status compare(struct comparison *c, const struct invoice_usage *used,
                           const struct price *price, struct error *err) {
    const struct invoice_usage uncached = {.input = used->input, .output = used->output};
    enum status st = invoice_of_request(&c->with, used, price, err);
    if (st == OK) st = invoice_of_request(&c->without, &uncached, price, err);
    return st;
}

enum status statement_of(struct statement *s, const struct price_entry *entry,
                         const struct invoice_usage *used, int64_t n_requests,
                         struct error *err) {
    *s = (struct statement){.entry = entry, .used = *used, .n_requests = n_requests};
    enum status st = compare(&s->one, used, &entry->price, err);
    if (st == OK) st = invoice_add(&s->all.without, &s->one.without, n_requests, err);
    if (st == OK) st = invoice_add(&s->all.with, &s->one.with, n_requests, err);
    return st;
}

// Of all that was to be paid without the cache.
static double percent_saved(const struct statement *s) {
    double without = (double)s->all.without.total, with = (double)s->all.with.total;
    return without > 0 ? 100 * (without - with) / without : 0;
}

// ---- for people ---------------------------------------------------------------------------------

enum { GROUPED_BYTES = 28 };

// "3,200"
static const char *grouped(char out[GROUPED_BYTES], int64_t n) {
    char digits[24];
    int n_digits = snprintf(digits, sizeof(digits), "%" PRId64, n), n_out = 0;
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0) out[n_out++] = ',';
        out[n_out++] = digits[i];
    }
    out[n_out] = '\0';
    return out;
}

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

// price: PRICE_UNKNOWN for a row that has none.
static void print_row(FILE *out, const char *name, int64_t price, int64_t without,
                      int64_t with, int n_places) {
    char per_million[MONEY_TEXT_BYTES] = "", left[MONEY_TEXT_BYTES + 1] = "$",
         right[MONEY_TEXT_BYTES + 1] = "$";
    if (price != PRICE_UNKNOWN) money_text(per_million, price, PRICE_PLACES);
    money_rounded(left + 1, without, n_places);
    money_rounded(right + 1, with, n_places);
    fprintf(out, "%-14s  %13s  %20s  %20s\n", name, per_million, left, right);
}

static void print_period(FILE *out, const struct price_entry *e) {
    bool has_from = *e->valid_from, has_to = *e->valid_to;
    fprintf(out, "%s (%s), prices", e->model, e->provider);
    if (has_from) fprintf(out, " %s %s", has_to ? "of" : "since", e->valid_from);
    if (has_to) fprintf(out, " %s %s", has_from ? "to" : "until", e->valid_to);
    if (*e->window) fprintf(out, ", %s", e->window);
    fprintf(out, "\n");
}

static void print_workload(FILE *out, const struct statement *s) {
    char text[GROUPED_BYTES];
    fprintf(out, "%s request%s", grouped(text, s->n_requests),
            s->n_requests == 1 ? "" : "s");
    fprintf(out, "; tokens of each: %s input", grouped(text, s->used.input));
    if (s->used.cached) fprintf(out, ", %s of them cached", grouped(text, s->used.cached));
    if (s->used.cache_write)
        fprintf(out, ", %s of them written to the cache",
                grouped(text, s->used.cache_write));
    fprintf(out, ", %s output\n", grouped(text, s->used.output));
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
    print_workload(out, s);
    fprintf(out, "\n%-14s  %13s  %20s  %20s\n", "", "$ per million", "without cache",
            "with cache");
    print_row(out, "input", p->input, a->input, b->input, n_places);
    print_row(out, "cached input", p->cached_input, a->cached, b->cached, n_places);
    if (s->used.cache_write)
        print_row(out, "cache write", p->cache_write, a->cache_write, b->cache_write,
                  n_places);
    print_row(out, "output", p->output, a->output, b->output, n_places);
    print_row(out, "total", PRICE_UNKNOWN, a->total, b->total, n_places);
    print_row(out, "one request", PRICE_UNKNOWN, s->one.without.total, s->one.with.total,
              places_of(&s->one));
    fprintf(out, "\n");
    print_saved(out, s, n_places);
    if (*s->entry->source) fprintf(out, "source of the prices: %s\n", s->entry->source);
}

// ---- for programs -------------------------------------------------------------------------------

static json_t *json_amount(int64_t amount) {
    char text[MONEY_TEXT_BYTES + 1] = "-";
    money_text(text + 1, amount < 0 ? -amount : amount, MONEY_PLACES);
    return json_string(amount < 0 ? text : text + 1);
}

static json_t *json_invoice(const struct invoice *i) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "input_usd", json_amount(i->input),
                     "cached_usd", json_amount(i->cached), "cache_write_usd",
                     json_amount(i->cache_write), "output_usd", json_amount(i->output),
                     "total_usd", json_amount(i->total));
}

static json_t *json_comparison(const struct comparison *c) {
    return json_pack("{s:o, s:o}", "without_cache", json_invoice(&c->without), "with_cache",
                     json_invoice(&c->with));
}

static json_t *json_prices(const struct price_entry *e) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "provider", e->provider,
                     "valid_from", e->valid_from, "valid_to", e->valid_to, "window",
                     e->window, "tag", e->tag, "source", e->source);
}

static json_t *json_usage(const struct invoice_usage *u) {
    return json_pack("{s:I, s:I, s:I, s:I}", "input", (json_int_t)u->input, "cached",
                     (json_int_t)u->cached, "cache_write", (json_int_t)u->cache_write,
                     "output", (json_int_t)u->output);
}

char *statement_json(const struct statement *s) {
    char percent[32];
    snprintf(percent, sizeof(percent), "%.1f", percent_saved(s));
    json_t *root = json_pack(
        "{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:s}", "model", s->entry->model, "prices",
        json_prices(s->entry), "requests", (json_int_t)s->n_requests, "tokens_per_request",
        json_usage(&s->used), "per_request", json_comparison(&s->one), "workload",
        json_comparison(&s->all), "saved_usd",
        json_amount(s->all.without.total - s->all.with.total), "saved_percent", percent);
    char *document = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    return document;
}
