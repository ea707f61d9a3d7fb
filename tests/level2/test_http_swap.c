// Another model in a running server: what the loop says to the administrator and to the worker.
#include "level2-operator/server/http_swap.h"

#include <string.h>
#include <unistd.h>

#include "level2-operator/server/http_served.h"
#include "tests/support/http_house.h"

#define KEY "Authorization: Bearer admin\r\n"

// The loader of the tests: it is told what to say by them.
static struct {
    struct http_keys keys;
    struct fake_engine engine; // of the model that comes
    struct served served;
    atomic_int n_loads;
    char path[256], id[128];
} loader;

static enum status load(void *ctx, int i_model, const char *path, const char *id,
                        struct error *err) {
    (void)ctx;
    (void)err;
    ck_assert_int_eq(i_model, 1);
    snprintf(loader.path, sizeof(loader.path), "%s", path);
    snprintf(loader.id, sizeof(loader.id), "%s", id);
    atomic_fetch_add(&loader.n_loads, 1);
    return OK;
}

static void open_admin(void) {
    memset(&loader, 0, sizeof(loader));
    ck_assert_int_eq(http_keys_add(&loader.keys, "admin", NULL), OK);
    loader.engine.engine = house.engine.engine;
    pthread_mutex_init(&loader.engine.lock, NULL);
    loader.served = (struct served){
        .engine = &loader.engine.engine, .model = &house.model, .id = "new"};
    house.options.swap = (struct http_swap_options){
        .keys = &loader.keys, .dir = "tests/level2", .load = load};
    start();
}

// A POST that is not answered yet: its socket.
static int begin(void) {
    int fd = dial(), n_loads = atomic_load(&loader.n_loads);
    say_post(fd, "/admin/models", KEY, "{\"path\":\"test_http_swap.c\",\"id\":\"new\"}");
    ck_assert(comes_to(&loader.n_loads, n_loads + 1, PATIENCE_MS));
    return fd;
}

static const char *show(void) {
    return ask("GET /admin/models HTTP/1.1\r\nHost: x\r\n" KEY "Connection: close\r\n\r\n");
}

static void wait_for(const char *text) {
    while (!strstr(show(), text)) nap_ms(1);
}

START_TEST(there_is_no_such_path_without_a_key_for_it) {
    start();
    assert_has("GET", show(), "\"code\":\"unknown_url\"");
    assert_has("POST", post("/admin/models", KEY, "{}"), "\"code\":\"unknown_url\"");
}
END_TEST

START_TEST(an_api_key_does_not_open_it) {
    http_keys_add(&house.keys, "api", NULL);
    open_admin();
    assert_has("no key", post("/admin/models", "", "{}"), " 401 ");
    assert_has("whose key", post("/admin/models", "", "{}"), "a key of an administrator");
    assert_has("api key", post("/admin/models", "Authorization: Bearer api\r\n", "{}"),
               " 401 ");
    assert_has("the administrator's", show(), " 200 ");
    assert_has("an administrator is no client", post("/v1/completions", KEY, "{}"),
               " 401 ");
}
END_TEST

