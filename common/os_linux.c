// Linux: affinity and control groups bound the CPUs, /proc tells the rest, a futex puts threads to
// sleep, an eventfd wakes poll().
#define _GNU_SOURCE // sched_getaffinity, syscall
#include "common/os.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/cgroup.h"

enum { PATH_BYTES = 1024, TEXT_BYTES = 16 << 10 };

// The start of a small file as text; false and "" when it cannot be read.
static bool read_text(char *text, size_t text_bytes, const char *path) {
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    if (!file) return false;
    size_t n = fread(text, 1, text_bytes - 1, file);
    text[n] = '\0';
    fclose(file);
    return n > 0;
}

// ---- limits of the control group ----------------------------------------------------------------

// The smaller of two limits, either of which may be absent.
static int64_t least(int64_t a, int64_t b) {
    if (a == CGROUP_NO_LIMIT) return b;
    if (b == CGROUP_NO_LIMIT) return a;
    return a < b ? a : b;
}

typedef int64_t group_limit_fn(const char *dir);

static void read_group_file(char text[128], const char *dir, const char *name) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    read_text(text, 128, path);
}

static int64_t cpus_of_group(const char *dir) {
    char text[128];
    read_group_file(text, dir, "cpu.max");
    return cgroup_cpus(text);
}

static int64_t cpus_of_group_v1(const char *dir) {
    char quota[128], period[128];
    read_group_file(quota, dir, "cpu.cfs_quota_us");
    read_group_file(period, dir, "cpu.cfs_period_us");
    return cgroup_cpus_v1(quota, period);
}

static int64_t bytes_of_group(const char *dir) {
    char text[128];
    read_group_file(text, dir, "memory.max");
    return cgroup_bytes(text);
}

static int64_t bytes_of_group_v1(const char *dir) {
    char text[128];
    read_group_file(text, dir, "memory.limit_in_bytes");
    return cgroup_bytes(text);
}

// A group is bound by its own limit and by those of all groups above it. Inside a container the
// path may not exist, but the root of the mount then is the container's own group.
static int64_t least_up_the_tree(const char *controller, const char *mount,
                                 group_limit_fn *limit_of) {
    char text[TEXT_BYTES], group[PATH_BYTES / 2], dir[PATH_BYTES];
    read_text(text, sizeof(text), "/proc/self/cgroup");
    if (!cgroup_path(group, sizeof(group), text, controller)) return CGROUP_NO_LIMIT;

    int64_t limit = CGROUP_NO_LIMIT;
    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
        *end = '\0';
        snprintf(dir, sizeof(dir), "%s%s", mount, group);
        limit = least(limit, limit_of(dir));
    }
    return limit;
}

static int64_t group_cpus(void) {
    return least(least_up_the_tree("", "/sys/fs/cgroup", cpus_of_group),
                 least_up_the_tree("cpu", "/sys/fs/cgroup/cpu", cpus_of_group_v1));
}

static int64_t group_bytes(void) {
    return least(least_up_the_tree("", "/sys/fs/cgroup", bytes_of_group),
                 least_up_the_tree("memory", "/sys/fs/cgroup/memory", bytes_of_group_v1));
}

// ---- CPUs and memory ----------------------------------------------------------------------------

// The lowest CPU that shares a core with this one: it stands for the core.
static int first_of_core(int cpu) {
    char path[128], text[128];
    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return read_text(text, sizeof(text), path) ? atoi(text) : cpu;
}

// Cores with at least one CPU that this process may use.
static int allowed_cores(void) {
    cpu_set_t allowed, cores;
    CPU_ZERO(&cores);
    // It fails when the machine has more CPUs than the set holds.
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) CPU_SET(first_of_core(cpu), &cores);
    }
    return CPU_COUNT(&cores);
}

int os_cpu_count(void) {
    int64_t n_cpus = least(allowed_cores(), group_cpus());
    return n_cpus > 1 ? (int)n_cpus : 1;
}

uint64_t os_memory_bytes(void) {
    int64_t ram = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return (uint64_t)least(ram, group_bytes());
}

