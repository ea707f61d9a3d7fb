// How providers' prompt caches count, data/cache-rules.json: each rule with its dates, and where that
// was read. data/README.md says what its fields mean.
#ifndef LEVEL1_CACHE_RULES_H
#define LEVEL1_CACHE_RULES_H

#include <stddef.h>

#include "common/status.h"
#include "level1-user/audit.h"

// All texts are UTF-8 without control characters, "" where the file has none.
struct cache_rule {
    struct audit_rule rule;
    const char *provider;
    const char *valid_from, *valid_to; // as in price_list.h
    const char *tag, *source, *notes;  // how well it is known, and whence
};

struct cache_rules {
    // owned
    void *document;             // jansson's: the texts
    struct cache_rule *entries; // (n_entries)
    int n_entries;
};

// ERR_FORMAT: not JSON, or not a list of rules; says which entry and field. ERR_LIMIT: above
// LIMIT_RULE_BYTES or LIMIT_CACHE_RULES. ERR_MEMORY; cache_rules_open also ERR_IO. On failure the list
// is closed. name: how errors call it.
enum status cache_rules_parse(struct cache_rules *list, const char *bytes, size_t n_bytes,
                              const char *name, struct error *err);
enum status cache_rules_open(struct cache_rules *list, const char *path, struct error *err);
void cache_rules_close(struct cache_rules *list); // safe on a zeroed or closed list

#endif
