// Views tell where they stand: what points into a file has an offset there.
#include "level2-operator/gguf/gguf_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "level2-operator/gguf/arch.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/gguf/hf_names.h"

enum { SHOWN_BYTES = 64 }; // of a name

// Where the file of a tensor begins.
static const unsigned char *file_of(const struct gguf *g, const struct gguf_tensor *t) {
    return g->parts ? g->parts[t->part].bytes : g->bytes;
}

void gguf_place_key(char place[PLACE_BYTES], const struct gguf *g, const char *file,
                    const char *key) {
    const struct gguf_key *k = gguf_find_key(g, key);
    if (!k) {
        snprintf(place, PLACE_BYTES, "%s: key %s", file, key);
    } else if (k->spelled) {
        snprintf(place, PLACE_BYTES, "%s/%s", file, k->spelled);
    } else {
        snprintf(place, PLACE_BYTES, "%s: key %s at byte %zu", file, key,
                 (size_t)(k->value.bytes - g->bytes));
    }
}

// They decide which norm a name of a folder means.
static bool has_post_norms(const struct gguf *g) {
    struct gguf_string name;
    enum arch arch;
    return gguf_get_string(gguf_find(g, "general.architecture"), &name) &&
           arch_find(&arch, name.bytes, name.n_bytes) && arch_traits(arch)->has_post_norms;
}

static void place_missing(char place[PLACE_BYTES], const struct gguf *g, const char *file,
                          const char *name) {
    char theirs[HF_NAME_BYTES];
    if (g->is_converted && hf_name_of(theirs, name, has_post_norms(g))) name = theirs;
    snprintf(place, PLACE_BYTES, "%s: tensor %.*s", file, SHOWN_BYTES, name);
}

void gguf_place_tensor(char place[PLACE_BYTES], const struct gguf *g, const char *file,
                       const char *name) {
    const struct gguf_tensor *t = gguf_find_tensor(g, name);
    if (!t) {
        place_missing(place, g, file, name);
        return;
    }
    struct gguf_string own = gguf_tensor_name(t);
    uint64_t at = t->spelled
                      ? gguf_tensor_at(g, t)
                      : (uint64_t)((const unsigned char *)t->name.bytes - file_of(g, t));
    snprintf(place, PLACE_BYTES, "%s: tensor %.*s at byte %" PRIu64,
             g->parts ? g->parts[t->part].name : file,
             own.n_bytes < SHOWN_BYTES ? (int)own.n_bytes : SHOWN_BYTES, own.bytes, at);
}

uint64_t gguf_tensor_at(const struct gguf *g, const struct gguf_tensor *t) {
    return (uint64_t)((const unsigned char *)t->view.data - file_of(g, t));
}

struct gguf_string gguf_tensor_name(const struct gguf_tensor *t) {
    if (!t->spelled) return t->name;
    return (struct gguf_string){t->spelled, strlen(t->spelled)};
}
