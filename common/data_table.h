// A data file that is one list of equal entries, read into an array of structs.
//
//   {"about": "...", "models": [{...}, {...}]}  ──data_table_open──▶  rows[0], rows[1]
//
// do:    keep the texts of a row no longer than the table: they live in its document
#ifndef COMMON_DATA_TABLE_H
#define COMMON_DATA_TABLE_H

#include "common/data_record.h"

// Fills one zeroed row.
typedef enum status data_row_fn(void *row, const struct data_record *at, struct error *err);

struct data_table_kind {
    const char *list; // "models"
    size_t row_bytes;
    data_row_fn *read;
};

struct data_table { // all-zero: closed
    // owned
    json_t *document;
    void *rows; // (n_rows) of kind->row_bytes
    int n_rows;
};

// ERR_FORMAT: not JSON, no such list, or read refuses a row. ERR_LIMIT: above LIMIT_TABLE_BYTES or
// LIMIT_TABLE_ROWS. ERR_MEMORY; data_table_open also ERR_IO. On failure the table is closed. name: how
// errors call the file.
enum status data_table_parse(struct data_table *t, const struct data_table_kind *kind,
                             const char *bytes, size_t n_bytes, const char *name,
                             struct error *err);
enum status data_table_open(struct data_table *t, const struct data_table_kind *kind,
                            const char *path, struct error *err);
void data_table_close(struct data_table *t); // safe on a zeroed or closed table

#endif
