// It stands in every answer, so it must be text without control characters.
#include "level2-operator/service/model_id.h"

#include <string.h>

#include "common/utf8.h"

static bool is_name(const char *name, size_t n_bytes) {
    size_t n_used;
    if (n_bytes == 0 || !utf8_valid(name, n_bytes)) return false;
    for (size_t i = 0; i < n_bytes; i += n_used) {
        if (utf8_is_control(utf8_next(name + i, n_bytes - i, &n_used))) return false;
    }
    return true;
}

// The last part of a path, without slashes behind it, and how long it is.
static const char *last_part(const char *path, size_t *n) {
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/') end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/';) begin--;
    *n = end - begin;
    return path + begin;
}

bool model_id_make(char *out, size_t out_bytes, const char *path, const char *given) {
    static const char ending[] = ".gguf";
    size_t n = given ? strlen(given) : 0, n_ending = sizeof(ending) - 1;
    const char *name = given ? given : last_part(path, &n);

    if (!given && n > n_ending && strncmp(name + n - n_ending, ending, n_ending) == 0)
        n -= n_ending;
    if (n >= out_bytes || !is_name(name, n)) return false;
    memcpy(out, name, n);
    out[n] = '\0';
    return true;
}