// "VmRSS:      1234 kB" in /proc/self/status. 0 when the line is not there.
static uint64_t status_bytes(const char *key) {
    char text[TEXT_BYTES];
    if (!read_text(text, sizeof(text), "/proc/self/status")) return 0;
    const char *line = strstr(text, key);
    return line ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t os_resident_bytes(void) {
    return status_bytes("\nVmRSS:");
}

uint64_t os_peak_resident_bytes(void) {
    return status_bytes("\nVmHWM:");
}

// ---- what is mapped where -----------------------------------------------------------------------

static uintptr_t hex(const char **text) {
    static const char digits[] = "0123456789abcdef";
    uintptr_t value = 0;
    for (const char *d; **text && (d = strchr(digits, **text)); (*text)++)
        value = value << 4 | (uintptr_t)(d - digits);
    return value;
}

// "7f01-7f02 r--p 00000000 08:01 42     /models/tiny.gguf". A path of a line that is not ours stays.
static bool is_mapped_by(const char *line, uintptr_t address, char *out, size_t out_bytes) {
    const char *at = line, *path = strchr(line, '/');
    uintptr_t begin = hex(&at);
    if (*at++ != '-' || !path) return false;
    uintptr_t end = hex(&at);
    if (address < begin || address >= end) return false;
    size_t n = strlen(path) < out_bytes - 1 ? strlen(path) : out_bytes - 1;
    memcpy(out, path, n);
    out[n] = '\0';
    return true;
}

// Only open, read and close: in a signal handler there is no more.
bool os_mapped_path(const void *address, char *out, size_t out_bytes) {
    char block[512], line[PATH_BYTES];
    size_t n_line = 0;
    ssize_t n;
    bool is_found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (!is_found && fd >= 0 && (n = read(fd, block, sizeof(block))) > 0) {
        for (ssize_t i = 0; i < n && !is_found; i++) {
            if (block[i] != '\n') {
                if (n_line < sizeof(line) - 1) line[n_line++] = block[i];
                continue;
            }
            line[n_line] = '\0';
            is_found = is_mapped_by(line, (uintptr_t)address, out, out_bytes);
            n_line = 0;
        }
    }
    if (fd >= 0) close(fd);
    return is_found;
}

// ---- what kind of CPU ---------------------------------------------------------------------------

// The value of the first line "key   : value" of /proc/cpuinfo.
static bool cpuinfo_value(char *value, size_t value_bytes, const char *key) {
    char text[TEXT_BYTES];
    value[0] = '\0';
    read_text(text, sizeof(text), "/proc/cpuinfo");
    for (char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *from = line + strlen(key);
        from += strspn(from, " \t");
        if (*from != ':') continue;
        from += 1 + strspn(from + 1, " \t");
        snprintf(value, value_bytes, "%.*s", (int)strcspn(from, "\n"), from);
        return true;
    }
    return false;
}

void os_cpu_name(char *out, size_t out_bytes) {
    if (!cpuinfo_value(out, out_bytes, "model name"))
        snprintf(out, out_bytes, "unknown CPU");
}

static bool has_word(const char *list, const char *word) {
    size_t n_word = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n_word) {
        bool begins = at == list || at[-1] == ' ';
        if (begins && (at[n_word] == ' ' || at[n_word] == '\0')) return true;
    }
    return false;
}

void os_cpu_features(char *out, size_t out_bytes) {
    static const char *const wanted[] = {
        "avx2",     "fma",         "f16c",     "avx512f",  "avx512bw", "avx512vl",
        "avx_vnni", "avx512_vnni", "amx_tile", "amx_int8", "amx_bf16",         // x86-64
        "asimd",    "asimdhp",     "asimddp",  "i8mm",     "sve",      "bf16", // aarch64
    };
    char flags[TEXT_BYTES];
    if (!cpuinfo_value(flags, sizeof(flags), "flags"))
        cpuinfo_value(flags, sizeof(flags), "Features");

    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        if (!has_word(flags, wanted[i])) continue;
        if (n + strlen(wanted[i]) + 2 > out_bytes) return;
        n += (size_t)snprintf(out + n, out_bytes - n, "%s%s", n ? " " : "", wanted[i]);
    }
}

// ---- sleeping and waking ------------------------------------------------------------------------

void os_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns) {
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                               .tv_nsec = (long)(timeout_ns % 1000000000)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns < 0 ? NULL : &timeout,
            NULL, 0);
}

void os_wake_all(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

enum status os_signal_open(struct os_signal *s, struct error *err) {
    *s = (struct os_signal){0};
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd == 0) { // standard input was closed; 0 means closed here
        fd = fcntl(0, F_DUPFD_CLOEXEC, 1);
        close(0);
    }
    if (fd < 0)
        return error_set(err, ERR_IO, "cannot make an eventfd: %s", strerror(errno));
    *s = (struct os_signal){fd, fd};
    return OK;
}

void os_signal_raise(struct os_signal *s) {
    int saved = errno; // a signal handler must leave it alone
    uint64_t one = 1;
    ssize_t n = write(s->write_fd, &one, sizeof(one)); // full means: already raised
    (void)n;
    errno = saved;
}

void os_signal_clear(struct os_signal *s) {
    uint64_t count;
    ssize_t n = read(s->read_fd, &count, sizeof(count)); // takes all raises at once
    (void)n;
}

void os_signal_close(struct os_signal *s) {
    if (s->read_fd > 0) close(s->read_fd);
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
