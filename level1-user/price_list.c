// Prices from a file that anyone may have edited: each field is checked, each error says where.
#include "level1-user/price_list.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/data_record.h"

// ---- one entry ----------------------------------------------------------------------------------

static enum status read_price(int64_t *price, const struct data_record *at,
                              const char *field, struct error *err) {
    const char *text;
    enum status st = data_text(&text, at, field, err);
    *price = PRICE_UNKNOWN;
    if (st == OK && *text && !money_parse_price(text, price))
        st = data_refuse(
            at, field,
            "must be dollars for a million tokens as a decimal, such as \"0.55\", "
            "with at most 6 digits behind the point",
            err);
    return st;
}

static enum status read_model(const char **model, const struct data_record *at,
                              struct error *err) {
    enum status st = data_text(model, at, "model", err);
    if (st != OK) return st;
    size_t n_plain = strspn(*model, "abcdefghijklmnopqrstuvwxyz0123456789-.");
    if (!**model || (*model)[n_plain])
        return data_refuse(at, "model", "must be lower-case letters, digits, '-' and '.'",
                           err);
    return OK;
}

// A field that nobody reads may be a price that nobody bills.
static const char known_fields[] =
    " provider model listed_as valid_from valid_to window currency "
    "input cached_input cache_write output tag source notes ";

static enum status read_entry(struct price_entry *e, const struct data_record *at,
                              struct error *err) {
    const struct {
        const char *field, **text;
    } texts[] = {
        {"provider",  &e->provider },
        {"listed_as", &e->listed_as},
        {"window",    &e->window   },
        {"currency",  &e->currency },
        {"tag",       &e->tag      },
        {"source",    &e->source   },
        {"notes",     &e->notes    },
    };
    enum status st = data_check_fields(at, known_fields, "is not a field of a price", err);
    if (st == OK) st = read_model(&e->model, at, err);
    if (st == OK) st = data_date(&e->valid_from, at, "valid_from", err);
    if (st == OK) st = data_date(&e->valid_to, at, "valid_to", err);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && st == OK; i++) {
        st = data_text(texts[i].text, at, texts[i].field, err);
    }
    if (st == OK) st = read_price(&e->price.input, at, "input", err);
    if (st == OK) st = read_price(&e->price.cached_input, at, "cached_input", err);
    if (st == OK) st = read_price(&e->price.cache_write, at, "cache_write", err);
    if (st == OK) st = read_price(&e->price.output, at, "output", err);
    if (st == OK && !*e->currency) st = data_refuse(at, "currency", "is missing", err);
    return st;
}

// ---- the list -----------------------------------------------------------------------------------

static bool is_same(const struct price_entry *a, const struct price_entry *b) {
    return strcmp(a->model, b->model) == 0 && strcmp(a->window, b->window) == 0 &&
           strcmp(a->currency, b->currency) == 0 &&
           strcmp(a->valid_from, b->valid_from) == 0;
}

static enum status read_entries(struct price_list *list, const char *name,
                                struct error *err) {
    const json_t *prices;
    size_t n;
    enum status st =
        data_list(&prices, &n, list->document, "prices", LIMIT_PRICE_ENTRIES, name, err);
    if (st != OK) return st;
    list->entries = calloc(n, sizeof(*list->entries));
    if (!list->entries) return error_set(err, ERR_MEMORY, "%s: no memory for it", name);

    for (size_t i = 0; i < n; i++) {
        struct price_entry *e = &list->entries[i];
        const struct data_record at = {name, "prices", i, json_array_get(prices, i)};
        st = read_entry(e, &at, err);
        if (st != OK) return st;
        for (size_t j = 0; j < i; j++) {
            if (is_same(e, &list->entries[j]))
                return data_refuse(&at, "model",
                                   "has this price twice: same window, same date", err);
        }
    }
    list->n_entries = (int)n;
    return OK;
}

// Takes the document over. After a failure the list is closed.
static enum status take(struct price_list *list, json_t *root, const char *name,
                        struct error *err) {
    list->document = root;
    enum status st = read_entries(list, name, err);
    if (st != OK) price_list_close(list);
    return st;
}

enum status price_list_parse(struct price_list *list, const char *bytes, size_t n_bytes,
                             const char *name, struct error *err) {
    json_t *root;
    *list = (struct price_list){0};
    enum status st = data_document(&root, bytes, n_bytes, LIMIT_PRICE_BYTES, name, err);
    return st == OK ? take(list, root, name, err) : st;
}

enum status price_list_open(struct price_list *list, const char *path, struct error *err) {
    json_t *root;
    *list = (struct price_list){0};
    enum status st = data_document_open(&root, path, LIMIT_PRICE_BYTES, err);
    return st == OK ? take(list, root, error_path(path), err) : st;
}

void price_list_close(struct price_list *list) {
    free(list->entries);
    json_decref(list->document);
    *list = (struct price_list){0};
}

// ---- finding ------------------------------------------------------------------------------------

