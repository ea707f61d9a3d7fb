// Prices from a file that anyone may have edited: each field is checked, each error says where.
#include "level1-user/price_list.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/data_record.h"
#include "common/limits.h"

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

// The prices above a step; what is not given stays as below it.
static enum status read_step(struct price_entry *e, const struct data_record *at,
                             struct error *err) {
    const struct {
        const char *field;
        int64_t *price;
    } prices[] = {
        {"step_input",        &e->step.price.input       },
        {"step_cached_input", &e->step.price.cached_input},
        {"step_cache_write",  &e->step.price.cache_write },
        {"step_output",       &e->step.price.output      },
    };
    bool has_price = false;
    enum status st = data_number(&e->step.tokens, at, "step_tokens", 1, LIMIT_CONTEXT, err);
    e->step.price = e->price;
    for (size_t i = 0; i < sizeof(prices) / sizeof(prices[0]) && st == OK; i++) {
        int64_t price;
        st = read_price(&price, at, prices[i].field, err);
        if (st != OK || price == PRICE_UNKNOWN) continue;
        *prices[i].price = price;
        has_price = true;
    }
    if (st == OK && has_price != (e->step.tokens > 0))
        st = data_refuse(at, "step_tokens",
                         has_price ? "is missing: above how many is step_* the price?"
                                   : "has no price: give step_input or another",
                         err);
    return st;
}

// A field that nobody reads may be a price that nobody bills.
static const char known_fields[] =
    " provider model listed_as valid_from valid_to window currency "
    "input cached_input cache_write output tag source notes "
    "step_tokens step_input step_cached_input step_cache_write step_output ";

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
    if (st == OK) st = data_name(&e->model, at, "model", err);
    if (st == OK) st = data_date(&e->valid_from, at, "valid_from", err);
    if (st == OK) st = data_date(&e->valid_to, at, "valid_to", err);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && st == OK; i++) {
        st = data_text(texts[i].text, at, texts[i].field, err);
    }
    if (st == OK) st = read_price(&e->price.input, at, "input", err);
    if (st == OK) st = read_price(&e->price.cached_input, at, "cached_input", err);
    if (st == OK) st = read_price(&e->price.cache_write, at, "cache_write", err);
    if (st == OK) st = read_price(&e->price.output, at, "output", err);
    if (st == OK) st = read_step(e, at, err);
    if (st == OK && !*e->currency) st = data_refuse(at, "currency", "is missing", err);
    return st;
}

bool price_entry_is_above(const struct price_entry *entry, int64_t n_input) {
    return entry->step.tokens > 0 && n_input > entry->step.tokens;
}

const struct price *price_entry_price(const struct price_entry *entry, int64_t n_input) {
    return price_entry_is_above(entry, n_input) ? &entry->step.price : &entry->price;
}

// ---- the list -----------------------------------------------------------------------------------

static bool is_same(const struct price_entry *a, const struct price_entry *b) {
    return strcmp(a->model, b->model) == 0 && strcmp(a->window, b->window) == 0 &&
           strcmp(a->currency, b->currency) == 0 &&
           strcmp(a->valid_from, b->valid_from) == 0;
}

static enum status add_step(struct price_list *list, int64_t tokens, const char *name,
                            struct error *err) {
    if (tokens == 0) return OK;
    for (int i = 0; i < list->n_steps; i++)
        if (list->steps[i] == tokens) return OK;
    if (list->n_steps == LIMIT_PRICE_STEPS)
        return error_set(err, ERR_LIMIT, "%s: more than %d different step_tokens", name,
                         LIMIT_PRICE_STEPS);
    list->steps[list->n_steps++] = tokens;
    return OK;
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
        if (st == OK) st = add_step(list, e->step.tokens, name, err);
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
