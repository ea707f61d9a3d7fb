// What a path is, decides who reads it.
#include "level2-operator/files/model_file.h"

#include <string.h>
#include <sys/stat.h>

#include "level2-operator/files/gguf_split.h"
#include "level2-operator/files/hf_folder.h"

enum status model_file_reserve(struct model_file *f, int n, const char *path,
                               struct error *err) {
    struct mapped_file *maps = ARENA_NEW(f->arena, struct mapped_file, n);
    if (!maps)
        return error_set(err, ERR_MEMORY, "%s: no memory for the list of %d files",
                         error_path(path), n);
    if (f->n_maps) memcpy(maps, f->maps, (size_t)f->n_maps * sizeof(*maps));
    f->maps = maps;
    f->max_maps = n;
    return OK;
}

enum status model_file_map(struct model_file *f, const char *path, struct error *err) {
    struct mapped_file *map = &f->maps[f->n_maps];
    MUST(f->n_maps < f->max_maps);

    enum status st = mapped_file_open(map, path, err);
    if (st != OK) return st;
    f->n_maps++;
    f->n_bytes += map->n_bytes;
    size_t grow = SIZE_MAX - f->arena->limit;
    if (f->arena_per_byte && map->n_bytes < grow / f->arena_per_byte)
        grow = map->n_bytes * f->arena_per_byte;
    if (f->arena_per_byte) f->arena->limit += grow;
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

void model_file_close(struct model_file *f) {
    for (int i = 0; i < f->n_maps; i++) mapped_file_close(&f->maps[i]);
    *f = (struct model_file){0};
}
