// Word to the manager that started us (systemd): one datagram for each state, as sd_notify(3)
// describes it. Without a manager nothing is said, and nothing fails.
//
//   READY=1       requests are taken          WATCHDOG=1   alive; when it stays away for too long,
//   STOPPING=1    no new ones                              the manager kills and restarts us
#ifndef LEVEL2_SERVICE_MANAGER_H
#define LEVEL2_SERVICE_MANAGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct service_manager { // all-zero: none
    bool is_there;
    int fd; // owned
    struct sockaddr_un to;
    socklen_t n_to;
    int64_t watchdog_ns; // it waits for WATCHDOG=1 so long; 0: it does not
    int64_t alive_ns;    // of the last WATCHDOG=1
};

// From the environment: NOTIFY_SOCKET (a path, or @NAME for an abstract one), WATCHDOG_USEC and
// WATCHDOG_PID. What is wrong there means: no manager.
void service_manager_open(struct service_manager *m);

// "READY=1". Never blocks: a manager that does not read loses it.
void service_manager_tell(const struct service_manager *m, const char *state);

// WATCHDOG=1, if something has moved since the last one. alive_ns: when it last did.
void service_manager_watchdog(struct service_manager *m, int64_t alive_ns);

void service_manager_close(struct service_manager *m);

#endif
