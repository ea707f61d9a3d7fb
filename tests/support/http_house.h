// A house for the tests of the HTTP loop: a server on a real socket, a worker that does what the body
// of a request says, and a client. Word that the worker knows, at the beginning of a body:
//
//   stream   head, three events, end           head    head, one event, then nothing
//   late     head, 1.5 s, event, end           flood   head and 13 MB of events
//   never    nothing at all                    sleep   nothing, and the worker stands still for 1.5 s
//   refuse   400 at once                        else    an echo
#ifndef TESTS_SUPPORT_HTTP_HOUSE_H
#define TESTS_SUPPORT_HTTP_HOUSE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/engine_impl.h"
#include "level2-operator/server/http_server.h"
#include "tests/support/suite.h"

// An engine that only has statistics: see set_stats.
struct fake_engine {
    struct engine engine;
    pthread_mutex_t lock;
    struct engine_stats stats;
};

struct house {
    struct arena arena;
    struct clock clock;
    struct log log;
    struct metrics metrics;
    struct http_keys keys;
    struct http_cors cors;
    struct exchange_queues queues;
    struct http_options options;
    struct http_server server;
    struct fake_engine engine;
    struct model model;   // only its sampling defaults: the API's
    struct served served; // by the engine
    pthread_t loop, worker;
    bool has_loop, has_worker;
    FILE *said; // what was announced
    atomic_int n_jobs, n_gone;
    atomic_bool is_closing;
    _Atomic uint64_t scope; // of the last job
};
extern struct house house; // of the test that runs

enum { PATIENCE_MS = 10000 }; // for what should take no time

// A test case whose tests find the house open: set house.options, then start.
TCase *house_tcase(Suite *s, const char *name);

void start_loading(void); // the server answers, but has no model yet
void start_ready(void);   // and now it has one
void start(void);         // both, and waits until it is so

void set_stats(int n_running, uint64_t n_steps); // what the engine says of itself

// A client. What is heard is a static buffer, valid until the next call.
int dial(void);
void say(int fd, const char *text);
void say_bytes(int fd, const char *bytes, size_t n);
void say_post(int fd, const char *path, const char *headers, const char *body);
const char *hear(int fd, const char *text); // until text is there; NULL: until the end
const char *ask(const char *request);       // a request on a connection of its own
const char *get(const char *path);
const char *post(const char *path, const char *headers, const char *body);

void assert_has(const char *what, const char *reply, const char *text);
void assert_lacks(const char *what, const char *reply, const char *text);

int64_t now_ms(void);
void nap_ms(int ms);
bool comes_to(atomic_int *counter, int n, int patience_ms); // within patience?
void join_loop(void); // waits until the server has stopped

#endif
