// Finding a price in the list; and where none fits, the first thing asked for that the list does not have,
// with what it has in its place.
#include "level1-user/price_list.h"

#include <stdio.h>
#include <string.h>

#include "common/data_record.h"

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
