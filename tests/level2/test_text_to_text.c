// JSON in, JSON out, with everything real in between: text worker, serial engine, tiny model. Only
// the sockets are missing.
#include "level2-operator/api/text_worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/engine_rig.h"
#include "tests/support/outcome.h"
#include "tests/support/suite.h"

enum { MAX_EXCHANGES = 8 };

struct house {
    struct rig rig;
    struct arena arena;
    struct exchange_queues queues;
    struct metrics metrics;
    struct log log; // silent, unless the test says where
    struct text_worker_options options;
    pthread_t worker;
    exchange_id last;
    struct outcome outcomes[MAX_EXCHANGES];
};

static void wake_worker(void *ctx) {
    os_signal_raise(ctx);
}

static void *run_worker(void *options) {
    text_worker_run(options);
    return NULL;
}

static void open_house(struct house *h) {
    memset(h, 0, sizeof(*h));
    rig_open_tiny(&h->rig, 1);
    arena_init(&h->arena, 1 << 20);
    ck_assert_int_eq(exchange_queues_open(&h->queues, &h->arena, NULL), OK);
    h->rig.options.listener = (struct engine_listener){wake_worker, &h->queues.jobs_signal};
    rig_start(&h->rig);
    metrics_init(&h->metrics);
    h->options = (struct text_worker_options){
        .served = {.engine = h->rig.engine, .model = &h->rig.model, .id = "tiny"},
        .queues = &h->queues,
        .clock = &h->rig.clock,
        .metrics = &h->metrics,
        .log = &h->log
    };
    ck_assert_int_eq(pthread_create(&h->worker, NULL, run_worker, &h->options), 0);
}

static void put_job(struct house *h, struct job job) {
    ck_assert(ring_put(&h->queues.jobs, &job));
    os_signal_raise(&h->queues.jobs_signal);
}

static exchange_id send(struct house *h, const char *fields) {
    char *body = malloc(1024);
    int n = snprintf(body, 1024, "{\"model\":\"tiny\",%s}", fields);
    put_job(h, (struct job){.kind = JOB_REQUEST,
                            .exchange = ++h->last,
                            .route =
                                strstr(fields, "messages") ? ROUTE_CHAT : ROUTE_COMPLETIONS,
                            .body = body,
                            .n_body = (size_t)n,
                            .cache_scope = 1});
    return h->last;
}

// This thread is the engine's, and the HTTP loop besides.
static void turn(struct house *h) {
    struct delivery d;
    if (!engine_step(h->rig.engine)) engine_park(h->rig.engine, 1000000);
    while (ring_take(&h->queues.deliveries, &d)) outcome_take(&h->outcomes[d.exchange], &d);
}

static const struct outcome *finish(struct house *h, exchange_id e) {
    const struct outcome *o = &h->outcomes[e];
    while (o->n_ends + o->n_replies == 0) turn(h);
    return o;
}

static struct reading ask(struct house *h, const char *fields) {
    const struct outcome *o = finish(h, send(h, fields));
    return strstr(fields, "\"stream\":true") ? outcome_read_stream(o)
                                             : outcome_read_body(o);
}

static void close_house(struct house *h) {
    put_job(h, (struct job){.kind = JOB_STOP});
    pthread_join(h->worker, NULL);
    while (engine_step(h->rig.engine)) {}
    struct engine_stats stats = rig_stats(&h->rig);
    ck_assert(stats.n_running == 0 && stats.n_waiting == 0); // conservation
    for (int i = 0; i < MAX_EXCHANGES; i++) outcome_free(&h->outcomes[i]);
    exchange_queues_close(&h->queues);
    arena_free(&h->arena);
    rig_close(&h->rig);
}

#define CHAT   "\"messages\":[{\"role\":\"user\",\"content\":\"Tell me about the sea.\"}]"
#define STREAM ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"

static const char *const wishes[] = {
    CHAT ",\"temperature\":0,\"max_tokens\":24",
    CHAT ",\"seed\":7,\"max_tokens\":24,\"top_p\":0.9",
    CHAT ",\"seed\":-3,\"n\":3,\"max_tokens\":9,\"logprobs\":true,\"top_logprobs\":2",
    "\"prompt\":[\"Once upon\",\"The quick\"],\"temperature\":0,\"max_tokens\":12",
    "\"prompt\":[3,4,5,6],\"seed\":1,\"ignore_eos\":true,\"max_tokens\":30,\"logprobs\":1",
};

START_TEST(streamed_or_whole_again_or_new_is_the_same_text) {
    struct house h;
    char streamed[512];
    open_house(&h);
    snprintf(streamed, sizeof(streamed), "%s%s", wishes[_i], STREAM);
    struct reading first = ask(&h, wishes[_i]);
    struct reading others[] = {ask(&h, streamed), ask(&h, wishes[_i])};
    ck_assert(first.n_completion > 0 && first.n_prompt > 0);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(first.n_choices, others[k].n_choices);
        for (int i = 0; i < first.n_choices; i++) {
            ck_assert_str_eq(first.text[i], others[k].text[i]);
            ck_assert_str_eq(first.finish[i], others[k].finish[i]);
        }
        ck_assert(first.n_prompt == others[k].n_prompt);
        ck_assert(first.n_completion == others[k].n_completion);
        ck_assert(others[k].n_cached <= others[k].n_prompt);
    }
    if (first.n_choices == 1)
        ck_assert(others[1].n_cached > 0); // the same prompt once more
    close_house(&h);
}
END_TEST

