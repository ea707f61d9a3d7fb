// mmap with the checks that a hostile path needs: a pipe does not block, a folder is no file.
#include "common/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os.h"

enum { PATH_BYTES = 512 }; // of a path that is told

enum status mapped_file_open(struct mapped_file *f, const char *path, struct error *err) {
    enum status st = OK;
    struct stat info;
    const char *shown = error_path(path);
    void *bytes;

    *f = (struct mapped_file){0};
    if (!*path) return error_set(err, ERR_IO, "no file is named");
    // O_NONBLOCK: opening a pipe that has no writer would wait for one.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return error_set(err, ERR_IO, "%s: %s", shown, strerror(errno));

    if (fstat(fd, &info) != 0) {
        st = error_set(err, ERR_IO, "%s: %s", shown, strerror(errno));
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        st = error_set(err, ERR_IO, "%s: not a regular file", shown);
        goto done;
    }
    *f = (struct mapped_file){.device = (uint64_t)info.st_dev,
                              .inode = (uint64_t)info.st_ino,
                              .written_s = (int64_t)info.st_mtime};
    if (info.st_size == 0) goto done; // nothing to map: mmap refuses a length of 0
    if ((uintmax_t)info.st_size > SIZE_MAX) {
        st = error_set(err, ERR_LIMIT, "%s: larger than the address space", shown);
        goto done;
    }
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        st = error_set(err, ERR_IO, "%s: cannot map: %s", shown, strerror(errno));
        goto done;
    }
    f->bytes = bytes;
    f->n_bytes = (size_t)info.st_size;
done:
    close(fd);
    if (st != OK) *f = (struct mapped_file){0};
    return st;
}

enum file_fate mapped_file_fate(const struct mapped_file *f, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || (uint64_t)info.st_dev != f->device ||
        (uint64_t)info.st_ino != f->inode)
        return FILE_MOVED;
    bool is_same =
        (uint64_t)info.st_size == f->n_bytes && (int64_t)info.st_mtime == f->written_s;
    return is_same ? FILE_SAME : FILE_CHANGED;
}

void mapped_file_close(struct mapped_file *f) {
    if (f->bytes) munmap((void *)f->bytes, f->n_bytes);
    *f = (struct mapped_file){0};
}

// In a signal handler: only what is async-signal-safe.
static void explain_fault(int number, siginfo_t *info, void *context) {
    static const char end[] = ": the file was cut short while it was in use; "
                              "put it back whole and start again\n";
    char text[PATH_BYTES + sizeof(end)] = "a mapped file";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        signal(number, SIG_DFL); // a bug of our own: it comes again, and this time ends us
        return;
    }
    os_mapped_path(info->si_addr, text, PATH_BYTES);
    size_t n = strlen(text);
    memcpy(text + n, end, sizeof(end));
    (void)!write(STDERR_FILENO, text, n + sizeof(end) - 1);
    _exit(1);
}

void mapped_file_explain_faults(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = explain_fault;
    sigaction(SIGBUS, &action, NULL);
}
