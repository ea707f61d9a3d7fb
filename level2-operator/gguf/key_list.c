// Keys with their values in an arena.
#include "level2-operator/gguf/key_list.h"

#include <string.h>

void store_le(unsigned char *bytes, uint64_t x, int n) {
    for (int i = 0; i < n; i++) bytes[i] = (unsigned char)(x >> (8 * i));
}

void key_list_init(struct key_list *l, uint64_t max_keys, struct arena *arena) {
    *l = (struct key_list){.arena = arena, .max_keys = max_keys};
    l->keys = ARENA_NEW(arena, struct gguf_key, max_keys);
    l->failed = !l->keys;
}

// A new key with room for its value; NULL: a failure, now or before.
static unsigned char *add(struct key_list *l, const char *name, enum gguf_type type,
                          uint64_t n_bytes, const char *spelled) {
    if (l->failed || l->n_keys == l->max_keys) {
        l->failed = true;
        return NULL;
    }
    struct gguf_key *key = &l->keys[l->n_keys++];
    unsigned char *value = ARENA_NEW(l->arena, unsigned char, n_bytes);
    const char *copy = arena_copy(l->arena, name, strlen(name));
    key->spelled = spelled ? arena_copy(l->arena, spelled, strlen(spelled)) : NULL;
    if (!value || !copy || (spelled && !key->spelled)) {
        l->failed = true;
        return NULL;
    }
    key->name = (struct gguf_string){copy, strlen(copy)};
    key->value =
        (struct gguf_value){.type = type, .n_items = 1, .bytes = value, .n_bytes = n_bytes};
    return value;
}

void key_list_u64(struct key_list *l, const char *name, uint64_t x, const char *spelled) {
    unsigned char *value = add(l, name, GGUF_U64, sizeof(x), spelled);
    if (value) store_le(value, x, sizeof(x));
}

void key_list_f64(struct key_list *l, const char *name, double x, const char *spelled) {
    uint64_t bits;
    unsigned char *value = add(l, name, GGUF_F64, sizeof(x), spelled);
    memcpy(&bits, &x, sizeof(bits));
    if (value) store_le(value, bits, sizeof(bits));
}

void key_list_bool(struct key_list *l, const char *name, bool x, const char *spelled) {
    unsigned char *value = add(l, name, GGUF_BOOL, 1, spelled);
    if (value) *value = x;
}

void key_list_string(struct key_list *l, const char *name, const char *text, size_t n_bytes,
                     const char *spelled) {
    unsigned char *value = add(l, name, GGUF_STRING, 8 + (uint64_t)n_bytes, spelled);
    if (!value) return;
    store_le(value, n_bytes, 8);
    memcpy(value + 8, text, n_bytes);
}

void key_list_array(struct key_list *l, const char *name, enum gguf_type item_type,
                    uint64_t n_items, const unsigned char *items, uint64_t n_bytes,
                    const char *spelled) {
    unsigned char *unused = add(l, name, GGUF_ARRAY, 0, spelled);
    if (!unused) return;
    struct gguf_value *value = &l->keys[l->n_keys - 1].value;
    value->item_type = item_type;
    value->n_items = n_items;
    value->bytes = items;
    value->n_bytes = n_bytes;
}

bool key_list_finish(struct key_list *l, struct gguf *g) {
    if (l->failed || table_init(&g->key_table, l->arena, (size_t)l->n_keys, NULL) != OK)
        return false;
    g->keys = l->keys;
    g->n_keys = l->n_keys;
    for (uint32_t i = 0; i < l->n_keys; i++) {
        const struct gguf_string *name = &l->keys[i].name;
        if (!table_put(&g->key_table, name->bytes, name->n_bytes, i)) return false;
    }
    return true;
}
