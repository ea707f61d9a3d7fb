// How long a context is, by what servers and strangers say.
#include "level1-user/client_models.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/scripted_server.h"
#include "tests/support/suite.h"

// clang-format off
#define MODEL(id, more) "{\"id\":\"" id "\",\"object\":\"model\"" more "}"
#define LENGTH(n)       ",\"max_model_len\":" n
#define LIST(models)    "{\"object\":\"list\",\"data\":[" models "]}"
#define TWO             LIST(MODEL("a", LENGTH("4096")) "," MODEL("b", LENGTH("8192")))

static const struct {
    const char *name, *body;
    int64_t want; // of model "b"
} bodies[] = {
    {"the model's own", TWO, 8192},
    {"the only one's", LIST(MODEL("a", LENGTH("512"))), 512},
    {"of two, none has the name", LIST(MODEL("a", LENGTH("512")) "," MODEL("c", "")), 0},
    {"not told, as OpenAI does not", LIST(MODEL("b", "")), 0},
    {"no number", LIST(MODEL("b", LENGTH("\"9\""))), 0},
    {"a fraction", LIST(MODEL("b", LENGTH("9.5"))), 0},
    {"negative", LIST(MODEL("b", LENGTH("-1"))), 0},
    {"above the limit", LIST(MODEL("b", LENGTH("99999999999"))), 0},
    {"no list", "{\"data\":{\"id\":\"b\"}}", 0},
    {"no object", "[1]", 0},
    {"entries of any type", "{\"data\":[1,null,[],\"b\"]}", 0},
    {"HTML", "<html>", 0},
    {"nothing", "", 0},
};
// clang-format on

START_TEST(a_context_is_found_or_not_known) {
    const char *body = bodies[_i].body;
    assert_number(bodies[_i].name, models_context(body, strlen(body), "b"),
                  bodies[_i].want);
}
END_TEST

START_TEST(any_beginning_of_an_answer_is_safe) {
    for (size_t n = 0; n < strlen(TWO); n++)
        assert_number("models_context", models_context(TWO, n, "b"), 0);
}
END_TEST

#define HEAD(status) "HTTP/1.1 " status " x\r\nConnection: close\r\n\r\n"

enum { PATIENCE_MS = 3000 };

// base: what stands behind the port; target: what is to be asked for.
static int64_t ask(const char *answer, const char *base, const char *target) {
    const struct scripted_piece pieces[] = {
        {answer, 0},
        {NULL,   0}
    };
    static struct scripted_server server;
    struct client client;
    struct clock clock;
    char url[80], line[80];

    clock_init_real(&clock);
    scripted_server_start(&server, pieces, SCRIPTED_CLOSE);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port, base);
    snprintf(line, sizeof(line), "GET %s HTTP/1.1\r\n", target);
    const struct client_options options = {.base_url = url, .api_key = "sk-secret"};
    ck_assert_int_eq(client_open(&client, &options, &clock, NULL), OK);
    int64_t n = client_context(&client, "b", PATIENCE_MS, NULL);
    client_close(&client);
    scripted_server_stop(&server);
    ck_assert_msg(strstr(server.request, line) == server.request &&
                      strstr(server.request, "Authorization: Bearer sk-secret\r\n"),
                  "the request: %s", server.request);
    return n;
}

START_TEST(a_server_is_asked_with_the_key_of_the_client) {
    static const char base[] = "/v1/", target[] = "/v1/models";
    assert_number("client_context", ask(HEAD("200") TWO, base, target), 8192);
    assert_number("client_context, 401", ask(HEAD("401") TWO, base, target), 0);
    assert_number("client_context, no answer", ask("", base, target), 0);
}
END_TEST

START_TEST(what_a_base_url_asks_for_is_asked_for_here_too) {
    assert_number("client_context", ask(HEAD("200") TWO, "/v1?v=1", "/v1/models?v=1"),
                  8192);
}
END_TEST

// A server that says nothing. Whoever waits longer than asked is ended by the test's own limit.
static int64_t ask_mute(int64_t patience_ms, const volatile sig_atomic_t *cancelled) {
    static const struct scripted_piece nothing[] = {
        {NULL, 0}
    };
    static struct scripted_server server;
    struct client client;
    struct clock clock;
    char url[80];

    clock_init_real(&clock);
    scripted_server_start(&server, nothing, SCRIPTED_SILENT);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1", server.port);
    const struct client_options options = {.base_url = url};
    ck_assert_int_eq(client_open(&client, &options, &clock, NULL), OK);
    int64_t n = client_context(&client, "b", patience_ms, cancelled);
    client_close(&client);
    scripted_server_stop(&server);
    return n;
}

START_TEST(a_mute_server_is_not_waited_for) {
    static const volatile sig_atomic_t cancelled = 1;
    assert_number("client_context, 100 ms", ask_mute(100, NULL), 0);
    assert_number("client_context, cancelled", ask_mute(600000, &cancelled), 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/client_models");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_context_is_found_or_not_known, 0, ROWS(bodies));
    tcase_add_test(reference, a_server_is_asked_with_the_key_of_the_client);
    tcase_add_test(reference, what_a_base_url_asks_for_is_asked_for_here_too);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, any_beginning_of_an_answer_is_safe);
    tcase_add_test(failures, a_mute_server_is_not_waited_for);
    suite_add_tcase(s, failures);
    return s;
}
