// A loop of accept, read one request, send the script.
#include "tests/support/scripted_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(int n_ms) {
    struct timespec t = {n_ms / 1000, (long)(n_ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

// True when fd is readable, false when the server is to stop.
static bool wait_readable(struct scripted_server *s, int fd) {
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 10) > 0) return true;
    }
    return false;
}

// Bytes of the whole request once its headers are in, 0 before.
static size_t request_bytes(const char *request) {
    const char *end = strstr(request, "\r\n\r\n");
    const char *length = strstr(request, "Content-Length:");
    if (!end) return 0;
    return (size_t)(end + 4 - request) +
           (length && length < end ? strtoul(length + 15, NULL, 10) : 0);
}

static bool read_request(struct scripted_server *s, int fd) {
    size_t n = 0;
    for (;;) {
        s->request[n] = '\0';
        size_t n_whole = request_bytes(s->request);
        if (n_whole > 0 && n >= n_whole) return true;
        if (n == sizeof(s->request) - 1 || !wait_readable(s, fd)) return false;
        ssize_t got = recv(fd, s->request + n, sizeof(s->request) - 1 - n, 0);
        if (got <= 0) return false;
        n += (size_t)got;
    }
}

static bool send_script(struct scripted_server *s, int fd) {
    for (const struct scripted_piece *p = s->pieces; p->bytes; p++) {
        size_t n = strlen(p->bytes);
        if (p->pause_ms > 0) pause_ms(p->pause_ms);
        if (send(fd, p->bytes, n, MSG_NOSIGNAL) != (ssize_t)n) return false;
    }
    return true;
}

static void serve_connection(struct scripted_server *s, int fd) {
    s->n_connections++;
    while (read_request(s, fd)) {
        s->n_requests++;
        if (!send_script(s, fd) || s->end == SCRIPTED_CLOSE) return;
        while (s->end == SCRIPTED_SILENT && !atomic_load(&s->stop)) pause_ms(5);
    }
}

static void *server_main(void *arg) {
    struct scripted_server *s = arg;
    while (wait_readable(s, s->listener)) {
        int fd = accept(s->listener, NULL, NULL);
        if (fd < 0) continue;
        serve_connection(s, fd);
        close(fd);
    }
    return NULL;
}

void scripted_server_start(struct scripted_server *s, const struct scripted_piece *pieces,
                           enum scripted_end end) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t n_address = sizeof(address);

    memset(s, 0, sizeof(*s));
    s->pieces = pieces;
    s->end = end;
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK); // port 0: a free one
    ck_assert_int_eq(bind(s->listener, (struct sockaddr *)&address, n_address), 0);
    ck_assert_int_eq(listen(s->listener, 8), 0);
    getsockname(s->listener, (struct sockaddr *)&address, &n_address);
    s->port = ntohs(address.sin_port);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, server_main, s), 0);
}

void scripted_server_stop(struct scripted_server *s) {
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    close(s->listener);
}
