// What a serial engine remembers: the keys and values of one sequence, and which tokens they are.
// A new request keeps the longest beginning that it shares with them and computes the rest.
//
//   ids    [ you are a helpful bot . | what is 2 + 2 ? | 4 ]     the last request
//   prompt [ you are a helpful bot . | who wrote Emma ?       ]     shares the first part
//
// One table of one block that is as long as the context: level 4 has many short ones.
#ifndef LEVEL2_SERIAL_CACHE_H
#define LEVEL2_SERIAL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/token.h"
#include "level2-operator/model/kv.h"

struct serial_cache {
    struct kv_pool pool;   // one block
    struct kv_table table; // n_tokens: how many are known
    int block;             // the table's only entry
    token_id *ids;         // (n_ctx) owned by the arena: the tokens of the table
    uint64_t scope;        // whose they are
    bool no_reuse;         // every request starts from nothing
};

// Bytes that serial_cache_init takes from its arena, but for the pool's block.
size_t serial_cache_bytes(int n_ctx);

enum status serial_cache_init(struct serial_cache *c, const struct kv_layout *layout,
                              struct arena *arena, struct error *err);

// Keeps what this prompt shares with the cache, at most n_prompt - 1 tokens: the model must run
// over one at least to say what comes next. Returns how many are known.
int serial_cache_begin(struct serial_cache *c, uint64_t scope, const token_id *prompt,
                       int n_prompt);

// The model has computed these n_tokens behind the known ones.
void serial_cache_append(struct serial_cache *c, const token_id *ids, int n_tokens);

// Forgets everything: after an error nobody knows what the block holds.
void serial_cache_drop(struct serial_cache *c);

#endif
