// HAProxy's table and its socket: a table as 2.6 writes it, tables that nobody should write, and a socket
// whose other end we play.
#include "level2-operator/rollout/haproxy.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

// The columns that we need, in an order of their own.
#define COLUMNS                                                                            \
    "# pxname,svname,qcur,scur,econ,eresp,wretr,status,hrsp_2xx,hrsp_3xx,hrsp_4xx,"        \
    "hrsp_5xx,hrsp_other,srv_abrt,addr,\n"
#define ROW_A "replicas,a,1,2,10,20,30,UP,1000,100,50,5,1,40,127.0.0.1:8081,\n"

static enum status parse(struct haproxy_servers *s, const char *text, struct error *err) {
    // Ends where malloc ended it: one step too far is seen.
    size_t n = strlen(text);
    char *copy = malloc(n > 0 ? n : 1);
    memcpy(copy, text, n);
    enum status st = haproxy_parse(s, copy, n, err);
    free(copy);
    return st;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(a_row_is_one_server) {
    struct haproxy_servers s = {0};
    struct error err = {0};
    assert_status(err.text, parse(&s, COLUMNS ROW_A "\n", &err), OK);
    assert_number("servers", s.n_items, 1);
    assert_text("name", s.items[0].name, "a");
    assert_text("address", s.items[0].address, "127.0.0.1:8081");
    assert_text("state", haproxy_state_name(s.items[0].state), "up");
    assert_number("running and waiting", s.items[0].n_sessions, 3);
    assert_number("errors", s.items[0].n_errors, 5 + 10 + 20 + 30 + 40);
    assert_number("requests", s.items[0].n_requests,
                  1000 + 100 + 50 + 5 + 1 + 10 + 20 + 30 + 40);
}
END_TEST

START_TEST(columns_are_found_by_name) {
    struct haproxy_servers s = {0};
    struct error err = {0};
    static const char text[] =
        "# svname,new in "
        "3.0,status,scur,qcur,hrsp_5xx,hrsp_4xx,hrsp_3xx,hrsp_2xx,hrsp_other,econ,eresp,"
        "srv_abrt,wretr\nb,\"a \"\"quoted, comma\"\"\",DRAIN,7,0,1,,,2,,,,,\n"
        "c,,\"MAINT (via a/b)\",,,,,,,,,,,,and,more\n";
    assert_status(err.text, parse(&s, text, &err), OK);
    assert_number("servers", s.n_items, 2);
    assert_number("open", s.items[0].n_sessions, 7);
    assert_number("requests", s.items[0].n_requests, 3);
    assert_text("b", haproxy_state_name(s.items[0].state), "draining");
    assert_text("c", haproxy_state_name(s.items[1].state), "in maintenance");
    assert_text("no address is told", s.items[1].address, "");
    assert_number("c is the second", haproxy_find(&s, "c"), 1);
    assert_number("d is nobody", haproxy_find(&s, "d"), -1);
}
END_TEST

static const struct {
    const char *status, *state;
} states[] = {
    {"UP",                 "up"            },
    {"UP 1/2",             "up"            },
    {"no check",           "up"            },
    {"DOWN",               "down"          },
    {"DOWN 1/2",           "down"          },
    {"DOWN (agent)",       "down"          },
    {"NOLB",               "down"          },
    {"DRAIN",              "draining"      },
    {"DRAIN 1/2",          "draining"      },
    {"MAINT",              "in maintenance"},
    {"MAINT (resolution)", "in maintenance"},
    {"what is new",        "down"          },
};

START_TEST(each_status_is_a_state) {
    char text[512];
    struct haproxy_servers s = {0};
    struct error err = {0};
    snprintf(text, sizeof(text), COLUMNS "replicas,a,0,0,0,0,0,%s,0,0,0,0,0,0,,",
             states[_i].status);
    assert_status(err.text, parse(&s, text, &err), OK);
    assert_text(states[_i].status, haproxy_state_name(s.items[0].state), states[_i].state);
}
END_TEST

START_TEST(a_table_of_haproxy_2_6_is_read) {
    static char text[1 << 16];
    struct haproxy_servers s = {0};
    struct error err = {0};
    FILE *f = fopen("tests/fuzz/seeds/haproxy/two_replicas", "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    assert_status(err.text, haproxy_parse(&s, text, n, &err), OK);
    assert_number("servers", s.n_items, 2);
    assert_text("a", haproxy_state_name(s.items[0].state), "draining");
    assert_text("b", s.items[1].address, "127.0.0.1:18082");
    assert_number("answers of b", s.items[1].n_requests, 1);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

static const struct {
    const char *name, *text, *says;
} wrong[] = {
    {"nothing",                 "",                                                     "does not begin"              },
    {"words",                   "No such proxy.\n",                                     "does not begin"              },
    {"a column is missing",     "# pxname,svname,status\n",                             "no column scur"              },
    {"a row is short",          COLUMNS "replicas\n",                                   "line 2: no svname"           },
    {"a row without status",    COLUMNS "replicas,a,1\n",                               "line 2: no status"           },
    {"letters for a number",    COLUMNS "replicas,a,1,x,0,0,0,UP\n",                    "line 2: scur is \"x\""       },
    {"a minus",                 COLUMNS "replicas,a,-1,0,0,0,0,UP\n",                   "qcur is \"-1\""              },
    {"a number beyond 64 bits", COLUMNS "replicas,a,0,0,99999999999999999999,0,0,UP\n",
     "econ is too large"                                                                                              },
    {"a sum beyond 64 bits",
     COLUMNS "replicas,a,0,0,9223372036854775807,9223372036854775807,0,UP\n",           "too large"                   },
    {"an open quote",           COLUMNS "replicas,\"a,1,0\n",                           "line 2: a quote does not end"},
    {"text behind a quote",     COLUMNS "replicas,\"a\"b,1\n",
     "line 2: text behind a closing quote"                                                                            },
    {"a name for two",          COLUMNS ROW_A ROW_A,                                    "line 3: server a again"      },
    {"a command for a name",    COLUMNS "replicas,a; quit,0,0,0,0,0,UP\n",
     "svname is \"a; quit\""                                                                                          },
    {"a newline in a name",     COLUMNS "replicas,\"a\nb\",0,0,0,0,0,UP\n",
     "svname is \"a?b\""                                                                                              },
};

START_TEST(what_is_no_table_is_refused_with_its_line) {
    struct haproxy_servers s = {.n_items = 7};
    struct error err = {0};
    ck_assert_msg(parse(&s, wrong[_i].text, &err) != OK, "%s", wrong[_i].name);
    ck_assert_msg(strstr(err.text, wrong[_i].says), "%s: %s", wrong[_i].name, err.text);
    ck_assert_msg(!strchr(err.text, '\n'), "%s: %s", wrong[_i].name, err.text);
    assert_number("left as it was", s.n_items, 7);
}
END_TEST

START_TEST(limits_hold) {
    char *text = malloc(1 << 20);
    struct haproxy_servers s = {0};
    struct error err = {0};
    for (int n = LIMIT_REPLICAS; n <= LIMIT_REPLICAS + 1; n++) {
        size_t at = (size_t)sprintf(text, "%s", COLUMNS);
        for (int i = 0; i < n; i++)
            at += (size_t)sprintf(text + at, "replicas,s%d,0,0,0,0,0,UP\n", i);
        assert_status("servers", parse(&s, text, &err),
                      n > LIMIT_REPLICAS ? ERR_LIMIT : OK);
    }
    size_t at = (size_t)sprintf(text, "# ");
    for (int i = 0; i <= LIMIT_HAPROXY_COLUMNS; i++) at += (size_t)sprintf(text + at, "x,");
    assert_status("columns", parse(&s, text, &err), ERR_LIMIT);
    at = (size_t)sprintf(text, COLUMNS "replicas,");
    memset(text + at, 'a', LIMIT_REPLICA_NAME_BYTES);
    strcpy(text + at + LIMIT_REPLICA_NAME_BYTES, ",0,0,0,0,0,UP\n");
    assert_status("a name", parse(&s, text, &err), ERR_LIMIT);
    free(text);
}
END_TEST

START_TEST(a_table_cut_anywhere_is_read_or_refused) {
    static const char text[] =
        COLUMNS "\"replicas\",\"a\",1,2,0,0,0,\"UP\",1,1,1,1,1,1,\"x\",\n\n";
    struct error err = {0};
    for (size_t n = 0; n < sizeof(text); n++) {
        struct haproxy_servers s = {0};
        char *copy = malloc(n > 0 ? n : 1);
        memcpy(copy, text, n);
        enum status st = haproxy_parse(&s, copy, n, &err);
        ck_assert(st == OK || err.text[0]);
        ck_assert(s.n_items <= 1);
        free(copy);
    }
}
END_TEST

// ---- the socket ---------------------------------------------------------------------------------

static char socket_path[64];

static int listen_at_path(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(socket_path, sizeof(socket_path), "/tmp/haproxy-test-%d", (int)getpid());
    strcpy(address.sun_path, socket_path);
    unlink(socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(fd, 4), 0);
    return fd;
}

// A process that takes one connection, wants this command, and gives this answer in two pieces.
static pid_t play(int fd, const char *command, const char *answer) {
    pid_t pid = fork();
    if (pid > 0) return pid;
    char got[256] = "";
    size_t n = 0, n_answer = strlen(answer);
    int c = accept(fd, NULL, NULL);
    while (n + 1 < sizeof(got) && !strchr(got, '\n')) {
        ssize_t n_got = read(c, got + n, sizeof(got) - 1 - n);
        if (n_got <= 0) _exit(2);
        n += (size_t)n_got;
    }
    bool is_right = strcmp(got, command) == 0;
    bool is_written = write(c, answer, n_answer / 2) >= 0 &&
                      write(c, answer + n_answer / 2, n_answer - n_answer / 2) >= 0;
    close(c);
    _exit(is_right && is_written ? 0 : 1);
}

static void assert_played(pid_t pid) {
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    assert_number("the other side got the command that it should", status, 0);
}

START_TEST(a_command_gets_its_answer) {
    struct haproxy_servers s = {0};
    struct error err = {0};
    int fd = listen_at_path();
    pid_t pid = play(fd, "show stat replicas 4 -1\n", COLUMNS ROW_A "\n");
    assert_status("show", haproxy_show(&s, socket_path, "replicas", &err), OK);
    assert_number("servers", s.n_items, 1);
    assert_played(pid);
    pid = play(fd, "set server replicas/a state drain\n", "\n");
    assert_status("drain",
                  haproxy_set(socket_path, "replicas", "a", HAPROXY_DRAINING, &err), OK);
    assert_played(pid);
    pid = play(fd, "set server replicas/a state ready\n", "\n");
    assert_status("ready", haproxy_set(socket_path, "replicas", "a", HAPROXY_UP, &err), OK);
    assert_played(pid);
    close(fd);
    unlink(socket_path);
}
END_TEST

START_TEST(what_haproxy_refuses_is_told_in_its_words) {
    struct haproxy_servers s = {0};
    struct error err = {0};
    int fd = listen_at_path();
    pid_t pid = play(fd, "show stat replicas 4 -1\n", "No such proxy.\n\n");
    assert_status("show", haproxy_show(&s, socket_path, "replicas", &err), ERR_INPUT);
    ck_assert_msg(strstr(err.text, "HAProxy says: No such proxy."), "%s", err.text);
    assert_played(pid);
    pid = play(fd, "set server replicas/a state drain\n", "Permission denied.\n\n");
    assert_status("set", haproxy_set(socket_path, "replicas", "a", HAPROXY_DRAINING, &err),
                  ERR_INPUT);
    ck_assert_msg(strstr(err.text, "HAProxy says: Permission denied."), "%s", err.text);
    assert_played(pid);
    pid = play(fd, "set server replicas/a state drain\n", ""); // was it done?
    assert_status("set", haproxy_set(socket_path, "replicas", "a", HAPROXY_DRAINING, &err),
                  ERR_IO);
    ck_assert_msg(strstr(err.text, "without an answer"), "%s", err.text);
    assert_played(pid);
    pid = play(fd, "show stat replicas 4 -1\n", "");
    assert_status("silence", haproxy_show(&s, socket_path, "replicas", &err), ERR_INPUT);
    assert_played(pid);
    close(fd);
    unlink(socket_path);
    assert_status("nobody", haproxy_show(&s, socket_path, "replicas", &err), ERR_IO);
    ck_assert_msg(strstr(err.text, "is HAProxy running"), "%s", err.text);
    assert_status("too long",
                  haproxy_show(&s,
                               "/tmp/11111111111111111111111111111111111111111111111"
                               "1111111111111111111111111111111111111111111111111111111"
                               "1111111111111111111111111111",
                               "replicas", &err),
                  ERR_INPUT);
}
END_TEST

static void wake(int number) {
    (void)number;
}

// Else Ctrl-C would have to wait until a HAProxy that says one byte after the other comes to its end.
START_TEST(a_signal_ends_the_wait) {
    const struct sigaction action = {.sa_handler = wake};
    struct haproxy_servers s = {0};
    struct error err = {0};
    int fd = listen_at_path(); // and never answers
    pid_t pid = getpid(), child = fork();
    if (child == 0) {
        poll(NULL, 0, 50);
        for (int i = 0; i < 20; i++, poll(NULL, 0, 20)) kill(pid, SIGUSR1);
        _exit(0);
    }
    sigaction(SIGUSR1, &action, NULL);
    assert_status("show", haproxy_show(&s, socket_path, "replicas", &err), ERR_IO);
    ck_assert_msg(!strstr(err.text, "silent"), "it waited to the end: %s", err.text);
    while (waitpid(child, NULL, 0) < 0) {}
    close(fd);
    unlink(socket_path);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/haproxy");
    TCase *reference = tcase_create("reference"), *failures = tcase_create("failures");
    TCase *socket = tcase_create("socket");
    signal(SIGPIPE, SIG_IGN);
    tcase_add_test(reference, a_row_is_one_server);
    tcase_add_test(reference, columns_are_found_by_name);
    tcase_add_loop_test(reference, each_status_is_a_state, 0,
                        (int)(sizeof(states) / sizeof(states[0])));
    tcase_add_test(reference, a_table_of_haproxy_2_6_is_read);
    tcase_add_loop_test(failures, what_is_no_table_is_refused_with_its_line, 0,
                        (int)(sizeof(wrong) / sizeof(wrong[0])));
    tcase_add_test(failures, limits_hold);
    tcase_add_test(failures, a_table_cut_anywhere_is_read_or_refused);
    tcase_add_test(socket, a_command_gets_its_answer);
    tcase_add_test(socket, a_signal_ends_the_wait);
    tcase_add_test(socket, what_haproxy_refuses_is_told_in_its_words);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, failures);
    suite_add_tcase(s, socket);
    return s;
}
