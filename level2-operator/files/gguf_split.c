// One part after the other is mapped and read like any GGUF file; then their tables become one.
#include "level2-operator/files/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"

enum { SUFFIX_BYTES = sizeof("-00001-of-00003.gguf") - 1 };

// The end of the name of part i, counted from 0.
static void suffix_of(char suffix[SUFFIX_BYTES + 1], uint32_t i, uint32_t n_parts) {
    // both numbers are at most LIMIT_MODEL_FILES; the remainder tells the compiler so
    snprintf(suffix, SUFFIX_BYTES + 1, "-%05u-of-%05u.gguf", (unsigned)(i + 1) % 100000,
             (unsigned)n_parts % 100000);
}

// path with the number of part i in place of its own; NULL: no memory. false in *is_named: the name is
// not that of part own.
static char *path_of_part(struct arena *arena, const char *path, uint32_t own, uint32_t i,
                          uint32_t n_parts, bool *is_named) {
    char suffix[SUFFIX_BYTES + 1];
    size_t n = strlen(path);

    suffix_of(suffix, own, n_parts);
    *is_named = n > SUFFIX_BYTES && strcmp(path + n - SUFFIX_BYTES, suffix) == 0;
    char *other = arena_copy(arena, path, n);
    if (!other || !*is_named) return other;
    suffix_of(suffix, i, n_parts);
    memcpy(other + n - SUFFIX_BYTES, suffix, SUFFIX_BYTES);
    return other;
}

static enum status no_memory(const char *path, struct error *err) {
    return error_set(err, ERR_MEMORY, "%s: no memory for the tables of its parts",
                     error_path(path));
}

static enum status refuse_later_part(struct model_file *f, const char *path,
                                     const struct gguf *g, struct error *err) {
    bool is_named;
    const char *first = path_of_part(f->arena, path, g->part, 0, g->n_parts, &is_named);
    if (!first) return no_memory(path, err);
    if (is_named)
        return error_set_param(err, ERR_INPUT, "split.no",
                               "%s: part %u of %u; open the first: %s", error_path(path),
                               (unsigned)g->part + 1, (unsigned)g->n_parts,
                               error_path(first));
    return error_set_param(err, ERR_INPUT, "split.no",
                           "%s: part %u of %u; open the one called ...-00001-of-%05u.gguf",
                           error_path(path), (unsigned)g->part + 1, (unsigned)g->n_parts,
                           (unsigned)g->n_parts);
}

// Maps and reads part i. Its tables go to *part.
static enum status read_part(struct model_file *f, const char *path, uint32_t i,
                             struct gguf *part, struct error *err) {
    const struct gguf *first = &f->gguf;
    enum status st = model_file_map(f, path, err);
    if (st == ERR_IO)
        return error_set(err, ERR_IO, "%s (part %u of %u of one model; get them all)",
                         err ? err->text : path, (unsigned)i + 1, (unsigned)first->n_parts);
    if (st != OK) return st;
    const struct mapped_file *map = &f->maps[f->n_maps - 1];
    st = gguf_parse(part, map->bytes, map->n_bytes, error_path(path), f->arena, err);
    if (st != OK) return st;
    if (part->part == i && part->n_parts == first->n_parts) return OK;
    return error_set_param(err, ERR_FORMAT, "split.no",
                           "%s: holds part %u of %u, not %u of %u: files were swapped, or "
                           "are of two models",
                           error_path(path), (unsigned)part->part + 1,
                           (unsigned)part->n_parts, (unsigned)i + 1,
                           (unsigned)first->n_parts);
}

// How many tensors the first part promises in all; what is there, if it does not say.
static enum status check_sum(const struct gguf *first, uint64_t n_tensors, const char *path,
                             struct error *err) {
    uint64_t n_promised = n_tensors;
    gguf_get_u64(gguf_find(first, "split.tensors.count"), &n_promised);
    if (n_promised == n_tensors) return OK;
    return error_set_param(err, ERR_FORMAT, "split.tensors.count",
                           "%s: key split.tensors.count: %" PRIu64 " tensors, but its %u "
                           "parts hold %" PRIu64,
                           error_path(path), n_promised, (unsigned)first->n_parts,
                           n_tensors);
}

