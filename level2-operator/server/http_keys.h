// The keys that open the door. Comparing takes the same time for a wrong key whichever of its bytes
// is wrong, so that nobody can guess a key byte by byte with a stopwatch.
//
// A file of keys has one a line, with a name for logs and limits behind it, as far as there are
// any:
//
//   # key       name    limits
//   sk-9f2c...  team-a  requests-per-minute=60 tokens-per-minute=20000 inside=4
//   sk-77aa...  team-b
//   sk-0b1d...
//
// do:    keep keys in a file (--api-key-file): a command line can be read by other users
// don't: log a key, or any part of one; a key has a name for that
#ifndef LEVEL2_HTTP_KEYS_H
#define LEVEL2_HTTP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/status.h"
#include "level2-operator/service/quota.h"

struct http_key {
    char text[LIMIT_API_KEY_BYTES + 1];
    char name[LIMIT_KEY_NAME + 1]; // "key-1", ... when it was given none
    uint64_t scope;                // the key's hash, never 0
    bool is_from_file;
    struct quota quota;
};

struct http_keys { // all-zero: no key is asked for
    struct http_key keys[LIMIT_API_KEYS];
    int n_keys;
};

// ERR_INPUT when the key is empty or has a byte that no header carries (spaces, control bytes, not
// ASCII) or is known already, ERR_LIMIT above LIMIT_API_KEYS or LIMIT_API_KEY_BYTES.
enum status http_keys_add(struct http_keys *k, const char *key, struct error *err);

// Blank lines and lines that begin with # are skipped. ERR_INPUT when there is no key in it: a
// server meant to be locked is never left open. Messages name the line, not the key.
enum status http_keys_read(struct http_keys *k, const char *path, struct error *err);

// The same for a text in memory; what names it in messages.
enum status http_keys_parse(struct http_keys *k, const char *text, size_t n_text,
                            const char *what, struct error *err);

// Whoever only asks for text must not be an administrator: ERR_INPUT when a key is in both lists. path
// stands before the message.
enum status http_keys_apart(struct http_keys *k, const struct http_keys *admins,
                            const char *path, struct error *err);

// Reads the file once more in place of what was read from one. Who is known before and after keeps
// what he has used, unless his limits have changed. None of admins (NULL: nobody) may be among the new
// ones. After a failure everything is as it was.
enum status http_keys_reload(struct http_keys *k, const char *path,
                             const struct http_keys *admins, struct error *err);

// authorization: the header's value, NULL when there is none. True when it is "Bearer KEY" with a
// known key, or no key is asked for. *scope is then the key's hash, 0 without keys: requests share
// cached prefixes only within a scope.
bool http_keys_check(const struct http_keys *k, const char *authorization, uint64_t *scope);

// The key of a scope; NULL: it is no longer known, or scope is 0.
struct http_key *http_keys_of(struct http_keys *k, uint64_t scope);

// Its name, for the log; "": there is none, or no key was asked for.
const char *http_keys_name(const struct http_keys *k, uint64_t scope);

#endif
