// A name server that is silent: getaddrinfo, which cannot be interrupted, takes its time. libcurl asks the
// function that stands here.
#include "level1-user/client.h"

#include <netdb.h>
#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

enum { SILENCE_S = 4 };

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    (void)node, (void)service, (void)hints, (void)found;
    nanosleep(&(struct timespec){.tv_sec = SILENCE_S}, NULL);
    return EAI_AGAIN;
}

START_TEST(a_silent_name_server_does_not_hold_up_the_deadline) {
    struct clock clock;
    struct client client;
    struct reply reply;
    struct error err = {0};
    const struct client_options options = {.base_url = "http://parrots.example/v1"};

    clock_init_real(&clock);
    reply_init(&reply);
    assert_status("client_open", client_open(&client, &options, &clock, &err), OK);
    struct client_call call = {.body = "{}", .reply = &reply};
    int64_t start_ns = clock_now(&clock);
    call.deadline_ns = start_ns + 200000000;
    assert_status("client_chat", client_chat(&client, &call, &err), ERR_IO);
    client_close(&client);
    int64_t took_ms = (clock_now(&clock) - start_ns) / 1000000;
    ck_assert_msg(strstr(err.text, "the deadline came"), "it says: %s", err.text);
    ck_assert_msg(took_ms < SILENCE_S * 1000, "with a deadline of 200 ms it took %d ms",
                  (int)took_ms);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/client_name");
    TCase *tc = tcase_create("failures");
    tcase_set_timeout(tc, 10);
    tcase_add_test(tc, a_silent_name_server_does_not_hold_up_the_deadline);
    suite_add_tcase(s, tc);
    return s;
}
