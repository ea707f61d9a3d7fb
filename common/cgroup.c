// Readers for the few control group files that bound CPUs and memory.
#include "common/cgroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// One number >= 0, and where it ends; CGROUP_NO_LIMIT for anything else ("max", "-1", "").
static int64_t read_number(const char *text, const char **end) {
    while (*text == ' ') text++;
    *end = text;
    if (*text < '0' || *text > '9') return CGROUP_NO_LIMIT;
    char *after;
    errno = 0;
    long long number = strtoll(text, &after, 10);
    *end = after;
    return errno == 0 ? (int64_t)number : CGROUP_NO_LIMIT;
}

// "cpu,cpuacct" holds "cpu" but not "cp"; the empty list holds only "".
static bool list_holds(const char *list, size_t n_bytes, const char *name) {
    size_t n_name = strlen(name);
    for (;;) {
        const char *comma = memchr(list, ',', n_bytes);
        size_t n_item = comma ? (size_t)(comma - list) : n_bytes;
        if (n_item == n_name && memcmp(list, name, n_name) == 0) return true;
        if (!comma) return false;
        list = comma + 1;
        n_bytes -= n_item + 1;
    }
}

// Lines look like "4:cpu,cpuacct:/docker/1f2e"; version 2 has one, "0::/user.slice".
bool cgroup_path(char *path, size_t path_bytes, const char *text, const char *controller) {
    for (const char *line = text; *line;) {
        size_t n_line = strcspn(line, "\n");
        const char *list = memchr(line, ':', n_line);
        const char *rest = list ? list + 1 : line;
        const char *colon = list ? memchr(rest, ':', n_line - (size_t)(rest - line)) : NULL;
        if (colon && list_holds(rest, (size_t)(colon - rest), controller)) {
            size_t n_path = n_line - (size_t)(colon + 1 - line);
            if (n_path >= path_bytes) return false;
            memcpy(path, colon + 1, n_path);
            path[n_path] = '\0';
            return true;
        }
        line += n_line + (line[n_line] == '\n');
    }
    return false;
}

static int64_t whole_cpus(int64_t quota, int64_t period) {
    if (quota <= 0 || period <= 0) return CGROUP_NO_LIMIT;
    return quota / period + (quota % period != 0);
}

int64_t cgroup_cpus(const char *cpu_max) {
    const char *rest;
    int64_t quota = read_number(cpu_max, &rest);
    if (quota == CGROUP_NO_LIMIT) return CGROUP_NO_LIMIT;
    return whole_cpus(quota, read_number(rest, &rest));
}

int64_t cgroup_cpus_v1(const char *quota, const char *period) {
    const char *rest;
    return whole_cpus(read_number(quota, &rest), read_number(period, &rest));
}

int64_t cgroup_bytes(const char *text) {
    const char *rest;
    int64_t n_bytes = read_number(text, &rest);
    return n_bytes < INT64_MAX / 2 ? n_bytes : CGROUP_NO_LIMIT;
}