// Whatever part of the answer is made the stop string, the answer ends right before it.
START_TEST(every_stop_string_cuts_where_it_first_stands) {
    struct house h;
    struct draw d = draw_start("every_stop_string_cuts_where_it_first_stands");
    open_house(&h);
    static const char wish[] =
        "\"prompt\":\"Once upon a time\",\"temperature\":0,\"max_tokens\":40";
    struct reading whole = ask(&h, wish);
    size_t n = strlen(whole.text[0]);
    ck_assert_uint_gt(n, 10);

    for (int round = 0; round < 5; round++) {
        char fields[512], stop[16];
        size_t begin = (size_t)draw_int(&d, 1, (int)n - 6);
        snprintf(stop, sizeof(stop), "%.4s", whole.text[0] + begin);
        json_t *quoted =
            json_string(stop); // NULL when it begins or ends inside a character
        if (!quoted) continue;
        char *text = json_dumps(quoted, JSON_ENCODE_ANY);
        snprintf(fields, sizeof(fields), "%s,\"stop\":%s%s", wish, text,
                 round % 2 ? STREAM : "");
        struct reading cut = ask(&h, fields);
        size_t want = (size_t)(strstr(whole.text[0], stop) - whole.text[0]);
        ck_assert_uint_eq(strlen(cut.text[0]), want);
        ck_assert_mem_eq(cut.text[0], whole.text[0], want);
        ck_assert_str_eq(cut.finish[0], "stop");
        free(text);
        json_decref(quoted);
    }
    close_house(&h);
}
END_TEST

START_TEST(a_client_that_left_frees_the_engine_for_the_next) {
    struct house h;
    open_house(&h);
    exchange_id gone = send(&h, CHAT ",\"ignore_eos\":true,\"temperature\":0" STREAM);
    exchange_id waiting = send(&h, CHAT ",\"ignore_eos\":true,\"n\":2");
    while (h.outcomes[gone].n_data == 0) turn(&h);
    put_job(&h, (struct job){.kind = JOB_GONE, .exchange = waiting});
    put_job(&h, (struct job){.kind = JOB_GONE, .exchange = gone});
    struct reading next = ask(&h, "\"prompt\":\"a\",\"max_tokens\":2,\"ignore_eos\":true");
    ck_assert_int_eq((int)next.n_completion, 2);
    ck_assert(h.outcomes[gone].n_ends == 0 && h.outcomes[waiting].n_replies == 0);
    ck_assert_uint_eq(rig_stats(&h.rig).n_cancelled, 3);
    close_house(&h);
}
END_TEST

// SMP-12: without a seed each run is another one; the one that the log names gives it back.
START_TEST(the_logged_seed_repeats_the_answer) {
    static const char wish[] = CHAT ",\"max_tokens\":20,\"ignore_eos\":true";
    struct house h;
    char line[512], fields[512];
    long long seed = -1;
    open_house(&h);
    h.log = (struct log){.out = tmpfile(), .level = LOG_INFO};
    struct reading first = ask(&h, wish), second = ask(&h, wish);
    ck_assert_str_ne(first.text[0], second.text[0]);

    rewind(h.log.out);
    while (seed < 0 && fgets(line, sizeof(line), h.log.out)) {
        const char *at = strstr(line, " seed=");
        if (at) seed = strtoll(at + 6, NULL, 10);
    }
    ck_assert(seed >= 0);
    snprintf(fields, sizeof(fields), "%s,\"seed\":%lld", wish, seed);
    struct reading again = ask(&h, fields);
    ck_assert_str_eq(again.text[0], first.text[0]);
    FILE *file = h.log.out;
    close_house(&h);
    fclose(file);
}
END_TEST

START_TEST(an_answer_fills_the_context_and_ends_with_length) {
    struct house h;
    char fields[512], digits[381];
    open_house(&h);
    memset(digits, '7', sizeof(digits));
    snprintf(fields, sizeof(fields),
             "\"prompt\":\"%.380s\",\"max_tokens\":16777216,\"ignore_eos\":true", digits);
    struct reading full = ask(&h, fields);
    ck_assert_str_eq(full.finish[0], "length");
    ck_assert_int_eq((int)full.n_total, engine_context(h.rig.engine));
    close_house(&h);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/text_to_text");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *property = tcase_create("property");

    tcase_add_loop_test(reference, streamed_or_whole_again_or_new_is_the_same_text, 0,
                        (int)(sizeof(wishes) / sizeof(wishes[0])));
    tcase_add_test(reference, the_logged_seed_repeats_the_answer);
    tcase_add_test(edges, a_client_that_left_frees_the_engine_for_the_next);
    tcase_add_test(edges, an_answer_fills_the_context_and_ends_with_length);
    tcase_add_test(property, every_stop_string_cuts_where_it_first_stands);
    tcase_set_timeout(reference, 60);
    tcase_set_timeout(edges, 60);
    tcase_set_timeout(property, 60);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, property);
    return s;
}
