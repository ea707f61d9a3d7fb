// The HTTP loop: paths, methods, headers, streams, keys and origins, over real sockets.
#include "level2-operator/server/http_server.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/http_house.h"

// ---- reference: routes --------------------------------------------------------------------------

static const struct {
    const char *name, *request, *want[3];
} routes[] = {
    {"health",                  "GET /health HTTP/1.1\r\n",           {" 200 OK", "\"status\":\"ok\"", "\"ready\""}              },
    {"ready",                   "GET /ready HTTP/1.1\r\n",            {" 200 OK", "{\"status\":\"ready\"}"}                      },
    {"models",
     "GET /v1/models HTTP/1.1\r\n",                                   {" 200 OK", "\"object\":\"list\"", "\"id\":\"tiny\""}      },
    {"one model",
     "GET /v1/models/tiny HTTP/1.1\r\n",                              {" 200 OK", "\"created\":7",
      "\"max_model_len\":2048,\"default_sampling\":{\"temperature\":1.0"}                },
    {"its other name",
     "GET /v1/models/default HTTP/1.1\r\n",                           {" 200 OK", "\"id\":\"tiny\""}                             },
    {"a name in percent",       "GET /v1/models/t%69ny HTTP/1.1\r\n", {" 200 OK"}                                                },
    {"no such model",
     "GET /v1/models/gpt-9 HTTP/1.1\r\n",                             {" 404 ", "\"code\":\"model_not_found\"", "\"param\":null"}},
    {"a query is no path",      "GET /health?x=/v1 HTTP/1.1\r\n",     {" 200 OK"}                                                },
    {"unknown path",            "GET /v2/chat HTTP/1.1\r\n",          {" 404 ", "\"code\":\"unknown_url\""}                      },
    {"root",                    "GET / HTTP/1.1\r\n",                 {" 404 ", "application/json"}                              },
    {"wrong method",
     "GET /v1/chat/completions HTTP/1.1\r\n",                         {" 405 ", "Allow: POST, OPTIONS", "\"method_not_allowed\""}},
    {"wrong method, other way",
     "DELETE /v1/models HTTP/1.1\r\n",                                {" 405 ", "Allow: GET, HEAD, OPTIONS"}                     },
    {"a method of nobody",
     "BREW /health HTTP/1.1\r\n",                                     {" 405 ", "\"method_not_allowed\""}                        },
    {"head",                    "HEAD /health HTTP/1.1\r\n",          {" 200 OK", "Content-Length: "}                            },
    {"options",                 "OPTIONS /tokenize HTTP/1.1\r\n",     {" 204 ", "Allow: POST, OPTIONS"}                          },
    {"a name for the request",
     "GET /health HTTP/1.1\r\nX-Request-Id: a-B.3_\r\n",              {"X-Request-Id: a-B.3_\r\n"}                               },
    {"an evil name",
     "GET /health HTTP/1.1\r\nX-Request-Id: a b\r\n",                 {"X-Request-Id: req-"}                                     },
};
enum { N_ROUTES = sizeof(routes) / sizeof(*routes) };

START_TEST(answers_each_path_as_documented) {
    char request[512];
    start();
    snprintf(request, sizeof(request), "%sConnection: close\r\n\r\n", routes[_i].request);
    const char *reply = ask(request);
    for (int i = 0; i < 3 && routes[_i].want[i]; i++)
        assert_has(routes[_i].name, reply, routes[_i].want[i]);
    assert_has(routes[_i].name, reply, "X-Request-Id: ");
    if (strncmp(routes[_i].request, "HEAD", 4) == 0) {
        ck_assert_str_eq(strstr(reply, "\r\n\r\n"), "\r\n\r\n"); // no body
    }
}
END_TEST

static const char *const job_paths[] = {"/v1/chat/completions", "/v1/completions",
                                        "/tokenize", "/detokenize", "/apply-template"};
enum { N_JOB_PATHS = sizeof(job_paths) / sizeof(*job_paths) };

START_TEST(passes_a_body_to_the_worker_and_its_answer_back) {
    start();
    const char *reply = post(job_paths[_i], "Content-Type: text/x-odd\r\n", "{\"a\":1}");
    assert_has(job_paths[_i], reply, " 200 OK");
    assert_has(job_paths[_i], reply, "Content-Type: application/json");
    assert_has(job_paths[_i], reply, "\r\n\r\n{\"a\":1}");
    ck_assert_int_eq(atomic_load(&house.n_jobs), 1);
}
END_TEST

