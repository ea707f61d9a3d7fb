// Four levers on one workload.
#include "level1-user/what_if.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/invoice_json.h"

// ---- the workload under each lever --------------------------------------------------------------

void pulled_workload_of(struct pulled_workload *p, const struct workload *now,
                        const struct lever_terms *terms) {
    *p = (struct pulled_workload){.now = *now, .terms = *terms};
    for (int i = 0; i < LEVER_COUNT; i++) {
        p->then[i] = *now;
        p->then[i].used = lever_pull((enum lever)i, &now->used, terms);
    }
}

enum status pulled_workload_add(struct pulled_workload *p, const struct invoice_usage *used,
                                struct error *err) {
    enum status st = workload_add(&p->now, used, err);
    for (int i = 0; i < LEVER_COUNT && st == OK; i++) {
        const struct invoice_usage pulled = lever_pull((enum lever)i, used, &p->terms);
        st = workload_add(&p->then[i], &pulled, err);
    }
    return st;
}

// ---- what it comes to ---------------------------------------------------------------------------

// The list knows prices, not sizes: so the cheapest that is sold at the same hours.
static const struct price_entry *smaller_than(const struct price_entry *entry,
                                              const struct offers *offers) {
    for (int i = 0; i < offers->n_billed; i++) {
        const struct price_entry *e = offers->items[i].entry;
        if (strcmp(e->model, entry->model) != 0 && strcmp(e->window, entry->window) == 0)
            return e;
    }
    return NULL;
}

static void assume(struct what_if_row *row, const struct lever_terms *terms) {
    const size_t n = sizeof(row->assumes);
    char *out = row->assumes;
    switch (row->lever) {
    case LEVER_SHORTER_ANSWER:
        snprintf(out, n, "half as many words say the same: ask for it in the prompt");
        break;
    case LEVER_MAX_TOKENS:
        snprintf(out, n, "at most %" PRId64 " tokens; a longer answer breaks off there",
                 terms->max_tokens);
        break;
    case LEVER_FIXED_BLOCK_FIRST:
        if (terms->fixed)
            snprintf(out, n, "%" PRId64 " tokens never change, and each request finds them",
                     terms->fixed);
        else
            snprintf(out, n, "you say how many tokens never change: --fixed N");
        break;
    default:
        if (row->entry)
            snprintf(out, n, "%.40s answers well enough, with as many tokens: try it",
                     row->entry->model);
        else
            snprintf(out, n, "the list has no other model to try");
        break;
    }
}

static enum status bill_row(struct what_if_row *row, const struct workload *work,
                            int64_t now, struct error *err) {
    struct invoice bill;
    struct error why = {0};
    if (!row->entry) return OK;
    enum status st = workload_bill(&bill, work, row->entry, &why);
    if (st == ERR_UNSUPPORTED) {
        snprintf(row->missing, sizeof(row->missing), "%.15s", why.param);
        return OK;
    }
    if (st != OK) return error_set_param(err, st, why.param, "%s", why.text);
    row->n_above = workload_n_above(work, row->entry);
    row->n_requests = work->n_requests;
    row->total = bill.total;
    row->saved = now - bill.total;
    return OK;
}

static bool is_possible(const struct what_if_row *row) {
    return row->entry && !*row->missing;
}

static int by_saved(const void *left, const void *right) {
    const struct what_if_row *a = left, *b = right;
    if (is_possible(a) != is_possible(b)) return is_possible(a) ? -1 : 1;
    if (a->saved != b->saved) return a->saved > b->saved ? -1 : 1;
    return (int)a->lever - (int)b->lever;
}

enum status what_if_of(struct what_if *w, const struct price_entry *entry,
                       const struct pulled_workload *work, const struct offers *offers,
                       struct error *err) {
    struct invoice now;
    *w = (struct what_if){0};
    enum status st = workload_bill(&now, &work->now, entry, err);
    if (st != OK) return st;
    w->now = now.total;
    for (int i = 0; i < LEVER_COUNT && st == OK; i++) {
        struct what_if_row *row = &w->rows[i];
        row->lever = (enum lever)i;
        row->entry = i == LEVER_SMALLER_MODEL ? smaller_than(entry, offers) : entry;
        assume(row, &work->terms);
        st = bill_row(row, &work->then[i], w->now, err);
    }
    qsort(w->rows, LEVER_COUNT, sizeof(w->rows[0]), by_saved);
    return st;
}

// ---- for people and for programs ----------------------------------------------------------------

static double percent_of(const struct what_if *w, const struct what_if_row *row) {
    return w->now > 0 ? 100 * (double)row->saved / (double)w->now : 0;
}

static int places_of(const struct what_if *w) {
    int n = 2;
    for (int i = 0; i < LEVER_COUNT; i++) {
        int64_t saved = w->rows[i].saved;
        int n_here = money_places(saved < 0 ? -saved : saved);
        if (n_here > n) n = n_here;
    }
    return n;
}

static void print_row(FILE *out, const struct what_if *w, const struct what_if_row *row) {
    char amount[MONEY_TEXT_BYTES + 2] = "-$";
    bool is_dearer = row->saved < 0;
    money_rounded(amount + 2, is_dearer ? -row->saved : row->saved, places_of(w));
    if (is_possible(row))
        fprintf(out, "%-18s  %16s  %7.1f %%\n", lever_name(row->lever),
                is_dearer ? amount : amount + 1, percent_of(w, row));
    else if (row->entry)
        fprintf(out, "%-18s  no price is known for %s\n", lever_name(row->lever),
                row->missing);
    else
        fprintf(out, "%-18s\n", lever_name(row->lever));
    fprintf(out, "    if %s\n", row->assumes);
    if (row->lever == LEVER_SMALLER_MODEL) // the statement tells it of the others
        workload_print_step(out, "    ", row->n_above, row->n_requests, row->entry);
}

void what_if_print(FILE *out, const struct what_if *w) {
    fprintf(out, "%-18s  %16s\n", "what if", "saved");
    for (int i = 0; i < LEVER_COUNT; i++) print_row(out, w, &w->rows[i]);
}

static json_t *json_row(const struct what_if *w, const struct what_if_row *row) {
    char percent[32];
    bool is_known = is_possible(row);
    snprintf(percent, sizeof(percent), "%.1f", percent_of(w, row));
    return json_pack("{s:s, s:s?, s:o, s:o, s:s?, s:o, s:s}", "lever",
                     lever_name(row->lever), "model", row->entry ? row->entry->model : NULL,
                     "total_usd", is_known ? invoice_json_amount(row->total) : json_null(),
                     "saved_usd", is_known ? invoice_json_amount(row->saved) : json_null(),
                     "saved_percent", is_known ? percent : NULL, "price_step",
                     workload_step_json(row->n_above, row->entry), "assumes", row->assumes);
}

json_t *what_if_json(const struct what_if *w) {
    json_t *list = json_array();
    for (int i = 0; i < LEVER_COUNT && list; i++) {
        if (json_array_append_new(list, json_row(w, &w->rows[i])) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}
