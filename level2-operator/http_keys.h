// The keys that open the door. Comparing takes the same time for a wrong key whichever of its bytes
// is wrong, so that nobody can guess a key byte by byte with a stopwatch.
//
// do:    keep keys in a file (--api-key-file): a command line can be read by other users
// don't: log a key, or any part of one
#ifndef LEVEL2_HTTP_KEYS_H
#define LEVEL2_HTTP_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/limits.h"
#include "common/status.h"

struct http_keys {                    // all-zero: no key is asked for
    const char *keys[LIMIT_API_KEYS]; // in the arena, or the caller's
    int n_keys;
};

// The key is borrowed. ERR_INPUT when it is empty or has a byte that no header carries (spaces,
// control bytes, not ASCII), ERR_LIMIT above LIMIT_API_KEYS.
enum status http_keys_add(struct http_keys *k, const char *key, struct error *err);

// One key per line; blank lines and lines that begin with # are skipped. ERR_INPUT when there is
// none: a server meant to be locked is never left open. Messages name the line, not the key.
enum status http_keys_read(struct http_keys *k, const char *path, struct arena *arena,
                           struct error *err);

// authorization: the header's value, NULL when there is none. True when it is "Bearer KEY" with a
// known key, or no key is asked for. *scope is then the key's hash, 0 without keys: requests share
// cached prefixes only within a scope.
bool http_keys_check(const struct http_keys *k, const char *authorization, uint64_t *scope);

#endif