START_TEST(streams_events_with_the_right_headers) {
    start();
    const char *reply = post("/v1/chat/completions", "", "stream");
    assert_has("stream", reply, " 200 OK");
    assert_has("stream", reply, "Content-Type: text/event-stream\r\n");
    assert_has("stream", reply, "Cache-Control: no-cache\r\n");
    assert_has("stream", reply, "X-Accel-Buffering: no\r\n");
    assert_has("stream", reply, "Transfer-Encoding: chunked\r\n");
    assert_has("stream", reply, "\r\nb\r\ndata: one\n\n\r\n");
    assert_has("stream", reply, "data: two\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
}
END_TEST

START_TEST(sends_each_event_at_once) {
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "head");
    assert_has("first event", hear(fd, "data: one"), "data: one");
    close(fd);
}
END_TEST

START_TEST(streams_without_chunks_to_http_1_0) {
    start();
    const char *reply =
        ask("POST /v1/completions HTTP/1.0\r\nContent-Length: 6\r\n\r\nstream");
    assert_lacks("1.0", reply, "chunked");
    assert_has("1.0", reply, "\r\n\r\ndata: one\n\ndata: two\n\ndata: [DONE]\n\n");
}
END_TEST

START_TEST(serves_one_connection_many_times) {
    start();
    int fd = dial();
    for (int i = 0; i < 20; i++) {
        say_post(fd, "/tokenize", "", "{\"n\":1}");
        assert_has("kept alive", hear(fd, "{\"n\":1}"), " 200 OK");
        say_post(fd, "/v1/completions", "", "stream");
        assert_has("kept alive", hear(fd, "\r\n0\r\n\r\n"), "[DONE]");
    }
    close(fd);
    ck_assert_int_eq(atomic_load(&house.n_jobs), 40);
}
END_TEST

START_TEST(answers_requests_sent_ahead_in_their_order) {
    start();
    int fd = dial();
    for (int i = 0; i < 5; i++) say_post(fd, "/tokenize", "", "{\"a\":1}");
    say(fd, "GET /health HTTP/1.1\r\n\r\n");
    say_post(fd, "/v1/completions", "", "stream");
    say(fd, "GET /nowhere HTTP/1.1\r\n\r\n");
    const char *reply = hear(fd, "unknown_url");
    for (int i = 0; i < 5; i++) {
        reply = strstr(reply, "{\"a\":1}");
        ck_assert_ptr_nonnull(reply);
        reply++;
    }
    const char *health = strstr(reply, "\"status\":\"ok\"");
    ck_assert_ptr_nonnull(health);
    assert_has("after health", health, "[DONE]");
    close(fd);
}
END_TEST

START_TEST(says_when_it_is_ready) {
    char line[128] = "", want[128];
    start();
    rewind(house.said);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), house.said));
    snprintf(want, sizeof(want), "ready: http://127.0.0.1:%d\n", house.server.port);
    ck_assert_str_eq(line, want);
}
END_TEST

// ---- edges: keys and origins --------------------------------------------------------------------

static const struct {
    const char *name, *path, *header, *want;
} keyed[] = {
    {"no key",                             "/v1/models", "",                                 " 401 "},
    {"wrong key",                          "/v1/models", "Authorization: Bearer sk-1\r\n",   " 401 "},
    {"half a key",                         "/v1/models", "Authorization: Bearer sk-\r\n",    " 401 "},
    {"empty key",                          "/v1/models", "Authorization: Bearer \r\n",       " 401 "},
    {"other scheme",                       "/v1/models", "Authorization: Basic sk-one\r\n",  " 401 "},
    {"right key",                          "/v1/models", "Authorization: Bearer sk-one\r\n", " 200 "},
    {"second key",                         "/v1/models", "Authorization: bearer sk-two\r\n", " 200 "},
    {"health is open",                     "/health",    "",                                 " 200 "},
    {"readiness is open",                  "/ready",     "",                                 " 200 "},
    {"a locked door hides what is behind", "/nowhere",   "",                                 " 401 "},
};
enum { N_KEYED = sizeof(keyed) / sizeof(*keyed) };

