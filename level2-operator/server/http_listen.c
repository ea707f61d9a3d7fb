// The steps of every server: resolve, socket, bind, listen.
#include "level2-operator/server/http_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port_of(int fd) {
    struct sockaddr_storage at;
    socklen_t n = sizeof(at);
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0) return -1;
    if (at.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&at)->sin6_port);
    return ntohs(((struct sockaddr_in *)&at)->sin_port);
}

// A listening descriptor, or -1 with errno.
static int listen_on(const struct addrinfo *at) {
    int fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    if (fd < 0) return -1;

    // Without it a restarted server would wait a minute for the old connections to be forgotten.
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0 &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) {
        return fd;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

enum status http_listen(int *fd, const char *host, int *port, struct error *err) {
    struct addrinfo *at = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    char service[16];

    snprintf(service, sizeof(service), "%d", *port);
    int failed = getaddrinfo(host, service, &hints, &at);
    if (failed) {
        return error_set(err, ERR_IO, "--host %s: %s; 127.0.0.1 is this machine only", host,
                         gai_strerror(failed));
    }
    *fd = listen_on(at);
    int reason = errno;
    freeaddrinfo(at);
    if (*fd < 0 && reason == EADDRINUSE) {
        return error_set(
            err, ERR_IO,
            "port %d on %s is in use; stop the other program, or take --port 0", *port,
            host);
    }
    if (*fd < 0) {
        return error_set(err, ERR_IO, "cannot listen on %s port %d: %s", host, *port,
                         strerror(reason));
    }
    *port = port_of(*fd);
    return OK;
}
