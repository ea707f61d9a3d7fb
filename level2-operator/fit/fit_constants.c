// Two small tables.
#include "level2-operator/fit/fit_constants.h"

#include <string.h>

static const int64_t most = INT64_C(1) << 53;

static enum status read_overhead(void *row, const struct data_record *at,
                                 struct error *err) {
    struct fit_overhead *o = row;
    enum status st = data_check_fields(
        at, " name listed_as low_bytes high_bytes as_printed tag source notes ",
        "is not a field of an overhead", err);
    if (st == OK) st = data_name(&o->name, at, "name", err);
    if (st == OK) st = data_text(&o->listed_as, at, "listed_as", err);
    if (st == OK) st = data_text(&o->printed, at, "as_printed", err);
    if (st == OK) st = data_text(&o->tag, at, "tag", err);
    if (st == OK) st = data_text(&o->source, at, "source", err);
    if (st == OK) st = data_text(&o->notes, at, "notes", err);
    if (st == OK) st = data_number(&o->low_bytes, at, "low_bytes", 0, most, err);
    if (st == OK) st = data_number(&o->high_bytes, at, "high_bytes", 0, most, err);
    if (st == OK && o->low_bytes > o->high_bytes)
        st = data_refuse(at, "low_bytes", "is above high_bytes", err);
    return st;
}

static enum status read_rate(void *row, const struct data_record *at, struct error *err) {
    struct fit_rate *r = row;
    enum status st = data_check_fields(at, " name bytes_per_s tag source notes ",
                                       "is not a field of a rate", err);
    if (st == OK) st = data_name(&r->name, at, "name", err);
    if (st == OK) st = data_text(&r->tag, at, "tag", err);
    if (st == OK) st = data_text(&r->source, at, "source", err);
    if (st == OK) st = data_text(&r->notes, at, "notes", err);
    if (st == OK) st = data_number(&r->bytes_per_s, at, "bytes_per_s", 1, most, err);
    if (st == OK && !r->bytes_per_s) st = data_refuse(at, "bytes_per_s", "is missing", err);
    return st;
}

const struct data_table_kind fit_overhead_table = {"overheads", sizeof(struct fit_overhead),
                                                   read_overhead};
const struct data_table_kind fit_rate_table = {"rates", sizeof(struct fit_rate), read_rate};

const struct fit_overhead *fit_overhead_find(const struct data_table *t, const char *name) {
    const struct fit_overhead *rows = t->rows;
    for (int i = 0; i < t->n_rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}

const struct fit_rate *fit_rate_find(const struct data_table *t, const char *name) {
    const struct fit_rate *rows = t->rows;
    for (int i = 0; i < t->n_rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}
