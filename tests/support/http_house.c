// Opening and closing the house, its worker, its client.
#include "tests/support/http_house.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REPLY_BYTES = 1 << 20 };

// ---- an engine that only has statistics ---------------------------------------------------------

static void fake_stats(struct engine *e, struct engine_stats *stats) {
    struct fake_engine *fake = (struct fake_engine *)e;
    pthread_mutex_lock(&fake->lock);
    *stats = fake->stats;
    pthread_mutex_unlock(&fake->lock);
}

static int fake_context(const struct engine *e) {
    (void)e;
    return 2048;
}

static const struct engine_table fake_table = {
    .name = "fake", .stats = fake_stats, .context = fake_context};

// ---- the house: server, worker, and what they share ---------------------------------------------

struct house house;

void nap_ms(int ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static void deliver(enum delivery_kind kind, exchange_id id, const char *text) {
    struct delivery d = {.kind = kind, .exchange = id, .http_status = 200};
    if (text) {
        d.bytes = malloc(strlen(text) + 1);
        memcpy(d.bytes, text, strlen(text) + 1);
        d.n_bytes = strlen(text);
    }
    d.n_prompt = 3;
    while (!ring_put(&house.queues.deliveries, &d)) {
        if (atomic_load(&house.is_closing)) { // nobody takes it any more
            free(d.bytes);
            return;
        }
        nap_ms(1);
    }
    os_signal_raise(&house.queues.deliveries_signal);
}

// Of a client that has left: more than all that a small key may use.
static void deliver_used(exchange_id id) {
    struct delivery d = {.kind = DELIVER_USED,
                         .exchange = id,
                         .cache_scope = atomic_load(&house.scope),
                         .n_prompt = 60,
                         .n_completion = 60};
    ring_put(&house.queues.deliveries, &d);
    os_signal_raise(&house.queues.deliveries_signal);
}

// 64 KB of comment, again and again: more than a client that does not read may leave.
static void flood(exchange_id id) {
    static char piece[65537];
    memset(piece, 'x', sizeof(piece) - 1);
    deliver(DELIVER_HEAD, id, NULL);
    for (int i = 0; i < 200; i++) deliver(DELIVER_DATA, id, piece);
}

static void obey(const struct job *job) {
    if (strncmp(job->body, "stream", 6) == 0) {
        deliver(DELIVER_HEAD, job->exchange, NULL);
        deliver(DELIVER_DATA, job->exchange, "data: one\n\n");
        deliver(DELIVER_DATA, job->exchange, "data: two\n\n");
        deliver(DELIVER_END, job->exchange, "data: [DONE]\n\n");
    } else if (strncmp(job->body, "waits", 5) == 0) {
        deliver(DELIVER_HEAD, job->exchange, NULL); // for its turn
    } else if (strncmp(job->body, "head", 4) == 0) {
        deliver(DELIVER_HEAD, job->exchange, NULL);
        deliver(DELIVER_DATA, job->exchange, "data: one\n\n");
    } else if (strncmp(job->body, "late", 4) == 0) {
        deliver(DELIVER_HEAD, job->exchange, NULL);
        nap_ms(1500); // longer than the loop's tick
        deliver(DELIVER_DATA, job->exchange, "data: late\n\n");
        deliver(DELIVER_END, job->exchange, NULL);
    } else if (strncmp(job->body, "sleep", 5) == 0) {
        nap_ms(1500);
    } else if (strncmp(job->body, "flood", 5) == 0) {
        flood(job->exchange);
    } else if (strncmp(job->body, "refuse", 6) == 0) {
        struct delivery d = {
            .kind = DELIVER_REPLY, .exchange = job->exchange, .http_status = 400};
        ring_put(&house.queues.deliveries, &d);
        os_signal_raise(&house.queues.deliveries_signal);
    } else if (strncmp(job->body, "never", 5) != 0) {
        deliver(DELIVER_REPLY, job->exchange, job->body); // an echo
    }
}

static void *work(void *unused) {
    (void)unused;
    for (;;) {
        struct job job;
        struct pollfd fd = {.fd = house.queues.jobs_signal.read_fd, .events = POLLIN};
        poll(&fd, 1, 1000);
        os_signal_clear(&house.queues.jobs_signal);
        while (ring_take(&house.queues.jobs, &job)) {
            if (job.kind == JOB_STOP) return NULL;
            if (job.kind == JOB_GONE) {
                deliver_used(job.exchange);
                atomic_fetch_add(&house.n_gone, 1);
                continue;
            }
            if (job.kind == JOB_SERVE || job.kind == JOB_RETIRE) continue;
            atomic_fetch_add(&house.n_jobs, 1);
            atomic_store(&house.scope, job.cache_scope);
            obey(&job);
            free(job.body);
        }
    }
}

static void *turn(void *unused) {
    (void)unused;
    http_server_run(&house.server);
    return NULL;
}

static void house_setup(void) {
    memset(&house, 0, sizeof(house));
    arena_init(&house.arena, 16 << 20);
    clock_init_real(&house.clock);
    metrics_init(&house.metrics);
    ck_assert_int_eq(exchange_queues_open(&house.queues, &house.arena, NULL), OK);
    house.engine.engine.table = &fake_table;
    pthread_mutex_init(&house.engine.lock, NULL);
    house.said = tmpfile();
    house.options = (struct http_options){.host = "127.0.0.1",
                                          .keys = &house.keys,
                                          .cors = &house.cors,
                                          .queues = &house.queues,
                                          .clock = &house.clock,
                                          .metrics = &house.metrics,
                                          .log = &house.log,
                                          .announce = house.said,
                                          .max_inside = 100,
                                          .drain_ns = 5000000000};
}

// Listens and turns, but is still loading.
void start_loading(void) {
    struct error err = {0};
    ck_assert_msg(http_server_open(&house.server, &house.options, &err) == OK, "%s",
                  err.text);
    house.has_loop = pthread_create(&house.loop, NULL, turn, NULL) == 0;
}

void start_ready(void) {
    house.served = (struct served){.engine = &house.engine.engine,
                                   .model = &house.model,
                                   .id = "tiny",
                                   .created_s = 7};
    sampling_defaults_init(&house.model.sampling);
    house.has_worker = pthread_create(&house.worker, NULL, work, NULL) == 0;
    http_server_ready(&house.server, &house.served);
}

static void house_teardown(void) {
    atomic_store(&house.is_closing, true);
    if (house.has_loop) {
        http_server_terminate(&house.server);
        http_server_terminate(&house.server);
        pthread_join(house.loop, NULL);
    }
    if (house.has_worker) {
        struct job stop = {.kind = JOB_STOP};
        while (!ring_put(&house.queues.jobs, &stop)) nap_ms(1);
        os_signal_raise(&house.queues.jobs_signal);
        pthread_join(house.worker, NULL);
    }
    http_server_close(&house.server);
    exchange_queues_close(&house.queues);
    arena_free(&house.arena);
    if (house.said) fclose(house.said);
}

// ---- a client -----------------------------------------------------------------------------------

int64_t now_ms(void) {
    return clock_now(&house.clock) / 1000000;
}

int dial(void) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)house.server.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

