// A server on the loopback that says what a test tells it, whatever is asked: for faults that a real
// server only shows on bad days. One thread, one connection at a time.
#ifndef TESTS_SUPPORT_SCRIPTED_SERVER_H
#define TESTS_SUPPORT_SCRIPTED_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct scripted_piece {
    const char *bytes;
    int pause_ms; // before these bytes
};

enum scripted_end {
    SCRIPTED_CLOSE, // close the connection after the last piece
    SCRIPTED_KEEP,  // wait for the next request on it
    SCRIPTED_SILENT // say nothing more, keep it open until the server stops
};

struct scripted_server {
    // fixed at start
    const struct scripted_piece *pieces; // ends with NULL bytes; sent for each request
    enum scripted_end end;
    int port;
    // owned
    int listener;
    pthread_t thread;
    atomic_bool stop;
    // what came in: read it after scripted_server_stop
    char request[16384]; // the last one, NUL-terminated
    int n_requests, n_connections;
};

void scripted_server_start(struct scripted_server *s, const struct scripted_piece *pieces,
                           enum scripted_end end);
void scripted_server_stop(struct scripted_server *s);

#endif
