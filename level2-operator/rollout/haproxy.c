// HAProxy's CSV to servers. The number of columns grows from version to version, so that each is looked up
// in the first line.
#include "level2-operator/rollout/haproxy.h"

#include <string.h>

// What we read of a line. The two names come first.
enum column {
    COLUMN_NAME,
    COLUMN_STATUS,
    COLUMN_ADDRESS, // not there for a socket that may not change anything
    COLUMN_RUNNING,
    COLUMN_WAITING,
    COLUMN_2XX,
    COLUMN_3XX,
    COLUMN_4XX,
    COLUMN_5XX,
    COLUMN_OTHER,
    COLUMN_NO_CONNECTION,
    COLUMN_NO_ANSWER,
    COLUMN_BROKEN,
    COLUMN_RETRIES,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "svname",   "status",   "addr",       "scur", "qcur",  "hrsp_2xx", "hrsp_3xx",
    "hrsp_4xx", "hrsp_5xx", "hrsp_other", "econ", "eresp", "srv_abrt", "wretr",
};

// Of a host and port as numbers. What else an address may be ("unix") nobody can be asked at.
static const char address_letters[] = "0123456789abcdefABCDEF.:[]";

struct cursor {
    const char *at, *end;
    int line;
};

struct row {
    char text[COLUMN_COUNT][LIMIT_REPLICA_NAME_BYTES]; // "" where the row has none
    bool is_there[COLUMN_COUNT];
};

// ---- CSV ----------------------------------------------------------------------------------------

// One field, with its quotes taken off; what of it does not fit is dropped, and *fits says so. The cursor
// then stands on the comma, the newline or the end.
static enum status read_field(struct cursor *c, char *text, size_t n_room, bool *fits,
                              struct error *err) {
    size_t n = 0;
    bool is_quoted = c->at < c->end && *c->at == '"';
    bool is_open = is_quoted;

    *fits = true;
    if (is_quoted) c->at++;
    for (; c->at < c->end && (is_open || (*c->at != ',' && *c->at != '\n')); c->at++) {
        if (is_quoted && *c->at == '"') {
            is_open = c->at + 1 < c->end && c->at[1] == '"'; // two of them are one
            if (!is_open) {
                c->at++;
                break;
            }
            c->at++;
        }
        if (n + 1 < n_room) {
            text[n++] = *c->at;
        } else {
            *fits = false;
        }
    }
    text[n] = '\0';
    if (is_open)
        return error_set(err, ERR_FORMAT, "HAProxy's table, line %d: a quote does not end",
                         c->line);
    if (c->at < c->end && *c->at != ',' && *c->at != '\n')
        return error_set(err, ERR_FORMAT,
                         "HAProxy's table, line %d: text behind a closing quote", c->line);
    return OK;
}

// Whether another field follows on this line.
static bool next_field(struct cursor *c) {
    if (c->at < c->end && *c->at == ',') {
        c->at++;
        return true;
    }
    if (c->at < c->end) c->at++; // the newline
    c->line++;
    return false;
}

// The first line: "# pxname,svname,...". place[i]: which of our columns the i-th is, or COLUMN_COUNT.
static enum status read_header(struct cursor *c, unsigned char *place, int *n_columns,
                               struct error *err) {
    char name[LIMIT_REPLICA_NAME_BYTES];
    bool fits, is_known[COLUMN_COUNT] = {false};
    enum status st;

    if (c->end - c->at < 2 || memcmp(c->at, "# ", 2) != 0)
        return error_set(err, ERR_FORMAT,
                         "HAProxy's table does not begin with \"# pxname,...\"");
    c->at += 2;
    *n_columns = 0;
    do {
        if (*n_columns == LIMIT_HAPROXY_COLUMNS)
            return error_set(err, ERR_LIMIT, "HAProxy's table has more than %d columns",
                             LIMIT_HAPROXY_COLUMNS);
        st = read_field(c, name, sizeof(name), &fits, err);
        if (st) return st;
        int i = 0;
        while (i < COLUMN_COUNT && (is_known[i] || strcmp(name, column_names[i]) != 0)) i++;
        if (i < COLUMN_COUNT) is_known[i] = true;
        place[(*n_columns)++] = (unsigned char)i;
    } while (next_field(c));

    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (!is_known[i] && i != COLUMN_ADDRESS)
            return error_set(err, ERR_FORMAT, "HAProxy's table has no column %s",
                             column_names[i]);
    }
    return OK;
}

static enum status read_row(struct cursor *c, const unsigned char *place, int n_columns,
                            struct row *row, struct error *err) {
    char dropped[2];
    int line = c->line;
    int i = 0;

    memset(row, 0, sizeof(*row));
    do {
        int column = i < n_columns ? place[i] : COLUMN_COUNT;
        bool fits, is_ours = column < COLUMN_COUNT;
        enum status st =
            read_field(c, is_ours ? row->text[column] : dropped,
                       is_ours ? sizeof(row->text[column]) : sizeof(dropped), &fits, err);
        if (st) return st;
        if (is_ours && !fits)
            return error_set(err, ERR_LIMIT,
                             "HAProxy's table, line %d: %s is longer than %zu bytes", line,
                             column_names[column], sizeof(row->text[column]) - 1);
        if (is_ours) row->is_there[column] = true;
        i++;
    } while (next_field(c));
    return OK;
}

// ---- values -------------------------------------------------------------------------------------