void say_bytes(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) return; // the reply says why
        bytes += sent;
        n -= (size_t)sent;
    }
}

void say(int fd, const char *text) {
    say_bytes(fd, text, strlen(text));
}

// Reads on until text is there, the other side closes, or patience ends. Returns what there is.
const char *hear(int fd, const char *text) {
    static char reply[REPLY_BYTES];
    size_t n = 0;
    int64_t until = now_ms() + PATIENCE_MS;
    reply[0] = '\0';
    while ((!text || !strstr(reply, text)) && n + 1 < sizeof(reply)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - now_ms();
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) break;
        ssize_t got = recv(fd, reply + n, sizeof(reply) - 1 - n, 0);
        if (got <= 0) break;
        n += (size_t)got;
        reply[n] = '\0';
    }
    return reply;
}

// One request on a connection of its own.
const char *ask(const char *request) {
    int fd = dial();
    say(fd, request);
    const char *reply = hear(fd, NULL);
    close(fd);
    return reply;
}

const char *get(const char *path) {
    char request[512];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nConnection: close\r\n\r\n",
             path);
    return ask(request);
}

void say_post(int fd, const char *path, const char *headers, const char *body) {
    char request[4096];
    snprintf(request, sizeof(request),
             "POST %s HTTP/1.1\r\nContent-Length: %zu\r\n%s\r\n%s", path, strlen(body),
             headers, body);
    say(fd, request);
}

const char *post(const char *path, const char *headers, const char *body) {
    int fd = dial();
    char all[1024];
    snprintf(all, sizeof(all), "Connection: close\r\n%s", headers);
    say_post(fd, path, all, body);
    const char *reply = hear(fd, NULL);
    close(fd);
    return reply;
}

void assert_has(const char *what, const char *reply, const char *text) {
    ck_assert_msg(strstr(reply, text) != NULL, "%s: no '%s' in\n%.2000s", what, text,
                  reply);
}

void assert_lacks(const char *what, const char *reply, const char *text) {
    ck_assert_msg(strstr(reply, text) == NULL, "%s: '%s' in\n%.2000s", what, text, reply);
}

// Waits until *counter is n; false when patience ends first.
bool comes_to(atomic_int *counter, int n, int patience_ms) {
    for (int64_t until = now_ms() + patience_ms; now_ms() < until; nap_ms(1)) {
        if (atomic_load(counter) == n) return true;
    }
    return atomic_load(counter) == n;
}

void start(void) {
    start_loading();
    start_ready();
    for (int i = 0; i < 1000 && !strstr(get("/ready"), " 200 "); i++) nap_ms(1);
}

void set_stats(int n_running, uint64_t n_steps) {
    pthread_mutex_lock(&house.engine.lock);
    house.engine.stats = (struct engine_stats){.n_running = n_running, .n_steps = n_steps};
    pthread_mutex_unlock(&house.engine.lock);
}

void join_loop(void) {
    pthread_join(house.loop, NULL);
    house.has_loop = false;
}

TCase *house_tcase(Suite *s, const char *name) {
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, house_setup, house_teardown);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return t;
}
