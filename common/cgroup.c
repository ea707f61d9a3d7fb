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

// The path of a line such as "4:cpu,cpuacct:/docker/1f2e" (version 2: "0::/user.slice") if its list
// holds the controller, else NULL.
static const char *path_of_line(const char *line, size_t n_line, const char *controller) {
    const char *first = memchr(line, ':', n_line);
    if (!first) return NULL;
    const char *list = first + 1;
    const char *second = memchr(list, ':', n_line - (size_t)(list - line));
    if (!second || !list_holds(list, (size_t)(second - list), controller)) return NULL;
    return second + 1;
}

static int64_t whole_cpus(int64_t quota, int64_t period) {
    if (quota <= 0 || period <= 0) return CGROUP_NO_LIMIT;
    return quota / period + (quota % period != 0);
}

bool cgroup_path(char *path, size_t path_bytes, const char *text, const char *controller) {
    size_t n_line;
    for (const char *line = text; *line; line += n_line + (line[n_line] == '\n')) {
        n_line = strcspn(line, "\n");
        const char *found = path_of_line(line, n_line, controller);
        if (!found) continue;

        size_t n_path = n_line - (size_t)(found - line);
        if (n_path >= path_bytes) return false;
        memcpy(path, found, n_path);
        path[n_path] = '\0';
        return true;
    }
    return false;
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
