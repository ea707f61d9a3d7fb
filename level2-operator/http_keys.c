// Reading keys, and comparing without telling how far the comparison came.
#include "level2-operator/http_keys.h"

#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "common/mapped_file.h"

static const char scheme[] = "Bearer ";

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

enum status http_keys_add(struct http_keys *k, const char *key, struct error *err) {
    if (!is_sendable(key)) {
        return error_set(err, ERR_INPUT,
                         "an API key must be visible ASCII characters without spaces");
    }
    if (k->n_keys >= LIMIT_API_KEYS) {
        return error_set(err, ERR_LIMIT, "more than %d API keys", LIMIT_API_KEYS);
    }
    k->keys[k->n_keys++] = key;
    return OK;
}

static char *next_line(char **text) {
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : NULL;
    if (end) *end = '\0';
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t\r", line[n - 1])) line[--n] = '\0';
    return line;
}

enum status http_keys_read(struct http_keys *k, const char *path, struct arena *arena,
                           struct error *err) {
    struct mapped_file file;
    struct error why = {0};

    enum status st = mapped_file_open(&file, path, err);
    if (st) return st;
    char *text =
        arena_copy(arena, file.bytes ? (const void *)file.bytes : "", file.n_bytes);
    bool has_zero_byte = text && strlen(text) != file.n_bytes;
    mapped_file_close(&file);
    if (!text) return error_set(err, ERR_MEMORY, "%s: too large for a file of keys", path);
    if (has_zero_byte) return error_set(err, ERR_INPUT, "%s: not a text file", path);

    int n_before = k->n_keys;
    for (int n_line = 1; text; n_line++) {
        const char *line = next_line(&text);
        if (*line == '\0' || *line == '#') continue;
        st = http_keys_add(k, line, &why);
        if (st) return error_set(err, st, "%s line %d: %s", path, n_line, why.text);
    }
    if (k->n_keys == n_before) {
        return error_set(err, ERR_INPUT, "%s: there is no API key in it; one per line",
                         path);
    }
    return OK;
}

bool http_keys_check(const struct http_keys *k, const char *authorization,
                     uint64_t *scope) {
    size_t n_scheme = sizeof(scheme) - 1;
    *scope = 0;
    if (k->n_keys == 0) return true;
    if (!authorization || strncasecmp(authorization, scheme, n_scheme) != 0) return false;

    const char *given = authorization + n_scheme;
    given += strspn(given, " ");
    bool is_known = false;
    for (int i = 0; i < k->n_keys; i++) is_known |= is_equal(k->keys[i], given);
    if (!is_known) return false;
    *scope = XXH3_64bits(given, strlen(given));
    if (*scope == 0) *scope = 1; // 0 is the scope of a server without keys
    return true;
}
