// Plain files in a temporary folder.
#include "tests/support/model_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/suite.h"

static void join(char path[2 * FOLDER_PATH], const char *folder, const char *file) {
    snprintf(path, 2 * FOLDER_PATH, "%s/%s", folder, file);
}

static void write_file(const char *path, const void *bytes, size_t n) {
    FILE *out = fopen(path, "wb");
    ck_assert_msg(out && fwrite(bytes, 1, n, out) == n && fclose(out) == 0, "%s", path);
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

struct model_folder folder_copy(const char *kind) {
    struct model_folder f = {"/tmp/model-folder-XXXXXX"};
    char from[FOLDER_PATH], path[2 * FOLDER_PATH];
    const char *slash = strrchr(tiny_model_path(), '/');
    int n = slash ? (int)(slash - tiny_model_path()) : 1;

    snprintf(from, sizeof(from), "%.*s/containers/%s", n, slash ? tiny_model_path() : ".",
             kind);
    ck_assert_ptr_nonnull(mkdtemp(f.path));
    DIR *dir = opendir(from);
    ck_assert_msg(dir != NULL, "%s is not there; make it with tools/tiny_containers.py",
                  from);
    for (const struct dirent *e; (e = readdir(dir));) {
        join(path, from, e->d_name);
        if (!is_file(path)) continue;
        struct bytes b = bytes_of_file(path);
        folder_write(&f, e->d_name, b.data, b.n);
        bytes_free(&b);
    }
    closedir(dir);
    return f;
}

void folder_remove(struct model_folder *f) {
    DIR *dir = f->path[0] ? opendir(f->path) : NULL;
    if (!dir) return;
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.') unlink(folder_path(f, e->d_name));
    closedir(dir);
    rmdir(f->path);
    f->path[0] = '\0';
}

const char *folder_path(const struct model_folder *f, const char *file) {
    static char path[2 * FOLDER_PATH];
    join(path, f->path, file);
    return path;
}

struct bytes folder_read(const struct model_folder *f, const char *file) {
    return bytes_of_file(folder_path(f, file));
}

void folder_write(const struct model_folder *f, const char *file, const void *bytes,
                  size_t n) {
    write_file(folder_path(f, file), bytes, n);
}

void folder_drop(const struct model_folder *f, const char *file) {
    ck_assert_int_eq(unlink(folder_path(f, file)), 0);
}

void folder_swap(const struct model_folder *f, const char *file, const char *other) {
    struct bytes a = folder_read(f, file), b = folder_read(f, other);
    folder_write(f, file, b.data, b.n);
    folder_write(f, other, a.data, a.n);
    bytes_free(&a);
    bytes_free(&b);
}

void folder_replace(const struct model_folder *f, const char *file, const char *old,
                    const char *new) {
    struct bytes b = folder_read(f, file), changed = {0};
    size_t at = 0, n_old = strlen(old);

    while (at + n_old <= b.n && memcmp(b.data + at, old, n_old) != 0) at++;
    ck_assert_msg(at + n_old <= b.n, "%s: no %s", file, old);
    put_raw(&changed, b.data, at);
    put_raw(&changed, new, strlen(new));
    put_raw(&changed, b.data + at + n_old, b.n - at - n_old);
    folder_write(f, file, changed.data, changed.n);
    bytes_free(&b);
    bytes_free(&changed);
}
