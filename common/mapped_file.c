// mmap with the checks that a hostile path needs: a pipe does not block, a folder is no file.
#include "common/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum status mapped_file_open(struct mapped_file *f, const char *path, struct error *err) {
    enum status st = OK;
    struct stat info;
    void *bytes;

    *f = (struct mapped_file){0};
    // O_NONBLOCK: opening a pipe that has no writer would wait for one.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return error_set(err, ERR_IO, "%s: %s", path, strerror(errno));

    if (fstat(fd, &info) != 0) {
        st = error_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        st = error_set(err, ERR_IO, "%s: not a regular file", path);
        goto done;
    }
    if (info.st_size == 0) goto done; // nothing to map: mmap refuses a length of 0
    if ((uintmax_t)info.st_size > SIZE_MAX) {
        st = error_set(err, ERR_LIMIT, "%s: larger than the address space", path);
        goto done;
    }
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        st = error_set(err, ERR_IO, "%s: cannot map: %s", path, strerror(errno));
        goto done;
    }
    *f = (struct mapped_file){bytes, (size_t)info.st_size};
done:
    close(fd);
    return st;
}

void mapped_file_close(struct mapped_file *f) {
    if (f->bytes) munmap((void *)f->bytes, f->n_bytes);
    *f = (struct mapped_file){0};
}