START_TEST(no_page_may_ask_for_another_model) {
    struct arena arena;
    arena_init(&arena, 1 << 16);
    http_cors_add(&house.cors, "https://example.org", &arena, NULL);
    open_admin();
    const char *reply =
        ask("OPTIONS /admin/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            "Origin: https://example.org\r\n\r\n");
    assert_lacks("OPTIONS", reply, "Access-Control-Allow-Methods");
    assert_has("OPTIONS", reply, "Allow: GET, HEAD, POST, OPTIONS\r\n");
    arena_free(&arena);
}
END_TEST

START_TEST(tells_which_models_there_are) {
    open_admin();
    assert_has("before", show(), "\"id\":\"tiny\"");
    assert_has("before", show(), "\"state\":\"serving\",\"requests\":0");
    int fd = begin();
    assert_has("the path", loader.path, "/tests/level2/test_http_swap.c");
    assert_has("the id", loader.id, "new");
    assert_has("loading", show(),
               "\"id\":\"new\",\"object\":\"model\",\"state\":\"loading\"");
    http_swap_loaded(&house.server, &loader.served);
    assert_has("the POST", hear(fd, "}]}"), "\"state\":\"serving\"");
    assert_has("clients", get("/v1/models"), "\"id\":\"new\"");
    close(fd);
}
END_TEST

START_TEST(a_second_one_waits_for_the_end_of_the_first) {
    open_admin();
    int fd = begin();
    const char *reply = post("/admin/models", KEY, "{\"path\":\"test_http.c\"}");
    assert_has("while it loads", reply, " 409 Conflict\r\n");
    assert_has("while it loads", reply, "\"code\":\"swap_in_progress\"");
    assert_has("while it loads", reply, "Retry-After: 1\r\n");

    int held = dial(); // a request that holds the old model
    say_post(held, "/v1/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    http_swap_loaded(&house.server, &loader.served);
    hear(fd, "}]}");
    assert_has("old", show(), "\"state\":\"draining\",\"requests\":1");
    assert_has("while it drains", post("/admin/models", KEY, "{\"path\":\"test_http.c\"}"),
               "1 requests hold it");
    assert_has("new requests", post("/v1/completions", "", "hello"), " 200 ");
    close(held);
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    wait_for("\"id\":\"tiny\",\"object\":\"model\",\"state\":\"closing\"");
    http_swap_closed(&house.server, 0); // what the engine thread says
    while (strstr(show(), "\"state\":\"closing\"")) nap_ms(1);
    assert_lacks("afterwards", show(), "tiny");
    close(fd);
}
END_TEST

START_TEST(a_load_that_fails_leaves_everything_as_it_was) {
    struct error why;
    open_admin();
    int fd = begin();
    error_set(&why, ERR_FORMAT, "new.gguf: not a GGUF file");
    http_swap_failed(&house.server, &why);
    const char *reply = hear(fd, "}}");
    assert_has("the POST", reply, " 400 ");
    assert_has("the POST", reply, "\"code\":\"model_not_loaded\"");
    assert_has("the POST", reply, "new.gguf: not a GGUF file");
    assert_lacks("models", show(), "loading");
    assert_has("clients", post("/v1/completions", "", "hello"), " 200 ");

    int again = begin();
    error_set(&why, ERR_MEMORY, "does not fit");
    http_swap_failed(&house.server, &why);
    assert_has("too large", hear(again, "}}"), "HTTP/1.1 507 Insufficient Storage\r\n");
    close(fd);
    close(again);
}
END_TEST

START_TEST(the_load_goes_on_when_the_administrator_leaves) {
    open_admin();
    close(begin());
    nap_ms(10);
    http_swap_loaded(&house.server, &loader.served);
    wait_for("\"id\":\"new\",\"object\":\"model\",\"created\"");
}
END_TEST

START_TEST(whoever_waits_for_a_load_hears_of_the_end) {
    open_admin();
    int held = dial();
    say_post(held, "/v1/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    int fd = begin();
    http_server_terminate(&house.server);
    const char *reply = hear(fd, "}}");
    assert_has("the POST", reply, " 503 ");
    assert_has("the POST", reply, "\"code\":\"draining\"");
    http_swap_loaded(&house.server, &loader.served); // too late: it never serves
    close(held);
    join_loop();
    close(fd);
}
END_TEST

START_TEST(counters_do_not_fall_when_a_model_goes) {
    open_admin();
    set_stats(0, 5);
    close(begin());
    http_swap_loaded(&house.server, &loader.served);
    wait_for("\"id\":\"new\",\"object\":\"model\",\"created\"");
    struct engine_stats stats;
    http_swap_closed(&house.server, 0);
    wait_for("\"data\":[{\"id\":\"new\"");
    http_server_terminate(&house.server);
    join_loop();
    http_served_stats(&house.server, &stats);
    assert_number("steps of both", (int64_t)stats.n_steps, 5);
}
END_TEST

static const struct {
    const char *body, *word;
} wrong[] = {
    {"",                                          "JSON"  },
    {"{",                                         "JSON"  },
    {"[]",                                        "object"},
    {"{}",                                        "path"  },
    {"{\"path\":7}",                              "path"  },
    {"{\"path\":\"none.gguf\"}",                  "none"  },
    {"{\"path\":\"../../Makefile\"}",             "below" },
    {"{\"path\":\"test_http.c\",\"id\":\"\"}",    "id"    },
    {"{\"path\":\"test_http.c\",\"name\":\"x\"}", "name"  },
};

START_TEST(a_wrong_body_loads_nothing) {
    open_admin();
    const char *reply = post("/admin/models", KEY, wrong[_i].body);
    assert_has(wrong[_i].body, reply, " 400 ");
    assert_has(wrong[_i].body, reply, wrong[_i].word);
    ck_assert_int_eq(atomic_load(&loader.n_loads), 0);
    assert_has("models", show(), "\"data\":[{\"id\":\"tiny\"");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/http_swap");
    TCase *who = house_tcase(s, "who may");
    tcase_add_test(who, there_is_no_such_path_without_a_key_for_it);
    tcase_add_test(who, an_api_key_does_not_open_it);
    tcase_add_test(who, no_page_may_ask_for_another_model);
    TCase *swap = house_tcase(s, "swap");
    tcase_add_test(swap, tells_which_models_there_are);
    tcase_add_test(swap, a_second_one_waits_for_the_end_of_the_first);
    tcase_add_test(swap, counters_do_not_fall_when_a_model_goes);
    TCase *failures = house_tcase(s, "failures");
    tcase_add_test(failures, a_load_that_fails_leaves_everything_as_it_was);
    tcase_add_test(failures, the_load_goes_on_when_the_administrator_leaves);
    tcase_add_test(failures, whoever_waits_for_a_load_hears_of_the_end);
    tcase_add_loop_test(failures, a_wrong_body_loads_nothing, 0, ROWS(wrong));
    return s;
}
