// How long a context is, by what servers and strangers say.
#include "level1-user/client_models.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/scripted_server.h"
#include "tests/support/suite.h"

#define MODEL(id, more) "{\"id\":\"" id "\",\"object\":\"model\"" more "}"
#define TWO                                                                                \
    "{\"object\":\"list\",\"data\":[" MODEL("a", ",\"max_model_len\":4096") "," MODEL(     \
        "b", ",\"max_model_len\":8192") "]}"

static const struct {
    const char *name, *body;
    int64_t want; // of model "b"
} bodies[] = {
    {"the model's own",              TWO,                                                          8192},
    {"the only one's",               "{\"data\":[" MODEL("a",                                      ",\"max_model_len\":512") "]}",512},
    {"of two, none has the name",
     "{\"data\":[" MODEL("a",                                                                ",\"max_model_len\":512") "," MODEL("c","") "]}", 0},
    {"not told, as OpenAI does not",                      "{\"data\":[" MODEL("b",                                                                                 "") "]}",          0},
    {"no number","{\"data\":[" MODEL("b",",\"max_model_len\":\"9\"") "]}",0},
    {"a fraction",                    "{\"data\":[" MODEL("b",                                                                        ",\"max_model_len\":9.5") "]}",0},
    {"negative",                              "{\"data\":[" MODEL("b",                                                                               ",\"max_model_len\":-1") "]}",0},
    {"above the limit",                             "{\"data\":[" MODEL("b",                                                                                         ",\"max_model_len\":99999999999") "]}",0},
    {"no list", "{\"data\":{\"id\":\"b\"}}",0},
    {"no object","[1]",0},
    {"entries of any type",                      "{\"data\":[1,null,[],\"b\"]}",                                                       0},
    {"HTML",                    "<html>",                                                                                                 0},
    {"nothing",          "",                   0},
};

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

static int64_t ask(const char *answer) {
    const struct scripted_piece pieces[] = {
        {answer, 0},
        {NULL,   0}
    };
    static struct scripted_server server;
    struct client client;
    struct clock clock;
    char url[64];

    clock_init_real(&clock);
    scripted_server_start(&server, pieces, SCRIPTED_CLOSE);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/", server.port);
    const struct client_options options = {.base_url = url, .api_key = "sk-secret"};
    ck_assert_int_eq(client_open(&client, &options, &clock, NULL), OK);
    int64_t n = client_context(&client, "b");
    client_close(&client);
    scripted_server_stop(&server);
    ck_assert_msg(strstr(server.request, "GET /v1/models HTTP/1.1\r\n") == server.request &&
                      strstr(server.request, "Authorization: Bearer sk-secret\r\n"),
                  "the request: %s", server.request);
    return n;
}

START_TEST(a_server_is_asked_with_the_key_of_the_client) {
    assert_number("client_context", ask(HEAD("200") TWO), 8192);
    assert_number("client_context, 401", ask(HEAD("401") TWO), 0);
    assert_number("client_context, no answer", ask(""), 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/client_models");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_context_is_found_or_not_known, 0,
                        sizeof(bodies) / sizeof(bodies[0]));
    tcase_add_test(reference, a_server_is_asked_with_the_key_of_the_client);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, any_beginning_of_an_answer_is_safe);
    suite_add_tcase(s, failures);
    return s;
}
