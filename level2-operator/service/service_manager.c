// A socket for datagrams, and the variables that say where to.
#include "level2-operator/service/service_manager.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/number.h"

static int64_t watchdog_ns(void) {
    const char *wanted = getenv("WATCHDOG_USEC"), *whose = getenv("WATCHDOG_PID");
    uint64_t us, pid;
    if (!wanted || !number_u64(wanted, &us) || us > INT64_MAX / 1000) return 0;
    if (whose && (!number_u64(whose, &pid) || pid != (uint64_t)getpid())) return 0;
    return (int64_t)us * 1000;
}

// An abstract name begins with a zero byte and does not end with one.
static bool find_address(struct service_manager *m, const char *name) {
    size_t n = strlen(name);
    if ((*name != '/' && *name != '@') || n < 2 || n >= sizeof(m->to.sun_path))
        return false;
    m->to.sun_family = AF_UNIX;
    memcpy(m->to.sun_path, name, n);
    m->n_to = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (*name == '/'));
    if (*name == '@') m->to.sun_path[0] = '\0';
    return true;
}

void service_manager_open(struct service_manager *m) {
    const char *name = getenv("NOTIFY_SOCKET");
    memset(m, 0, sizeof(*m));
    if (!name || !find_address(m, name)) return;
    m->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (m->fd < 0) return;
    fcntl(m->fd, F_SETFD, FD_CLOEXEC);
    fcntl(m->fd, F_SETFL, O_NONBLOCK);
    m->watchdog_ns = watchdog_ns();
    m->is_there = true;
}

void service_manager_tell(const struct service_manager *m, const char *state) {
    if (!m->is_there) return;
    (void)!sendto(m->fd, state, strlen(state), 0, (const struct sockaddr *)&m->to, m->n_to);
}

void service_manager_watchdog(struct service_manager *m, int64_t alive_ns) {
    if (m->watchdog_ns == 0 || alive_ns <= m->alive_ns) return;
    m->alive_ns = alive_ns;
    service_manager_tell(m, "WATCHDOG=1");
}

void service_manager_close(struct service_manager *m) {
    if (m->is_there) close(m->fd);
    memset(m, 0, sizeof(*m));
}
