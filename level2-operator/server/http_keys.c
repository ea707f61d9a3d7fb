// Reading keys, and comparing without telling how far the comparison came.
#include "level2-operator/server/http_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/number.h"

static const char scheme[] = "Bearer ";

enum { LINE_BYTES = LIMIT_API_KEY_BYTES + 256 };

static bool is_sendable(const char *key) {
    for (const char *c = key; *c; c++) {
        if (*c <= ' ' || *c > '~') return false;
    }
    return *key != '\0';
}

// Looks at every byte of what was given, equal or not.
static bool is_equal(const char *key, const char *given) {
    size_t n_key = strlen(key), n_given = strlen(given);
    unsigned difference = n_key != n_given;
    for (size_t i = 0; i < n_given; i++) {
        difference |= (unsigned char)(key[i % n_key] ^ given[i]);
    }
    return difference == 0;
}

static uint64_t scope_of(const char *key) {
    uint64_t scope = XXH3_64bits(key, strlen(key));
    return scope ? scope : 1; // 0 is the scope of a server without keys
}

enum status http_keys_add(struct http_keys *k, const char *key, struct error *err) {
    if (!is_sendable(key)) {
        return error_set(err, ERR_INPUT,
                         "an API key must be visible ASCII characters without spaces");
    }
    if (strlen(key) > LIMIT_API_KEY_BYTES) {
        return error_set(err, ERR_LIMIT, "an API key has more than %d bytes",
                         LIMIT_API_KEY_BYTES);
    }
    if (k->n_keys >= LIMIT_API_KEYS) {
        return error_set(err, ERR_LIMIT, "more than %d API keys", LIMIT_API_KEYS);
    }
    if (http_keys_of(k, scope_of(key)))
        return error_set(err, ERR_INPUT,
                         "this API key is there already: which limits count?");
    struct http_key *added = &k->keys[k->n_keys++];
    *added = (struct http_key){.scope = scope_of(key)};
    snprintf(added->text, sizeof(added->text), "%s", key);
    snprintf(added->name, sizeof(added->name), "key-%d", k->n_keys);
    return OK;
}

// ---- a line -------------------------------------------------------------------------------------

static bool is_name(const char *word) {
    size_t n = strlen(word);
    return n <= LIMIT_KEY_NAME &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "-_.") == n;
}

static enum status set_limit(struct quota *q, const char *word, struct error *err) {
    const struct {
        const char *name;
        int *limit;
    } rows[] = {
        {"inside=",              &q->max_inside         },
        {"requests-per-minute=", &q->requests_per_minute},
        {"tokens-per-minute=",   &q->tokens_per_minute  }
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(word, rows[i].name, n) != 0) continue;
        if (number_int(word + n, rows[i].limit) && *rows[i].limit > 0) return OK;
        return error_set(err, ERR_INPUT, "%s needs a whole number above 0", rows[i].name);
    }
    return error_set(err, ERR_INPUT,
                     "a limit is inside=N, requests-per-minute=N or tokens-per-minute=N");
}

// "KEY [NAME] [LIMIT=N]..."; the line is cut into words.
static enum status take_line(struct http_keys *k, char *line, struct error *err) {
    static const char blanks[] = " \t\r";
    char *rest = NULL;
    const char *word = strtok_r(line, blanks, &rest);
    if (!word || *word == '#') return OK;

    enum status st = http_keys_add(k, word, err);
    if (st) return st;
    struct http_key *key = &k->keys[k->n_keys - 1];
    key->is_from_file = true;
    bool is_second = true;
    while (!st && (word = strtok_r(NULL, blanks, &rest))) {
        if (strchr(word, '=')) {
            st = set_limit(&key->quota, word, err);
        } else if (is_second && is_name(word)) {
            snprintf(key->name, sizeof(key->name), "%s", word);
        } else {
            st = error_set(err, ERR_INPUT,
                           "behind the key stand its name, of up to %d letters, digits and "
                           "-_., and its limits",
                           LIMIT_KEY_NAME);
        }
        is_second = false;
    }
    return st;
}

// ---- a file -------------------------------------------------------------------------------------

enum status http_keys_parse(struct http_keys *k, const char *text, size_t n_text,
                            const char *what, struct error *err) {
    int n_before = k->n_keys;
    const char *end = text + n_text;

    if (n_text > 0 && memchr(text, '\0', n_text)) {
        return error_set(err, ERR_INPUT, "%s: not a text file", what);
    }
    for (int n_line = 1; text < end; n_line++) {
        char line[LINE_BYTES];
        struct error why = {0};
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        if (n >= sizeof(line)) {
            return error_set(err, ERR_LIMIT, "%s line %d: longer than %d bytes", what,
                             n_line, LINE_BYTES - 1);
        }
        memcpy(line, text, n);
        line[n] = '\0';
        enum status st = take_line(k, line, &why);
        if (st) return error_set(err, st, "%s line %d: %s", what, n_line, why.text);
        text += n + 1;
    }
    if (k->n_keys == n_before) {
        return error_set(err, ERR_INPUT, "%s: there is no API key in it; one per line",
                         what);
    }
    return OK;
}