// One table of all parts' tensors, in the first's struct gguf.
static enum status join(struct model_file *f, struct gguf *parts, uint64_t n_tensors,
                        struct error *err) {
    struct gguf *g = &f->gguf;
    struct gguf_tensor *to = ARENA_NEW(f->arena, struct gguf_tensor, n_tensors);
    enum status st = table_init(&g->tensor_table, f->arena, (size_t)n_tensors, err);
    uint64_t n = 0;

    if (!to || st != OK) return no_memory(g->parts[0].name, err);
    for (uint32_t i = 0; i < g->n_parts; i++) {
        for (uint64_t j = 0; j < parts[i].n_tensors; j++, n++) {
            to[n] = parts[i].tensors[j];
            to[n].part = i;
            const struct gguf_string *name = &to[n].name;
            if (table_put(&g->tensor_table, name->bytes, name->n_bytes, (uint32_t)n))
                continue;
            return error_set_param(
                err, ERR_FORMAT, "tensor", "%s: tensor %.*s: is in another part, too",
                g->parts[i].name, name->n_bytes < 64 ? (int)name->n_bytes : 64,
                name->bytes);
        }
    }
    g->tensors = to;
    g->n_tensors = n_tensors;
    return OK;
}

static enum status open_others(struct model_file *f, const char *path, struct error *err) {
    struct gguf *g = &f->gguf;
    struct gguf *all = ARENA_NEW(f->arena, struct gguf, g->n_parts);
    struct gguf_part *parts = ARENA_NEW(f->arena, struct gguf_part, g->n_parts);
    uint64_t n_tensors = g->n_tensors;
    enum status st = model_file_reserve(f, (int)g->n_parts, path, err);

    if (!all || !parts || st != OK) return no_memory(path, err);
    all[0] = *g;
    const char *own = arena_copy(f->arena, path, strlen(path));
    if (!own) return no_memory(path, err);
    parts[0] = (struct gguf_part){error_path(own), g->bytes};
    for (uint32_t i = 1; i < g->n_parts; i++) {
        bool is_named;
        const char *other = path_of_part(f->arena, path, 0, i, g->n_parts, &is_named);
        if (!other) return no_memory(path, err);
        if (!is_named)
            return error_set_param(
                err, ERR_INPUT, "split.count",
                "%s: part 1 of %u, but its name does not end in -00001-of-%05u.gguf, so "
                "the others cannot be found",
                error_path(path), (unsigned)g->n_parts, (unsigned)g->n_parts);
        if ((st = read_part(f, other, i, &all[i], err)) != OK) return st;
        parts[i] = (struct gguf_part){error_path(other), all[i].bytes};
        n_tensors += all[i].n_tensors;
        if (n_tensors > LIMIT_GGUF_TENSORS)
            return error_set(err, ERR_LIMIT, "%s: more than %d tensors in all parts",
                             error_path(path), LIMIT_GGUF_TENSORS);
    }
    if ((st = check_sum(g, n_tensors, path, err)) != OK) return st;
    g->parts = parts;
    return join(f, all, n_tensors, err);
}

enum status gguf_split_open(struct model_file *f, const char *path, struct error *err) {
    struct gguf *g = &f->gguf;
    enum status st = model_file_reserve(f, 1, path, err);
    if (st == OK) st = model_file_map(f, path, err);
    if (st != OK) return st;
    const struct mapped_file *map = &f->maps[0];
    st = gguf_parse(g, map->bytes, map->n_bytes, error_path(path), f->arena, err);
    if (st != OK || g->n_parts == 1) return st;
    if (g->part > 0) return refuse_later_part(f, path, g, err);
    return open_others(f, path, err);
}

enum status gguf_refuse_part(const struct gguf *g, const char *name, struct error *err) {
    if (g->n_parts <= 1) return OK;
    return error_set_param(err, ERR_UNSUPPORTED, "split.count",
                           "%s: part %u of %u of a model; its file must be opened by name",
                           name, (unsigned)g->part + 1, (unsigned)g->n_parts);
}
