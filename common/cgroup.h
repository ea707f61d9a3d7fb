// What a Linux control group allows, read from the text of its files. Pure functions: os_linux.c
// opens the files, tests bring their own text.
#ifndef COMMON_CGROUP_H
#define COMMON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const int64_t CGROUP_NO_LIMIT = -1; // also for text that cannot be read

// The group of this process, from the text of /proc/self/cgroup: the path of the line whose list
// of controllers holds `controller`; "" asks for version 2 (its list is empty). false: no such
// line, or the path does not fit.
bool cgroup_path(char *path, size_t path_bytes, const char *text, const char *controller);

// Whole CPUs, rounded up, from "50000 100000" or "max 100000" (version 2, cpu.max).
int64_t cgroup_cpus(const char *cpu_max);

// The same from cpu.cfs_quota_us ("-1": none) and cpu.cfs_period_us (version 1).
int64_t cgroup_cpus_v1(const char *quota, const char *period);

// Bytes, from "1073741824" or "max" (memory.max, or version 1 memory.limit_in_bytes, where a
// number near 2^63 stands for no limit).
int64_t cgroup_bytes(const char *text);

#endif
