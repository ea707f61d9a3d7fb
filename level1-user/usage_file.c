// Lines of usage. A line longer than the limit is refused before it is read to its end.
#include "level1-user/usage_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/usage_record.h"

struct line {
    char *bytes; // (LIMIT_USAGE_LINE_BYTES), owned
    size_t n;
    int64_t number; // of the line, from 1 on
};

enum reading { LINE_READ, LINE_NONE, LINE_TOO_LONG };

static enum reading read_line(struct line *l, FILE *in) {
    int c;
    l->n = 0;
    l->number++;
    while ((c = getc(in)) != EOF && c != '\n') {
        if (l->n == LIMIT_USAGE_LINE_BYTES) return LINE_TOO_LONG;
        l->bytes[l->n++] = (char)c;
    }
    return c == EOF && (l->n == 0 || ferror(in)) ? LINE_NONE : LINE_READ;
}

static bool is_blank(const struct line *l) {
    for (size_t i = 0; i < l->n; i++) {
        if (!memchr(" \t\r", l->bytes[i], 3)) return false;
    }
    return true;
}

// Reads all lines; on failure err has no place yet. *n_records: how many were taken.
static enum status read_lines(struct line *l, int64_t *n_records, FILE *in,
                              usage_take_fn *take, void *ctx, struct error *err) {
    enum reading reading;
    while ((reading = read_line(l, in)) == LINE_READ) {
        struct invoice_usage used;
        if (is_blank(l)) continue;
        enum status st = usage_record_parse(&used, l->bytes, l->n, err);
        if (st == OK) st = take(ctx, &used, err);
        if (st != OK) return st;
        ++*n_records;
    }
    if (reading == LINE_TOO_LONG)
        return error_set(err, ERR_FORMAT, "the line is above %d bytes",
                         LIMIT_USAGE_LINE_BYTES);
    return OK;
}

enum status usage_file_read(FILE *in, const char *name, usage_take_fn *take, void *ctx,
                            struct error *err) {
    int64_t n_records = 0;
    struct error why = {0};
    struct line line = {.bytes = malloc(LIMIT_USAGE_LINE_BYTES)};
    if (!line.bytes) return error_set(err, ERR_MEMORY, "%s: no memory for a line", name);

    errno = 0;
    enum status st = read_lines(&line, &n_records, in, take, ctx, &why);
    if (st != OK)
        error_set_param(err, st, why.param, "%s:%" PRId64 ": %s", name, line.number,
                        why.text);
    else if (ferror(in))
        st = error_set(err, ERR_IO, "%s: %s", name, strerror(errno));
    else if (n_records == 0)
        st = error_set(err, ERR_FORMAT, "%s: no usage in it", name);
    free(line.bytes);
    return st;
}

enum status usage_file_open_read(const char *path, usage_take_fn *take, void *ctx,
                                 struct error *err) {
    FILE *in = fopen(path, "r");
    if (!in) return error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    enum status st = usage_file_read(in, error_path(path), take, ctx, err);
    fclose(in);
    return st;
}
