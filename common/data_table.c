// One loop for all tables.
#include "common/data_table.h"

#include <stdlib.h>

#include "common/limits.h"

static enum status read_rows(struct data_table *t, const struct data_table_kind *kind,
                             const char *name, struct error *err) {
    const json_t *records;
    size_t n;
    enum status st =
        data_list(&records, &n, t->document, kind->list, LIMIT_TABLE_ROWS, name, err);
    if (st != OK) return st;
    t->rows = calloc(n, kind->row_bytes);
    if (!t->rows) return error_set(err, ERR_MEMORY, "%s: no memory for it", name);

    for (size_t i = 0; i < n && st == OK; i++) {
        const struct data_record at = {name, kind->list, i, json_array_get(records, i)};
        st = kind->read((char *)t->rows + i * kind->row_bytes, &at, err);
    }
    t->n_rows = (int)n;
    return st;
}

// Takes the document over.
static enum status take(struct data_table *t, const struct data_table_kind *kind,
                        json_t *document, const char *name, struct error *err) {
    t->document = document;
    enum status st = read_rows(t, kind, name, err);
    if (st != OK) data_table_close(t);
    return st;
}

enum status data_table_parse(struct data_table *t, const struct data_table_kind *kind,
                             const char *bytes, size_t n_bytes, const char *name,
                             struct error *err) {
    json_t *document;
    *t = (struct data_table){0};
    enum status st = data_document(&document, bytes, n_bytes, LIMIT_TABLE_BYTES, name, err);
    return st == OK ? take(t, kind, document, name, err) : st;
}

enum status data_table_open(struct data_table *t, const struct data_table_kind *kind,
                            const char *path, struct error *err) {
    json_t *document;
    *t = (struct data_table){0};
    enum status st = data_document_open(&document, path, LIMIT_TABLE_BYTES, err);
    return st == OK ? take(t, kind, document, error_path(path), err) : st;
}

void data_table_close(struct data_table *t) {
    free(t->rows);
    json_decref(t->document);
    *t = (struct data_table){0};
}
