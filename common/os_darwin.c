// macOS, best effort: sysctl tells the machine, mach the memory in use, and a condition variable
// stands in for the futex. There are no control groups.
#define _DARWIN_C_SOURCE // sysctlbyname
#include "common/os.h"

#ifdef __APPLE__
#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

// ---- CPUs and memory ----------------------------------------------------------------------------

// 0 when there is no such number.
static uint64_t sysctl_number(const char *name) {
    uint64_t number = 0; // large enough for both widths; macOS is little-endian
    size_t n_bytes = sizeof(number);
    return sysctlbyname(name, &number, &n_bytes, NULL, 0) == 0 ? number : 0;
}

int os_cpu_count(void) {
    uint64_t n_cores = sysctl_number("hw.perflevel0.physicalcpu"); // the fast ones
    if (n_cores == 0) n_cores = sysctl_number("hw.physicalcpu");
    return n_cores ? (int)n_cores : 1;
}

uint64_t os_memory_bytes(void) {
    return sysctl_number("hw.memsize");
}

uint64_t os_resident_bytes(void) {
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    kern_return_t result =
        task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count);
    return result == KERN_SUCCESS ? info.resident_size : 0;
}

uint64_t os_peak_resident_bytes(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (uint64_t)usage.ru_maxrss; // bytes here, kilobytes on Linux
}

bool os_mapped_path(const void *address, char *out, size_t out_bytes) {
    (void)address;
    (void)out;
    (void)out_bytes;
    return false;
}

void os_cpu_name(char *out, size_t out_bytes) {
    size_t n_bytes = out_bytes;
    if (sysctlbyname("machdep.cpu.brand_string", out, &n_bytes, NULL, 0) != 0)
        snprintf(out, out_bytes, "unknown CPU");
}

void os_cpu_features(char *out, size_t out_bytes) {
    static const struct {
        const char *key, *name;
    } wanted[] = {
        {"hw.optional.avx2_0",           "avx2"   },
        {"hw.optional.f16c",             "f16c"   },
        {"hw.optional.arm.FEAT_FP16",    "asimdhp"},
        {"hw.optional.arm.FEAT_DotProd", "asimddp"},
        {"hw.optional.arm.FEAT_I8MM",    "i8mm"   },
        {"hw.optional.arm.FEAT_BF16",    "bf16"   },
    };
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        if (!sysctl_number(wanted[i].key)) continue;
        if (n + strlen(wanted[i].name) + 2 > out_bytes) return;
        n += (size_t)snprintf(out + n, out_bytes - n, "%s%s", n ? " " : "", wanted[i].name);
    }
}

// ---- sleeping and waking ------------------------------------------------------------------------

// One place to sleep for all words: os_wait may wake early, so sharing it costs only time. Waking
// takes the lock, so nobody can check the word, then miss the wake-up.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

void os_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                               .tv_nsec = (long)(timeout_ns % 1000000000)};
    pthread_mutex_lock(&lock);
    if (atomic_load(word) == expected) {
        if (timeout_ns < 0)
            pthread_cond_wait(&woken, &lock);
        else
            pthread_cond_timedwait_relative_np(&woken, &lock, &timeout);
    }
    pthread_mutex_unlock(&lock);
}

void os_wake_all(_Atomic uint32_t *word) {
    (void)word;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&woken);
    pthread_mutex_unlock(&lock);
}

// A pipe stands in for the eventfd. 0 means closed here, so a descriptor 0 is moved.
static int above_zero(int fd) {
    if (fd != 0) return fd;
    int moved = fcntl(0, F_DUPFD, 1);
    close(0);
    return moved;
}

enum status os_signal_open(struct os_signal *s, struct error *err) {
    int fds[2];
    *s = (struct os_signal){0};
    if (pipe(fds) != 0)
        return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        fds[i] = above_zero(fds[i]);
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    *s = (struct os_signal){fds[0], fds[1]};
    return OK;
}

void os_signal_raise(struct os_signal *s) {
    int saved = errno;                      // a signal handler must leave it alone
    ssize_t n = write(s->write_fd, "!", 1); // full means: already raised
    (void)n;
    errno = saved;
}

void os_signal_clear(struct os_signal *s) {
    char bytes[256];
    while (read(s->read_fd, bytes, sizeof(bytes)) > 0) {}
}

void os_signal_close(struct os_signal *s) {
    if (s->read_fd > 0) close(s->read_fd);
    if (s->write_fd > 0) close(s->write_fd);
    *s = (struct os_signal){0};
}

// ---- files --------------------------------------------------------------------------------------

enum status os_real_path(char *out, size_t out_bytes, const char *path, struct error *err) {
    char *real = realpath(path, NULL);
    if (!real) return error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    int n = snprintf(out, out_bytes, "%s", real);
    free(real);
    if ((size_t)n < out_bytes) return OK;
    return error_set(err, ERR_LIMIT, "%s: too long a path", error_path(path));
}

#endif
