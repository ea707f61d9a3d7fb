// What only the operating system knows. os_linux.c and os_darwin.c answer; nothing else asks.
#ifndef COMMON_OS_H
#define COMMON_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

// The least of affinity mask, cgroup CPU quota (rounded up) and physical cores; at least 1.
int os_cpu_count(void);

// The least of RAM and cgroup limit, in bytes.
uint64_t os_memory_bytes(void);

// Resident and peak resident bytes of this process; 0 when unknown.
uint64_t os_resident_bytes(void);
uint64_t os_peak_resident_bytes(void);

// The path of the file that is mapped at an address, cut to out_bytes; false: unknown. May be
// called in a signal handler.
bool os_mapped_path(const void *address, char *out, size_t out_bytes);

// "Intel(R) Xeon(R) ...", and the features that matter ("avx2 f16c avx512_vnni amx_int8"). A name
// that does not fit is cut, a feature that does not fit is left out. out_bytes must be above 0.
void os_cpu_name(char *out, size_t out_bytes);
void os_cpu_features(char *out, size_t out_bytes);

// Sleeps while *word == expected, until os_wake_all or about timeout_ns (< 0: no limit). May wake
// early: look again.
void os_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
void os_wake_all(_Atomic uint32_t *word);

// A wake-up that poll() can see: os_signal_raise from any thread (and from a signal handler)
// makes fd readable until os_signal_clear.
struct os_signal {
    int read_fd, write_fd;
};
enum status os_signal_open(struct os_signal *s, struct error *err);
void os_signal_raise(struct os_signal *s);
void os_signal_clear(struct os_signal *s);
void os_signal_close(struct os_signal *s);

// The path with all its links followed, without . and .. in it. ERR_IO says what the system says;
// ERR_LIMIT: longer than out.
enum status os_real_path(char *out, size_t out_bytes, const char *path, struct error *err);

#endif
