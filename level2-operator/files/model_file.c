// What a path is, decides who reads it.
#include "level2-operator/files/model_file.h"

#include <string.h>
#include <sys/stat.h>

#include "level2-operator/files/gguf_split.h"
#include "level2-operator/files/hf_folder.h"

enum status model_file_reserve(struct model_file *f, int n, const char *path,
                               struct error *err) {
    struct mapped_file *maps = ARENA_NEW(f->arena, struct mapped_file, n);
    const char **paths = ARENA_NEW(f->arena, const char *, n);
    if (!maps || !paths)
        return error_set(err, ERR_MEMORY, "%s: no memory for the list of %d files",
                         error_path(path), n);
    if (f->n_maps) memcpy(maps, f->maps, (size_t)f->n_maps * sizeof(*maps));
    if (f->n_maps) memcpy(paths, f->paths, (size_t)f->n_maps * sizeof(*paths));
    f->maps = maps;
    f->paths = paths;
    f->max_maps = n;
    return OK;
}

enum status model_file_map(struct model_file *f, const char *path, struct error *err) {
    struct mapped_file *map = &f->maps[f->n_maps];
    MUST(f->n_maps < f->max_maps);

    const char *copy = arena_copy(f->arena, path, strlen(path));
    if (!copy)
        return error_set(err, ERR_MEMORY, "%s: no memory for its path", error_path(path));
    enum status st = mapped_file_open(map, path, err);
    if (st != OK) return st;
    f->paths[f->n_maps++] = copy;
    f->n_bytes += map->n_bytes;
    arena_allow(f->arena, map->n_bytes, f->arena_per_byte);
    return OK;
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

enum status model_file_open(struct model_file *f, const char *path, struct arena *arena,
                            size_t arena_per_byte, struct error *err) {
    *f = (struct model_file){.arena = arena, .arena_per_byte = arena_per_byte};
    enum status st;
    if (is_folder(path)) {
        st = hf_folder_open(f, path, err);
    } else if (ends_with(path, ".safetensors")) {
        st = hf_file_open(f, path, err);
    } else {
        st = gguf_split_open(f, path, err);
    }
    if (st != OK) model_file_close(f);
    return st;
}

enum status model_file_check_same(const struct model_file *f, struct error *err) {
    for (int i = 0; i < f->n_maps; i++) {
        enum file_fate fate = mapped_file_fate(&f->maps[i], f->paths[i]);
        if (fate == FILE_SAME || (fate == FILE_MOVED && f->n_maps == 1)) continue;
        return error_set(err, ERR_IO, "%s: was %s while it was being loaded; load it again",
                         error_path(f->paths[i]),
                         fate == FILE_MOVED ? "moved" : "cut or written to");
    }
    return OK;
}

enum status model_file_refuse_lone(const struct gguf *g, const char *name,
                                   struct error *err) {
    if (g->is_converted || g->version) return OK;
    return error_set(err, ERR_INPUT,
                     "%s: one file of a model; name its folder, with config.json and "
                     "tokenizer.json in it",
                     name);
}

void model_file_close(struct model_file *f) {
    for (int i = 0; i < f->n_maps; i++) mapped_file_close(&f->maps[i]);
    *f = (struct model_file){0};
}
