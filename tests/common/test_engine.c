// The engine's front door: defaults, ranges, and a table that forwards.
#include "common/engine_impl.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { N_VOCAB = 100 };

static const token_id prompt[] = {0, 5, N_VOCAB - 1};

static struct engine_params valid_params(void) {
    struct engine_params p;
    engine_params_init(&p);
    p.prompt = prompt;
    p.n_prompt = 3;
    return p;
}

// ---- reference: defaults ------------------------------------------------------------------------

START_TEST(the_defaults_are_those_of_the_api) {
    struct engine_params p;
    memset(&p, 0xff, sizeof(p)); // init must set everything
    engine_params_init(&p);
    ck_assert(p.sampling.temperature == 1);
    ck_assert(p.sampling.top_p == 1);
    ck_assert(p.sampling.repetition_penalty == 1);
    ck_assert(p.sampling.min_p == 0);
    ck_assert(p.sampling.frequency_penalty == 0 && p.sampling.presence_penalty == 0);
    ck_assert(p.sampling.top_k == 0 && p.sampling.seed == 0 && p.sampling.n_bias == 0);
    ck_assert_ptr_null(p.sampling.bias);
    ck_assert_int_eq(p.n_top_logprobs, -1);
    ck_assert_int_ge(p.max_tokens, 1);
    ck_assert(p.min_tokens == 0 && !p.ignore_eos && p.n_stop_ids == 0 && p.choice == 0);
    ck_assert(p.cache_scope == 0);
}
END_TEST

START_TEST(the_defaults_pass_once_there_is_a_prompt) {
    struct engine_params p;
    struct error err = {0};
    engine_params_init(&p);
    ck_assert_int_eq(engine_params_check(&p, N_VOCAB, &err), ERR_INPUT);
    ck_assert_str_eq(err.param, "prompt");
    p = valid_params();
    ck_assert_msg(engine_params_check(&p, N_VOCAB, &err) == OK, "%s", err.text);
}
END_TEST

// ---- edges: one changed field at a time ---------------------------------------------------------

enum field {
    TEMPERATURE,
    TOP_K,
    TOP_P,
    MIN_P,
    REPETITION,
    FREQUENCY,
    PRESENCE,
    MAX_TOKENS,
    MIN_TOKENS,
    TOP_LOGPROBS,
    CHOICE,
    PROMPT_ID,
    STOP_ID,
    N_STOP,
    BIAS_ID,
    BIAS,
    N_BIAS
};

static token_id one_id[LIMIT_STOP_IDS + 1];
static struct logit_bias biases[LIMIT_LOGIT_BIAS + 1];

static void set_field(struct engine_params *p, enum field field, double value) {
    switch (field) {
    case TEMPERATURE:
        p->sampling.temperature = (float)value;
        break;
    case TOP_K:
        p->sampling.top_k = (int)value;
        break;
    case TOP_P:
        p->sampling.top_p = (float)value;
        break;
    case MIN_P:
        p->sampling.min_p = (float)value;
        break;
    case REPETITION:
        p->sampling.repetition_penalty = (float)value;
        break;
    case FREQUENCY:
        p->sampling.frequency_penalty = (float)value;
        break;
    case PRESENCE:
        p->sampling.presence_penalty = (float)value;
        break;
    case MAX_TOKENS:
        p->max_tokens = (int)value;
        break;
    case MIN_TOKENS:
        p->max_tokens = 10, p->min_tokens = (int)value;
        break;
    case TOP_LOGPROBS:
        p->n_top_logprobs = (int)value;
        break;
    case CHOICE:
        p->choice = (uint32_t)value;
        break;
    case PROMPT_ID:
        one_id[0] = (token_id)value, p->prompt = one_id, p->n_prompt = 1;
        break;
    case STOP_ID:
        one_id[0] = (token_id)value, p->stop_ids = one_id, p->n_stop_ids = 1;
        break;
    case N_STOP:
        p->stop_ids = one_id, p->n_stop_ids = (int)value;
        break;
    case BIAS_ID:
        biases[0] = (struct logit_bias){(token_id)value, 1};
        p->sampling.bias = biases, p->sampling.n_bias = 1;
        break;
    case BIAS:
        biases[0] = (struct logit_bias){1, (float)value};
        p->sampling.bias = biases, p->sampling.n_bias = 1;
        break;
    case N_BIAS:
        for (int i = 0; i <= LIMIT_LOGIT_BIAS; i++) biases[i] = (struct logit_bias){i, 0};
        p->sampling.bias = biases, p->sampling.n_bias = (int)value;
        break;
    }
}

