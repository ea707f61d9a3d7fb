// Asks a replica itself, past HAProxy: does GET http://ADDRESS/ready say 200?
#ifndef LEVEL2_READY_PROBE_H
#define LEVEL2_READY_PROBE_H

#include <stdbool.h>

#include "common/status.h"

struct ready_probe { // all zero: closed
    void *curl;      // owned
};

enum status ready_probe_open(struct ready_probe *p, struct error *err);
void ready_probe_close(struct ready_probe *p);

// address: "127.0.0.1:8081". Whatever else happens within a second is no.
bool ready_probe_ask(struct ready_probe *p, const char *address);

#endif