// Bytes up to the end or the limit; a file that is written to meanwhile is short, or half of it new.
static enum status take_bytes(int fd, char *text, size_t *n_text, const char *path,
                              struct error *err) {
    ssize_t n = 1;
    *n_text = 0;
    while (n > 0 && *n_text <= LIMIT_KEY_FILE_BYTES) {
        n = read(fd, text + *n_text, LIMIT_KEY_FILE_BYTES + 1 - *n_text);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            *n_text += (size_t)n;
    }
    if (n < 0) return error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    if (*n_text <= LIMIT_KEY_FILE_BYTES) return OK;
    return error_set(err, ERR_LIMIT, "%s: more than %d bytes", error_path(path),
                     LIMIT_KEY_FILE_BYTES);
}

// Not mapped: whoever writes into the file while we read it would end the server (SIGBUS).
enum status http_keys_read(struct http_keys *k, const char *path, struct error *err) {
    struct stat info;
    size_t n_text = 0;
    char *text = NULL;
    enum status st = OK;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // NONBLOCK: it may be a pipe
    if (fd < 0 || fstat(fd, &info) != 0)
        st = error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    else if (!S_ISREG(info.st_mode))
        st = error_set(err, ERR_IO, "%s: not a regular file", error_path(path));
    else if (!(text = malloc(LIMIT_KEY_FILE_BYTES + 1)))
        st = error_set(err, ERR_MEMORY, "no memory to read %s", error_path(path));
    if (!st) st = take_bytes(fd, text, &n_text, path, err);
    if (!st) st = http_keys_parse(k, text, n_text, error_path(path), err);
    free(text);
    if (fd >= 0) close(fd);
    return st;
}

enum status http_keys_apart(struct http_keys *k, const struct http_keys *admins,
                            const char *path, struct error *err) {
    for (int i = 0; i < admins->n_keys; i++) {
        const struct http_key *key = &admins->keys[i];
        if (!http_keys_of(k, key->scope)) continue;
        return error_set(err, ERR_INPUT,
                         "%s: %s opens the API, too; an administrator needs a key of his "
                         "own",
                         error_path(path), key->name);
    }
    return OK;
}

enum status http_keys_reload(struct http_keys *k, const char *path,
                             const struct http_keys *admins, struct error *err) {
    struct http_keys fresh = {0};
    for (int i = 0; i < k->n_keys; i++) {
        if (!k->keys[i].is_from_file) fresh.keys[fresh.n_keys++] = k->keys[i];
    }
    enum status st = http_keys_read(&fresh, path, err);
    if (!st && admins) st = http_keys_apart(&fresh, admins, path, err);
    if (st) return st;

    for (int i = 0; i < fresh.n_keys; i++) {
        struct quota *q = &fresh.keys[i].quota;
        const struct http_key *old = http_keys_of(k, fresh.keys[i].scope);
        if (!old || !fresh.keys[i].is_from_file) continue;
        if (quota_same_limits(q, &old->quota)) {
            *q = old->quota;
        } else {
            q->n_inside = old->quota.n_inside; // with full buckets
        }
    }
    *k = fresh;
    return OK;
}

// ---- asking -------------------------------------------------------------------------------------

bool http_keys_check(const struct http_keys *k, const char *authorization,
                     uint64_t *scope) {
    size_t n_scheme = sizeof(scheme) - 1;
    *scope = 0;
    if (k->n_keys == 0) return true;
    if (!authorization || strncasecmp(authorization, scheme, n_scheme) != 0) return false;

    const char *given = authorization + n_scheme;
    given += strspn(given, " ");
    bool is_known = false;
    for (int i = 0; i < k->n_keys; i++) is_known |= is_equal(k->keys[i].text, given);
    if (!is_known) return false;
    *scope = scope_of(given);
    return true;
}

struct http_key *http_keys_of(struct http_keys *k, uint64_t scope) {
    for (int i = 0; i < k->n_keys; i++) {
        if (k->keys[i].scope == scope) return &k->keys[i];
    }
    return NULL;
}

const char *http_keys_name(const struct http_keys *k, uint64_t scope) {
    for (int i = 0; i < k->n_keys; i++) {
        if (k->keys[i].scope == scope) return k->keys[i].name;
    }
    return "";
}