// An empty field is a counter that this kind of line does not have.
static enum status read_count(const struct row *row, enum column column, int line,
                              int64_t *n, struct error *err) {
    const char *text = row->text[column];
    *n = 0;
    if (*text == '\0') return OK;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9')
            return error_set(err, ERR_FORMAT,
                             "HAProxy's table, line %d: %s is \"%s\", not a number", line,
                             column_names[column], text);
        if (*n > (INT64_MAX / COLUMN_COUNT - 9) / 10) // their sum must fit, too
            return error_set(err, ERR_LIMIT,
                             "HAProxy's table, line %d: %s is too large: %s", line,
                             column_names[column], text);
        *n = 10 * *n + (*p - '0');
    }
    return OK;
}

// "UP", "UP 1/2" (one miss so far), "no check", "DRAIN", "DRAIN 1/2", "MAINT (via a/b)", "DOWN 1/2", "NOLB".
static enum haproxy_state state_of(const char *status) {
    if (strncmp(status, "UP", 2) == 0 || strcmp(status, "no check") == 0) return HAPROXY_UP;
    if (strncmp(status, "DRAIN", 5) == 0) return HAPROXY_DRAINING;
    if (strncmp(status, "MAINT", 5) == 0) return HAPROXY_MAINT;
    return HAPROXY_DOWN;
}

static enum status server_of_row(struct haproxy_server *s, const struct row *row, int line,
                                 struct error *err) {
    int64_t n[COLUMN_COUNT] = {0};

    if (!row->text[COLUMN_NAME][0] || !row->text[COLUMN_STATUS][0])
        return error_set(
            err, ERR_FORMAT, "HAProxy's table, line %d: no %s", line,
            column_names[row->text[COLUMN_NAME][0] ? COLUMN_STATUS : COLUMN_NAME]);
    for (int i = COLUMN_RUNNING; i < COLUMN_COUNT; i++) {
        enum status st = read_count(row, (enum column)i, line, &n[i], err);
        if (st) return st;
    }
    if (!haproxy_is_name(row->text[COLUMN_NAME]))
        return error_set(err, ERR_FORMAT, "HAProxy's table, line %d: svname is \"%s\"",
                         line, row->text[COLUMN_NAME]);
    memset(s, 0, sizeof(*s));
    memcpy(s->name, row->text[COLUMN_NAME], sizeof(s->name));
    if (row->text[COLUMN_ADDRESS][strspn(row->text[COLUMN_ADDRESS], address_letters)] ==
        '\0')
        memcpy(s->address, row->text[COLUMN_ADDRESS], sizeof(s->address));
    s->state = state_of(row->text[COLUMN_STATUS]);
    s->n_sessions = n[COLUMN_RUNNING] + n[COLUMN_WAITING];
    // What broke off or was tried again has no answer of its own to be counted by.
    int64_t n_unanswered = n[COLUMN_NO_CONNECTION] + n[COLUMN_NO_ANSWER] +
                           n[COLUMN_BROKEN] + n[COLUMN_RETRIES];
    s->n_errors = n[COLUMN_5XX] + n_unanswered;
    s->n_requests = n[COLUMN_2XX] + n[COLUMN_3XX] + n[COLUMN_4XX] + n[COLUMN_5XX] +
                    n[COLUMN_OTHER] + n_unanswered;
    return OK;
}

// ---- public -------------------------------------------------------------------------------------

enum status haproxy_parse(struct haproxy_servers *servers, const char *text, size_t n_bytes,
                          struct error *err) {
    struct cursor c = {.at = text, .end = text + n_bytes, .line = 1};
    struct haproxy_servers found = {.n_items = 0};
    unsigned char place[LIMIT_HAPROXY_COLUMNS];
    int n_columns = 0;

    if (memchr(text, '\0', n_bytes))
        return error_set(err, ERR_FORMAT, "HAProxy's table has a NUL byte in it");
    enum status st = read_header(&c, place, &n_columns, err);
    while (!st && c.at < c.end) {
        struct row row;
        int line = c.line;
        if (*c.at == '\n') { // the table ends with an empty line
            next_field(&c);
            continue;
        }
        st = read_row(&c, place, n_columns, &row, err);
        if (!st && found.n_items == LIMIT_REPLICAS)
            st = error_set(err, ERR_LIMIT, "HAProxy's table has more than %d servers",
                           LIMIT_REPLICAS);
        if (!st) st = server_of_row(&found.items[found.n_items], &row, line, err);
        if (!st && haproxy_find(&found, found.items[found.n_items].name) >= 0)
            st = error_set(err, ERR_FORMAT, "HAProxy's table, line %d: server %s again",
                           line, found.items[found.n_items].name);
        if (!st) found.n_items++;
    }
    if (!st) *servers = found;
    return st;
}

bool haproxy_is_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";
    size_t n = strlen(name);
    return n > 0 && n < LIMIT_REPLICA_NAME_BYTES && strspn(name, letters) == n;
}

int haproxy_find(const struct haproxy_servers *servers, const char *name) {
    for (int i = 0; i < servers->n_items; i++) {
        if (strcmp(servers->items[i].name, name) == 0) return i;
    }
    return -1;
}

const char *haproxy_state_name(enum haproxy_state state) {
    static const char *const names[HAPROXY_STATE_COUNT] = {"up", "draining", "down",
                                                           "in maintenance"};
    return names[state];
}