static bool holds_on(const struct price_entry *e, const char *date) {
    char from[DATE_BYTES] = "", to[DATE_BYTES] = "9999-99-99";
    if (*e->valid_from) date_in_full(from, e->valid_from);
    if (*e->valid_to) date_in_full(to, e->valid_to);
    return strcmp(from, date) <= 0 && strcmp(date, to) < 0;
}

static bool begins_later(const struct price_entry *a, const struct price_entry *b) {
    char from_a[DATE_BYTES] = "", from_b[DATE_BYTES] = "";
    date_in_full(from_a, a->valid_from);
    date_in_full(from_b, b->valid_from);
    return strcmp(from_a, from_b) > 0;
}

// A query in the order in which it is answered. A bill is in dollars, so other currencies never count.
struct search {
    const struct price_list *list;
    const char *model, *window;
    const char *date; // in full; NULL: any
};
enum step { ANY, BY_MODEL, BY_WINDOW, BY_DATE };

// Whether it is what the search asks for in all steps up to this one.
static bool fits(const struct price_entry *e, const struct search *s, enum step step) {
    if (strcmp(e->currency, "USD") != 0) return false;
    if (step >= BY_MODEL && strcmp(e->model, s->model) != 0) return false;
    if (step >= BY_WINDOW && strcmp(e->window, s->window) != 0) return false;
    return step < BY_DATE || !s->date || holds_on(e, s->date);
}

// The one that began last; NULL: none fits.
static const struct price_entry *latest(const struct search *s, enum step step) {
    const struct price_entry *best = NULL;
    for (int i = 0; i < s->list->n_entries; i++) {
        const struct price_entry *e = &s->list->entries[i];
        if (fits(e, s, step) && (!best || begins_later(e, best))) best = e;
    }
    return best;
}

enum { CHOICE_BYTES = 80, CHOICES_BYTES = 160 };

// What an entry offers for a step, in words.
static void name_choice(char out[CHOICE_BYTES], const struct price_entry *e,
                        enum step step) {
    if (step == BY_DATE)
        snprintf(out, CHOICE_BYTES, "%s to %s", *e->valid_from ? e->valid_from : "?",
                 *e->valid_to ? e->valid_to : "?");
    else if (step == BY_WINDOW)
        snprintf(out, CHOICE_BYTES, "%s", *e->window ? e->window : "all day");
    else
        snprintf(out, CHOICE_BYTES, "%s", e->model);
}

static bool is_new_choice(const char *choice, const struct search *s, enum step step,
                          int n) {
    char other[CHOICE_BYTES];
    for (int i = 0; i < n; i++) {
        if (!fits(&s->list->entries[i], s, step - 1)) continue;
        name_choice(other, &s->list->entries[i], step);
        if (strcmp(choice, other) == 0) return false;
    }
    return true;
}

// "peak, off-peak": the choices of the entries that fit so far, each once.
static void list_choices(char out[CHOICES_BYTES], const struct search *s, enum step step) {
    static const char more[] = ", ...";
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < s->list->n_entries; i++) {
        char choice[CHOICE_BYTES];
        if (!fits(&s->list->entries[i], s, step - 1)) continue;
        name_choice(choice, &s->list->entries[i], step);
        if (!is_new_choice(choice, s, step, i)) continue;
        if (n + strlen(", ") + strlen(choice) + sizeof(more) > CHOICES_BYTES) {
            strcpy(out + n, more);
            return;
        }
        n += (size_t)sprintf(out + n, "%s%s", n ? ", " : "", choice);
    }
}

// Says which step found nothing, and what it could have found.
static enum status explain(const struct search *s, struct error *err) {
    char choices[CHOICES_BYTES];
    enum step step = BY_MODEL;
    while (latest(s, step)) step++;
    list_choices(choices, s, step);
    if (step == BY_MODEL)
        return error_set_param(err, ERR_INPUT, "model",
                               "no price of \"%.40s\" is known; of: %s", s->model,
                               *choices ? choices : "no model at all");
    if (step == BY_WINDOW)
        return error_set_param(err, ERR_INPUT, "window",
                               "%.40s has no price for \"%.20s\"; it has one for: %s",
                               s->model, *s->window ? s->window : "all day", choices);
    return error_set_param(err, ERR_INPUT, "date",
                           "%.40s has no price on %s; it has one for: %s", s->model,
                           s->date, choices);
}

enum status price_list_find(const struct price_entry **entry, const struct price_list *list,
                            const struct price_query *query, struct error *err) {
    char date[DATE_BYTES];
    const struct search s = {.list = list,
                             .model = query->model,
                             .window = query->window ? query->window : "",
                             .date = query->date ? date : NULL};
    *entry = NULL;
    if (query->date && !date_in_full(date, query->date))
        return error_set_param(err, ERR_INPUT, "date",
                               "\"%.40s\" is no date, such as 2025-02-28", query->date);
    *entry = latest(&s, BY_DATE);
    return *entry ? OK : explain(&s, err);
}
