// A map from tensors to files, turned into a list of files and numbers into it.
#include "level2-operator/files/safetensors_index.h"

#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_json.h"

static enum status no_memory(const char *file, struct error *err) {
    return error_set(err, ERR_MEMORY, "%s: no memory for its list of files", file);
}

static bool is_plain_name(const char *name) {
    static const char end[] = ".safetensors";
    size_t n = strlen(name), n_end = sizeof(end) - 1;
    return n > n_end && name[0] != '.' && !strchr(name, '/') && !strchr(name, '\\') &&
           strcmp(name + n - n_end, end) == 0;
}

// The number of the file, which may be new. -1: no memory; LIMIT_MODEL_FILES: one too many.
static int number_of(struct safetensors_index *x, const char *name, struct arena *arena) {
    for (int i = x->n_files - 1; i >= 0; i--)
        if (strcmp(x->files[i], name) == 0) return i;
    if (x->n_files == LIMIT_MODEL_FILES) return LIMIT_MODEL_FILES;
    const char *copy = arena_copy(arena, name, strlen(name));
    if (!copy) return -1;
    x->files[x->n_files] = copy;
    return x->n_files++;
}

enum status safetensors_index_read(struct safetensors_index *x, json_t *index,
                                   const char *file, struct arena *arena,
                                   struct error *err) {
    json_t *map = json_object_get(index, "weight_map"), *value;
    const char *tensor;

    *x = (struct safetensors_index){0};
    if (!json_is_object(map) || json_object_size(map) == 0)
        return hf_json_refuse(err, ERR_FORMAT, file, "weight_map",
                              "must be an object, not empty");
    if (json_object_size(map) > LIMIT_GGUF_TENSORS)
        return hf_json_refuse(err, ERR_LIMIT, file, "weight_map", "more than %d tensors",
                              LIMIT_GGUF_TENSORS);
    x->files = ARENA_NEW(arena, const char *, LIMIT_MODEL_FILES);
    if (!x->files || table_init(&x->file_of, arena, json_object_size(map), NULL) != OK)
        return no_memory(file, err);
    json_object_foreach(map, tensor, value) {
        const char *name = json_string_value(value);
        if (!name || !is_plain_name(name))
            return hf_json_refuse(err, ERR_FORMAT, file, "weight_map",
                                  "%.64s is not in a file of this folder", tensor);
        int number = number_of(x, name, arena);
        if (number == LIMIT_MODEL_FILES)
            return hf_json_refuse(err, ERR_LIMIT, file, "weight_map", "more than %d files",
                                  LIMIT_MODEL_FILES);
        const char *copy = arena_copy(arena, tensor, strlen(tensor));
        if (number < 0 || !copy) return no_memory(file, err);
        table_put(&x->file_of, copy, strlen(copy), (uint32_t)number); // JSON: no key twice
    }
    return OK;
}