static const struct {
    enum field field;
    const char *param; // as the API names it
    double value;
    bool is_right;
} values[] = {
    {TEMPERATURE,  "temperature",        0,                      true },
    {TEMPERATURE,  "temperature",        2,                      true },
    {TEMPERATURE,  "temperature",        2.001,                  false},
    {TEMPERATURE,  "temperature",        -0.001,                 false},
    {TEMPERATURE,  "temperature",        NAN,                    false},
    {TEMPERATURE,  "temperature",        INFINITY,               false},
    {TOP_K,        "top_k",              0,                      true },
    {TOP_K,        "top_k",              INT32_MAX,              true },
    {TOP_K,        "top_k",              -1,                     false},
    {TOP_P,        "top_p",              0,                      true },
    {TOP_P,        "top_p",              1,                      true },
    {TOP_P,        "top_p",              1.001,                  false},
    {TOP_P,        "top_p",              -0.001,                 false},
    {TOP_P,        "top_p",              NAN,                    false},
    {MIN_P,        "min_p",              0,                      true },
    {MIN_P,        "min_p",              1,                      true },
    {MIN_P,        "min_p",              1.001,                  false},
    {MIN_P,        "min_p",              -0.001,                 false},
    {MIN_P,        "min_p",              NAN,                    false},
    {REPETITION,   "repetition_penalty", 0.001,                  true },
    {REPETITION,   "repetition_penalty", 50,                     true },
    {REPETITION,   "repetition_penalty", 0,                      false},
    {REPETITION,   "repetition_penalty", -1,                     false},
    {REPETITION,   "repetition_penalty", NAN,                    false},
    {REPETITION,   "repetition_penalty", INFINITY,               false},
    {FREQUENCY,    "frequency_penalty",  -2,                     true },
    {FREQUENCY,    "frequency_penalty",  2,                      true },
    {FREQUENCY,    "frequency_penalty",  2.001,                  false},
    {FREQUENCY,    "frequency_penalty",  -2.001,                 false},
    {FREQUENCY,    "frequency_penalty",  NAN,                    false},
    {PRESENCE,     "presence_penalty",   -2,                     true },
    {PRESENCE,     "presence_penalty",   2,                      true },
    {PRESENCE,     "presence_penalty",   2.001,                  false},
    {PRESENCE,     "presence_penalty",   -2.001,                 false},
    {PRESENCE,     "presence_penalty",   NAN,                    false},
    {MAX_TOKENS,   "max_tokens",         1,                      true },
    {MAX_TOKENS,   "max_tokens",         INT32_MAX,              true },
    {MAX_TOKENS,   "max_tokens",         0,                      false},
    {MAX_TOKENS,   "max_tokens",         -1,                     false},
    {MIN_TOKENS,   "min_tokens",         0,                      true },
    {MIN_TOKENS,   "min_tokens",         10,                     true },
    {MIN_TOKENS,   "min_tokens",         11,                     false},
    {MIN_TOKENS,   "min_tokens",         -1,                     false},
    {TOP_LOGPROBS, "top_logprobs",       -1,                     true },
    {TOP_LOGPROBS, "top_logprobs",       LIMIT_TOP_LOGPROBS,     true },
    {TOP_LOGPROBS, "top_logprobs",       LIMIT_TOP_LOGPROBS + 1, false},
    {TOP_LOGPROBS, "top_logprobs",       -2,                     false},
    {CHOICE,       "n",                  LIMIT_CHOICES - 1,      true },
    {CHOICE,       "n",                  LIMIT_CHOICES,          false},
    {PROMPT_ID,    "prompt",             0,                      true },
    {PROMPT_ID,    "prompt",             N_VOCAB - 1,            true },
    {PROMPT_ID,    "prompt",             N_VOCAB,                false},
    {PROMPT_ID,    "prompt",             -1,                     false},
    {STOP_ID,      "stop_token_ids",     N_VOCAB - 1,            true },
    {STOP_ID,      "stop_token_ids",     N_VOCAB,                false},
    {STOP_ID,      "stop_token_ids",     -1,                     false},
    {N_STOP,       "stop_token_ids",     LIMIT_STOP_IDS,         true },
    {N_STOP,       "stop_token_ids",     LIMIT_STOP_IDS + 1,     false},
    {N_STOP,       "stop_token_ids",     -1,                     false},
    {BIAS_ID,      "logit_bias",         N_VOCAB - 1,            true },
    {BIAS_ID,      "logit_bias",         N_VOCAB,                false},
    {BIAS_ID,      "logit_bias",         -1,                     false},
    {BIAS,         "logit_bias",         -100,                   true },
    {BIAS,         "logit_bias",         100,                    true },
    {BIAS,         "logit_bias",         100.1,                  false},
    {BIAS,         "logit_bias",         -100.1,                 false},
    {BIAS,         "logit_bias",         NAN,                    false},
    {N_BIAS,       "logit_bias",         N_VOCAB,                true },
    {N_BIAS,       "logit_bias",         -1,                     false},
    {N_BIAS,       "logit_bias",         LIMIT_LOGIT_BIAS + 1,   false},
};

