// Offers from a file that anyone may have edited: each field is checked, each error says where.
#include "level1-user/gpu_hours.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/data_record.h"
#include "common/limits.h"
#include "level1-user/money.h"

static enum status read_dollars(int64_t *price, const struct data_record *at,
                                const char *field, struct error *err) {
    const char *text;
    enum status st = data_text(&text, at, field, err);
    if (st == OK && !money_parse_price(text, price))
        st = data_refuse(at, field,
                         "must be dollars an hour as a decimal, such as \"1.99\"", err);
    return st;
}

static enum status read_offer(struct gpu_offer *o, const struct data_record *at,
                              struct error *err) {
    enum status st =
        data_check_fields(at, " gpu listed_as offer low high tag source notes ",
                          "is not a field of an offer", err);
    if (st == OK) st = data_text(&o->gpu, at, "gpu", err);
    if (st == OK) st = data_text(&o->listed_as, at, "listed_as", err);
    if (st == OK) st = data_text(&o->offer, at, "offer", err);
    if (st == OK) st = data_text(&o->tag, at, "tag", err);
    if (st == OK) st = data_text(&o->source, at, "source", err);
    if (st == OK) st = data_text(&o->notes, at, "notes", err);
    if (st == OK) st = read_dollars(&o->low, at, "low", err);
    if (st == OK) st = read_dollars(&o->high, at, "high", err);
    if (st == OK && !*o->gpu) st = data_refuse(at, "gpu", "is missing", err);
    if (st == OK && o->low > o->high) st = data_refuse(at, "low", "is above high", err);
    return st;
}

static enum status read_offers(struct gpu_hours *list, const char *name,
                               struct error *err) {
    const json_t *offers;
    size_t n;
    enum status st =
        data_list(&offers, &n, list->document, "offers", LIMIT_GPU_OFFERS, name, err);
    if (st != OK) return st;
    list->items = calloc(n, sizeof(*list->items));
    if (!list->items) return error_set(err, ERR_MEMORY, "%s: no memory for it", name);

    for (size_t i = 0; i < n && st == OK; i++) {
        const struct data_record at = {name, "offers", i, json_array_get(offers, i)};
        st = read_offer(&list->items[i], &at, err);
    }
    list->n_items = (int)n;
    return st;
}

// Takes the document over. After a failure the list is closed.
static enum status take(struct gpu_hours *list, json_t *root, const char *name,
                        struct error *err) {
    list->document = root;
    enum status st = read_offers(list, name, err);
    if (st != OK) gpu_hours_close(list);
    return st;
}

enum status gpu_hours_parse(struct gpu_hours *list, const char *bytes, size_t n_bytes,
                            const char *name, struct error *err) {
    json_t *root;
    *list = (struct gpu_hours){0};
    enum status st = data_document(&root, bytes, n_bytes, LIMIT_GPU_BYTES, name, err);
    return st == OK ? take(list, root, name, err) : st;
}

enum status gpu_hours_open(struct gpu_hours *list, const char *path, struct error *err) {
    json_t *root;
    *list = (struct gpu_hours){0};
    enum status st = data_document_open(&root, path, LIMIT_GPU_BYTES, err);
    return st == OK ? take(list, root, error_path(path), err) : st;
}

void gpu_hours_close(struct gpu_hours *list) {
    free(list->items);
    json_decref(list->document);
    *list = (struct gpu_hours){0};
}

// ---- finding ------------------------------------------------------------------------------------

// "t4, l4, a10g": each once, while there is room.
static void list_names(char *out, size_t out_bytes, const struct gpu_hours *list) {
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < list->n_items; i++) {
        bool is_new = true;
        for (int j = 0; j < i && is_new; j++)
            is_new = strcmp(list->items[i].gpu, list->items[j].gpu) != 0;
        if (!is_new || n + strlen(list->items[i].gpu) + 3 > out_bytes) continue;
        n += (size_t)sprintf(out + n, "%s%s", n ? ", " : "", list->items[i].gpu);
    }
}

enum status gpu_hours_find(const struct gpu_offer **lowest,
                           const struct gpu_offer **highest, const struct gpu_hours *list,
                           const char *gpu, struct error *err) {
    char names[170];
    *lowest = *highest = NULL;
    for (int i = 0; i < list->n_items; i++) {
        const struct gpu_offer *o = &list->items[i];
        if (strcmp(o->gpu, gpu) != 0) continue;
        if (!*lowest || o->low < (*lowest)->low) *lowest = o;
        if (!*highest || o->high > (*highest)->high) *highest = o;
    }
    if (*lowest) return OK;
    list_names(names, sizeof(names), list);
    return error_set_param(err, ERR_INPUT, "own", "no rent of \"%.40s\" is known; of: %s",
                           gpu, names);
}
