// All prices of a list held against one workload.
#include "level1-user/offers.h"

#include <stdlib.h>
#include <string.h>

#include "common/data_record.h"
#include "level1-user/invoice_json.h"

// ---- which, and how much ------------------------------------------------------------------------

// Of several prices for a model and window, the one that counts on that day.
static bool counts(const struct price_entry *e, const struct price_list *list,
                   const char *date) {
    const struct price_query query = {.model = e->model, .date = date, .window = e->window};
    const struct price_entry *found;
    return strcmp(e->currency, "USD") == 0 &&
           price_list_find(&found, list, &query, NULL) == OK && found == e;
}

static enum status bill(struct offer *o, const struct price_entry *e,
                        const struct workload *work, struct error *err) {
    struct error why = {0};
    *o = (struct offer){
        .entry = e, .n_above = workload_n_above(work, e), .n_requests = work->n_requests};
    enum status st = workload_bill(&o->bill, work, e, &why);
    if (st == ERR_UNSUPPORTED) {
        o->bill = (struct invoice){0};
        snprintf(o->missing, sizeof(o->missing), "%.15s", why.param);
        return OK;
    }
    return st == OK ? OK
                    : error_set_param(err, st, why.param, "%s: %s", e->model, why.text);
}

static int by_total(const void *left, const void *right) {
    const struct offer *a = left, *b = right;
    if (!*a->missing != !*b->missing) return *a->missing ? 1 : -1;
    if (a->bill.total != b->bill.total) return a->bill.total < b->bill.total ? -1 : 1;
    int order = strcmp(a->entry->model, b->entry->model);
    return order ? order : strcmp(a->entry->window, b->entry->window);
}

enum status offers_of(struct offers *o, const struct price_list *list, const char *date,
                      const struct workload *work, struct error *err) {
    char full[DATE_BYTES];
    enum status st = OK;
    *o = (struct offers){0};
    if (date && !date_in_full(full, date))
        return error_set_param(err, ERR_INPUT, "date",
                               "\"%.40s\" is no date, such as 2025-02-28", date);
    o->items = calloc((size_t)list->n_entries, sizeof(*o->items));
    if (!o->items) return error_set(err, ERR_MEMORY, "no memory for the offers");

    for (int i = 0; i < list->n_entries && st == OK; i++) {
        if (!counts(&list->entries[i], list, date)) continue;
        st = bill(&o->items[o->n_items], &list->entries[i], work, err);
        if (!*o->items[o->n_items++].missing) o->n_billed++;
    }
    if (st == OK)
        qsort(o->items, (size_t)o->n_items, sizeof(*o->items), by_total);
    else
        offers_close(o);
    return st;
}

void offers_close(struct offers *o) {
    free(o->items);
    *o = (struct offers){0};
}

// ---- for people ---------------------------------------------------------------------------------

enum { NAME_BYTES = 100 };

// "deepseek-r1, 16:30-00:30 UTC"
static const char *name_of(char out[NAME_BYTES], const struct price_entry *e) {
    snprintf(out, NAME_BYTES, "%.60s%s%.30s", e->model, *e->window ? ", " : "", e->window);
    return out;
}

static const char *dates_of(char out[NAME_BYTES], const struct price_entry *e) {
    snprintf(out, NAME_BYTES, "%s to %s", *e->valid_from ? e->valid_from : "?",
             *e->valid_to ? e->valid_to : "?");
    return out;
}

// So many digits that no total is rounded; two at least.
static int places_of(const struct offers *o) {
    int n = 2;
    for (int i = 0; i < o->n_billed; i++) {
        int n_here = money_places(o->items[i].bill.total);
        if (n_here > n) n = n_here;
    }
    return n;
}

static void print_offer(FILE *out, const struct offer *o, int64_t cheapest, int n_places) {
    char name[NAME_BYTES], dates[NAME_BYTES], times[24] = "",
                                              total[MONEY_TEXT_BYTES + 1] = "$";
    money_rounded(total + 1, o->bill.total, n_places);
    if (cheapest > 0)
        snprintf(times, sizeof(times), "%.1f x", (double)o->bill.total / (double)cheapest);
    fprintf(out, "%-29s  %-24s  %13s  %8s\n", name_of(name, o->entry),
            dates_of(dates, o->entry), total, times);
    workload_print_step(out, "  ", o->n_above, o->n_requests, o->entry);
}

void offers_print(FILE *out, const struct offers *o) {
    char name[NAME_BYTES];
    const int n_places = places_of(o);
    fprintf(out, "%-29s  %-24s  %13s  %8s\n", "all models, cheapest first", "price holds",
            "total", "times");
    for (int i = 0; i < o->n_billed; i++)
        print_offer(out, &o->items[i], o->items[0].bill.total, n_places);
    for (int i = o->n_billed; i < o->n_items; i++)
        fprintf(out, "left out: %s: no price is known for %s\n",
                name_of(name, o->items[i].entry), o->items[i].missing);
}

// ---- for programs -------------------------------------------------------------------------------

static json_t *json_offer(const struct offer *o) {
    const struct price_entry *e = o->entry;
    bool is_billed = !*o->missing;
    json_t *root = is_billed
                       ? invoice_json(&o->bill)
                       : json_pack("{s:n, s:s}", "total_usd", "no_price_for", o->missing);
    json_t *about =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "model", e->model, "provider",
                  e->provider, "valid_from", e->valid_from, "valid_to", e->valid_to,
                  "window", e->window, "price_step", workload_step_json(o->n_above, e));
    bool is_whole = root && about && json_object_update(about, root) == 0;
    json_decref(root);
    if (is_whole) return about;
    json_decref(about);
    return NULL;
}

json_t *offers_json(const struct offers *o) {
    json_t *list = json_array();
    for (int i = 0; i < o->n_items && list; i++) {
        if (json_array_append_new(list, json_offer(&o->items[i])) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}
