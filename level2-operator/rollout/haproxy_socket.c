// HAProxy's runtime API over its UNIX socket: one command, one answer, and it closes.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "level2-operator/rollout/haproxy.h"

static enum status connect_to(int *fd, const char *path, struct error *err) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = LIMIT_HAPROXY_MS / 1000,
                                     .tv_usec = LIMIT_HAPROXY_MS % 1000 * 1000};

    if (strlen(path) >= sizeof(address.sun_path))
        return error_set(err, ERR_INPUT, "%s: a socket's path has at most %zu bytes",
                         error_path(path), sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path));
    *fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (*fd < 0) return error_set(err, ERR_IO, "socket: %s", strerror(errno));
    setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(*fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return error_set(err, ERR_IO, "%s: %s; is HAProxy running with this stats socket?",
                         error_path(path), strerror(errno));
    return OK;
}

static enum status fail(const char *path, const char *what, struct error *err) {
    bool is_late = errno == EAGAIN || errno == EWOULDBLOCK;
    return error_set(err, ERR_IO, "%s: %s: %s", error_path(path), what,
                     is_late ? "HAProxy is silent" : strerror(errno));
}

static int64_t now_ms(void) {
    struct clock clock;
    clock_init_real(&clock);
    return clock_now(&clock) / 1000000;
}

// false, and errno says why: it takes too long, byte by byte or without any, or a signal came.
static bool wait_for_bytes(int fd, int64_t until_ms) {
    struct pollfd bytes = {.fd = fd, .events = POLLIN};
    int64_t left_ms = until_ms - now_ms();
    int n_ready = poll(&bytes, 1, left_ms > 0 ? (int)left_ms : 0);
    if (n_ready == 0) errno = EAGAIN;
    return n_ready > 0;
}

// HAProxy closes after its answer. A signal ends the wait: the caller knows whether to ask again.
// text gets n_room bytes at most, a NUL among them.
static enum status ask(const char *path, const char *command, char *text, size_t n_room,
                       size_t *n_bytes, struct error *err) {
    int fd = -1;
    size_t n_command = strlen(command);
    int64_t until_ms = now_ms() + LIMIT_HAPROXY_MS;
    enum status st = connect_to(&fd, path, err);

    *n_bytes = 0;
    for (size_t n = 0; !st && n < n_command;) {
        ssize_t n_put = write(fd, command + n, n_command - n);
        if (n_put < 0) st = fail(path, "write", err);
        n += n_put > 0 ? (size_t)n_put : 0;
    }
    while (!st) {
        bool is_there = wait_for_bytes(fd, until_ms);
        ssize_t n_got = is_there ? read(fd, text + *n_bytes, n_room - *n_bytes) : -1;
        if (n_got < 0) st = fail(path, "read", err);
        if (n_got <= 0) break;
        *n_bytes += (size_t)n_got;
        if (*n_bytes == n_room)
            st = error_set(err, ERR_LIMIT, "%s: an answer of %zu bytes or more",
                           error_path(path), n_room);
    }
    if (!st) text[*n_bytes] = '\0';
    if (fd >= 0) close(fd);
    return st;
}

// What HAProxy says where it should say a table or nothing: its first line.
static enum status refused(const char *path, const char *answer, struct error *err) {
    int n = (int)strcspn(answer, "\n");
    return error_set(err, ERR_INPUT, "%s: HAProxy says: %.*s", error_path(path), n, answer);
}

enum status haproxy_show(struct haproxy_servers *servers, const char *socket_path,
                         const char *backend, struct error *err) {
    char command[LIMIT_REPLICA_NAME_BYTES + 32];
    size_t n_bytes = 0;
    char *text = malloc(LIMIT_HAPROXY_BYTES);
    enum status st = OK;

    if (!text) return error_set(err, ERR_MEMORY, "no memory for HAProxy's table");
    snprintf(command, sizeof(command), "show stat %s 4 -1\n", backend); // 4: servers
    st = ask(socket_path, command, text, LIMIT_HAPROXY_BYTES, &n_bytes, err);
    if (!st && text[0] != '#') st = refused(socket_path, text, err);
    if (!st) st = haproxy_parse(servers, text, n_bytes, err);
    free(text);
    return st;
}

enum status haproxy_set(const char *socket_path, const char *backend, const char *server,
                        enum haproxy_state state, struct error *err) {
    char command[2 * LIMIT_REPLICA_NAME_BYTES + 32], answer[1024];
    size_t n_bytes = 0;

    snprintf(command, sizeof(command), "set server %s/%s state %s\n", backend, server,
             state == HAPROXY_UP         ? "ready"
             : state == HAPROXY_DRAINING ? "drain"
                                         : "maint");
    enum status st = ask(socket_path, command, answer, sizeof(answer), &n_bytes, err);
    if (!st && n_bytes == 0) // it says yes with an empty line
        st = error_set(err, ERR_IO, "%s: HAProxy closed without an answer",
                       error_path(socket_path));
    if (!st && n_bytes > strspn(answer, "\n")) st = refused(socket_path, answer, err);
    return st;
}