START_TEST(a_value_in_range_passes_and_one_outside_names_its_field) {
    struct engine_params p = valid_params();
    struct error err = {0};
    set_field(&p, values[_i].field, values[_i].value);
    enum status st = engine_params_check(&p, N_VOCAB, &err);
    if (values[_i].is_right) {
        ck_assert_msg(st == OK, "%s = %g: %s", values[_i].param, values[_i].value,
                      err.text);
        return;
    }
    ck_assert_msg(st == ERR_INPUT, "%s = %g", values[_i].param, values[_i].value);
    ck_assert_str_eq(err.param, values[_i].param);
    ck_assert_msg(strstr(err.text, values[_i].param) != NULL, "%s", err.text);
    ck_assert_int_eq(engine_params_check(&p, N_VOCAB, NULL), ERR_INPUT);
}
END_TEST

START_TEST(the_longest_bias_list_passes_and_a_double_entry_anywhere_does_not) {
    struct engine_params p = valid_params();
    struct error err = {0};
    set_field(&p, N_BIAS, LIMIT_LOGIT_BIAS);
    ck_assert_int_eq(engine_params_check(&p, LIMIT_LOGIT_BIAS, &err), OK);
    biases[LIMIT_LOGIT_BIAS - 1].token = 0;
    ck_assert_int_eq(engine_params_check(&p, LIMIT_LOGIT_BIAS, &err), ERR_INPUT);
    ck_assert_str_eq(err.param, "logit_bias");
    ck_assert_ptr_nonnull(strstr(err.text, "twice"));
}
END_TEST

START_TEST(the_place_of_a_wrong_id_is_named) {
    static const token_id ids[] = {1, 2, N_VOCAB + 7};
    struct engine_params p = valid_params();
    struct error err = {0};
    p.prompt = ids;
    engine_params_check(&p, N_VOCAB, &err);
    ck_assert_str_eq(err.text, "prompt[2] is 107, must be a token id from 0 to 99");
}
END_TEST

// ---- property: each call reaches its place in the table, with its arguments ---------------------

struct spy {
    struct engine base;
    const char *called;
    const void *arg;
    int64_t number;
};

static enum status spy_submit(struct engine *e, const struct engine_params *params,
                              request_id *id, struct error *err) {
    *(struct spy *)e = (struct spy){*e, "submit", params, 0};
    *id = 7;
    return error_set(err, ERR_BUSY, "full");
}

static void spy_cancel(struct engine *e, request_id id) {
    *(struct spy *)e = (struct spy){*e, "cancel", NULL, (int64_t)id};
}

static int spy_poll(struct engine *e, struct engine_event *events, int max_events) {
    *(struct spy *)e = (struct spy){*e, "poll", events, max_events};
    return 3;
}

static void spy_stats(struct engine *e, struct engine_stats *stats) {
    *(struct spy *)e = (struct spy){*e, "stats", stats, 0};
}

