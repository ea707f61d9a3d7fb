// Two checks: of the words, so that nothing outside is even looked at, and of where links lead.
#include "level2-operator/service/model_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/os.h"

static bool has_parent(const char *path) {
    for (const char *c = path; *c; c += strcspn(c, "/"), c += strspn(c, "/")) {
        if (strncmp(c, "..", 2) == 0 && (c[2] == '/' || c[2] == '\0')) return true;
    }
    return false;
}

// What of path lies below dir: "dir/a" and "a" are both "a". NULL: it begins elsewhere.
static const char *strip(const char *dir, const char *path) {
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    if (strncmp(path, dir, n) == 0 && path[n] == '/') path += n + strspn(path + n, "/");
    return *path == '/' || *path == '\0' ? NULL : path;
}

static bool is_below(const char *dir, const char *path) {
    size_t n = strlen(dir);
    if (n > 1) return strncmp(path, dir, n) == 0 && path[n] == '/';
    return true; // dir is "/"
}

static enum status refuse(const char *dir, struct error *err) {
    return error_set_param(err, ERR_INPUT, "path",
                           "path must name a file below %s, without .. in it",
                           error_path(dir));
}

enum status model_path_below(char *out, size_t out_bytes, const char *dir, const char *path,
                             struct error *err) {
    char joined[LIMIT_PATH_BYTES], real_dir[LIMIT_PATH_BYTES], real_path[LIMIT_PATH_BYTES];
    const char *rest = has_parent(path) ? NULL : strip(dir, path);

    if (!rest) return refuse(dir, err);
    enum status st = os_real_path(real_dir, sizeof(real_dir), dir, err);
    if (st) return st;
    int n = snprintf(joined, sizeof(joined), "%s/%s", real_dir, rest);
    if (n >= (int)sizeof(joined)) return refuse(dir, err);
    st = os_real_path(real_path, sizeof(real_path), joined, err);
    if (st) return st;
    if (!is_below(real_dir, real_path) || strlen(real_path) >= out_bytes)
        return refuse(dir, err);
    strcpy(out, real_path);
    return OK;
}