START_TEST(opens_only_to_a_known_key) {
    char request[512];
    ck_assert_int_eq(http_keys_add(&house.keys, "sk-one", NULL), OK);
    ck_assert_int_eq(http_keys_add(&house.keys, "sk-two", NULL), OK);
    start();
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n",
             keyed[_i].path, keyed[_i].header);
    const char *reply = ask(request);
    assert_has(keyed[_i].name, reply, keyed[_i].want);
    if (strcmp(keyed[_i].want, " 401 ") != 0) return;
    assert_has(keyed[_i].name, reply, "\"code\":\"invalid_api_key\"");
    assert_has(keyed[_i].name, reply, "WWW-Authenticate: Bearer");
}
END_TEST

START_TEST(gives_each_key_a_cache_of_its_own) {
    uint64_t scopes[2];
    ck_assert_int_eq(http_keys_add(&house.keys, "sk-one", NULL), OK);
    ck_assert_int_eq(http_keys_add(&house.keys, "sk-two", NULL), OK);
    start();
    post("/tokenize", "Authorization: Bearer sk-one\r\n", "x");
    scopes[0] = atomic_load(&house.scope);
    post("/tokenize", "Authorization: Bearer sk-two\r\n", "x");
    scopes[1] = atomic_load(&house.scope);
    ck_assert(scopes[0] != 0 && scopes[1] != 0 && scopes[0] != scopes[1]);
    post("/tokenize", "Authorization: Bearer sk-one\r\n", "x");
    ck_assert(atomic_load(&house.scope) == scopes[0]);
}
END_TEST

START_TEST(lets_only_listed_pages_in) {
    ck_assert_int_eq(http_cors_add(&house.cors, "https://a.example,http://localhost:3000",
                                   &house.arena, NULL),
                     OK);
    start();
    const char *reply = post("/tokenize", "Origin: https://a.example\r\n", "x");
    assert_has("listed", reply, "Access-Control-Allow-Origin: https://a.example\r\n");
    assert_has("listed", reply, "Vary: Origin\r\n");
    assert_lacks("listed", reply, "Credentials");
    reply = post("/tokenize", "Origin: https://b.example\r\n", "x");
    assert_lacks("not listed", reply, "Access-Control");
    reply = ask("OPTIONS /v1/chat/completions HTTP/1.1\r\nOrigin: http://localhost:3000\r\n"
                "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: "
                "authorization,x-stainless-os\r\nConnection: close\r\n\r\n");
    assert_has("preflight", reply, " 204 ");
    assert_has("preflight", reply, "Access-Control-Allow-Methods: POST, OPTIONS\r\n");
    assert_has("preflight", reply,
               "Access-Control-Allow-Headers: authorization,x-stainless-os\r\n");
    reply = ask("OPTIONS /v1/models HTTP/1.1\r\nOrigin: https://b.example\r\n"
                "Access-Control-Request-Headers: x-evil\r\nConnection: close\r\n\r\n");
    assert_lacks("not listed", reply, "Access-Control");
}
END_TEST

START_TEST(lets_no_page_in_unless_asked) {
    start();
    assert_lacks("none", post("/tokenize", "Origin: https://a.example\r\n", "x"),
                 "Access-Control");
}
END_TEST

// ---- the suite ----------------------------------------------------------------------------------

Suite *suite(void) {
    Suite *s = suite_create("level2/http");
    TCase *reference = house_tcase(s, "reference");
    tcase_add_loop_test(reference, answers_each_path_as_documented, 0, N_ROUTES);
    tcase_add_loop_test(reference, passes_a_body_to_the_worker_and_its_answer_back, 0,
                        N_JOB_PATHS);
    tcase_add_test(reference, streams_events_with_the_right_headers);
    tcase_add_test(reference, sends_each_event_at_once);
    tcase_add_test(reference, streams_without_chunks_to_http_1_0);
    tcase_add_test(reference, serves_one_connection_many_times);
    tcase_add_test(reference, answers_requests_sent_ahead_in_their_order);
    tcase_add_test(reference, says_when_it_is_ready);

    TCase *edges = house_tcase(s, "edges");
    tcase_add_loop_test(edges, opens_only_to_a_known_key, 0, N_KEYED);
    tcase_add_test(edges, gives_each_key_a_cache_of_its_own);
    tcase_add_test(edges, lets_only_listed_pages_in);
    tcase_add_test(edges, lets_no_page_in_unless_asked);
    return s;
}