static bool spy_step(struct engine *e) {
    *(struct spy *)e = (struct spy){*e, "step", NULL, 0};
    return true;
}

static void spy_park(struct engine *e, int64_t timeout_ns) {
    *(struct spy *)e = (struct spy){*e, "park", NULL, timeout_ns};
}

static void spy_wake(struct engine *e) {
    *(struct spy *)e = (struct spy){*e, "wake", NULL, 0};
}

static int spy_context(const struct engine *e) {
    return ((const struct spy *)e)->called ? 1 : 8192;
}

static void spy_destroy(struct engine *e) {
    *(struct spy *)e = (struct spy){*e, "destroy", NULL, 0};
}

static const struct engine_table spy_table = {
    "spy",    spy_submit, spy_cancel, spy_poll,    spy_stats,
    spy_step, spy_park,   spy_wake,   spy_context, spy_destroy,
};

START_TEST(each_call_reaches_its_engine) {
    struct spy spy = {.base = {&spy_table}};
    struct engine *e = &spy.base;
    struct engine_params params = valid_params();
    struct engine_event events[2];
    struct engine_stats stats;
    struct error err = {0};
    request_id id = 0;

    ck_assert_int_eq(engine_context(e), 8192);
    ck_assert_int_eq(engine_submit(e, &params, &id, &err), ERR_BUSY);
    ck_assert(strcmp(spy.called, "submit") == 0 && spy.arg == &params && id == 7);
    ck_assert_str_eq(err.text, "full");
    engine_cancel(e, 12);
    ck_assert(strcmp(spy.called, "cancel") == 0 && spy.number == 12);
    ck_assert_int_eq(engine_poll(e, events, 2), 3);
    ck_assert(strcmp(spy.called, "poll") == 0 && spy.arg == events && spy.number == 2);
    engine_stats(e, &stats);
    ck_assert(strcmp(spy.called, "stats") == 0 && spy.arg == &stats);
    ck_assert(engine_step(e));
    ck_assert_str_eq(spy.called, "step");
    engine_park(e, -1);
    ck_assert(strcmp(spy.called, "park") == 0 && spy.number == -1);
    engine_wake(e);
    ck_assert_str_eq(spy.called, "wake");
    engine_destroy(e);
    ck_assert_str_eq(spy.called, "destroy");
    engine_destroy(NULL);
}
END_TEST

START_TEST(adds_up_what_several_engines_did) {
    struct engine_stats a = {.n_waiting = 1,
                             .n_running = 2,
                             .n_finished = 3,
                             .n_steps = 4,
                             .last_step_ns = 50,
                             .n_kv_bytes = 6,
                             .decode_ns = 7};
    struct engine_stats b = a;
    b.last_step_ns = 40;
    b.n_steps_by_rows[ENGINE_STEP_SIZES - 1] = 9;
    engine_stats_add(&a, &b);
    assert_number("n_waiting", a.n_waiting, 2);
    assert_number("n_running", a.n_running, 4);
    assert_number("n_finished", (int64_t)a.n_finished, 6);
    assert_number("n_steps", (int64_t)a.n_steps, 8);
    assert_number("last_step_ns, the newest", a.last_step_ns, 50);
    assert_number("n_kv_bytes", (int64_t)a.n_kv_bytes, 12);
    assert_number("decode_ns", a.decode_ns, 14);
    assert_number("n_steps_by_rows", (int64_t)a.n_steps_by_rows[ENGINE_STEP_SIZES - 1], 9);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/engine");

    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, the_defaults_are_those_of_the_api);
    tcase_add_test(reference, the_defaults_pass_once_there_is_a_prompt);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_loop_test(edges, a_value_in_range_passes_and_one_outside_names_its_field, 0,
                        sizeof(values) / sizeof(values[0]));
    tcase_add_test(edges,
                   the_longest_bias_list_passes_and_a_double_entry_anywhere_does_not);
    tcase_add_test(edges, the_place_of_a_wrong_id_is_named);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, each_call_reaches_its_engine);
    suite_add_tcase(s, property);
    TCase *stats = tcase_in(s, "stats");
    tcase_add_test(stats, adds_up_what_several_engines_did);
    return s;
}
