// Requests of /v1/chat/completions and /v1/completions: what each field becomes, what is refused and
// under which name.
#include "level2-operator/api_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { N_VOCAB = 100, ARENA_BYTES = 8 << 20 };

struct fixture {
    struct arena arena;
    struct api_request r;
    struct error err;
};

static enum status parse(struct fixture *f, enum route route, const char *body) {
    static const struct log silent;
    memset(f, 0, sizeof(*f));
    arena_init(&f->arena, ARENA_BYTES);
    return api_request_parse(&f->r, route, body, strlen(body), N_VOCAB, &silent, &f->arena,
                             &f->err);
}

static void close_fixture(struct fixture *f) {
    api_request_free(&f->r);
    arena_free(&f->arena);
}

// A whole body from the fields that matter.
static enum status parse_fields(struct fixture *f, enum route route, const char *fields) {
    static const char chat[] = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
    static const char legacy[] = "\"prompt\":\"hi\"";
    char body[4096];
    const char *rest = route == ROUTE_CHAT ? chat : legacy;
    snprintf(body, sizeof(body), "{\"model\":\"m\",%s%s%s}", rest, *fields ? "," : "",
             fields);
    return parse(f, route, body);
}

// ---- what is refused, and the field that the error names

static const struct {
    enum route route;
    const char *fields;
    enum status want;
    const char *param;
} refusals[] = {
  // counts without a limit
    {ROUTE_CHAT,        "\"n\":1000000",                                  ERR_INPUT,       "n"                    },
    {ROUTE_CHAT,        "\"n\":0",                                        ERR_INPUT,       "n"                    },
    {ROUTE_CHAT,        "\"n\":129",                                      ERR_INPUT,       "n"                    },
    {ROUTE_COMPLETIONS, "\"best_of\":1000000",                            ERR_INPUT,       "best_of"              },
    {ROUTE_COMPLETIONS, "\"best_of\":2",                                  ERR_UNSUPPORTED, "best_of"              },
    {ROUTE_CHAT,        "\"max_tokens\":1099511627776",                   ERR_INPUT,       "max_tokens"           },
    {ROUTE_CHAT,        "\"max_tokens\":-5",                              ERR_INPUT,       "max_tokens"           },
    {ROUTE_CHAT,        "\"max_tokens\":0",                               ERR_INPUT,       "max_tokens"           },
    {ROUTE_CHAT,        "\"max_tokens\":1.5",                             ERR_INPUT,       "max_tokens"           },
    {ROUTE_CHAT,        "\"max_completion_tokens\":0",                    ERR_INPUT,       "max_completion_tokens"},
    {ROUTE_CHAT,        "\"max_completion_tokens\":\"9\"",                ERR_INPUT,       "max_completion_tokens"},
    {ROUTE_CHAT,        "\"min_tokens\":-1",                              ERR_INPUT,       "min_tokens"           },
    {ROUTE_CHAT,        "\"min_tokens\":9,\"max_tokens\":8",              ERR_INPUT,       "min_tokens"           },
 // the sampler's ranges
    {ROUTE_CHAT,        "\"temperature\":-0.1",                           ERR_INPUT,       "temperature"          },
    {ROUTE_CHAT,        "\"temperature\":2.1",                            ERR_INPUT,       "temperature"          },
    {ROUTE_CHAT,        "\"temperature\":\"hot\"",                        ERR_INPUT,       "temperature"          },
    {ROUTE_CHAT,        "\"top_p\":1.1",                                  ERR_INPUT,       "top_p"                },
    {ROUTE_CHAT,        "\"top_p\":-1",                                   ERR_INPUT,       "top_p"                },
    {ROUTE_CHAT,        "\"min_p\":1.5",                                  ERR_INPUT,       "min_p"                },
    {ROUTE_CHAT,        "\"top_k\":-2",                                   ERR_INPUT,       "top_k"                },
    {ROUTE_CHAT,        "\"top_k\":0.5",                                  ERR_INPUT,       "top_k"                },
    {ROUTE_CHAT,        "\"frequency_penalty\":-2.1",                     ERR_INPUT,       "frequency_penalty"    },
    {ROUTE_CHAT,        "\"presence_penalty\":2.1",                       ERR_INPUT,       "presence_penalty"     },
    {ROUTE_CHAT,        "\"repetition_penalty\":0",                       ERR_INPUT,       "repetition_penalty"   },
    {ROUTE_CHAT,        "\"repetition_penalty\":-1",                      ERR_INPUT,       "repetition_penalty"   },
    {ROUTE_CHAT,        "\"seed\":1.5",                                   ERR_INPUT,       "seed"                 },
    {ROUTE_CHAT,        "\"seed\":\"1\"",                                 ERR_INPUT,       "seed"                 },
 // ids beyond the vocabulary
    {ROUTE_CHAT,        "\"logit_bias\":{\"191222\":-100}",               ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"100\":1}",                     ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"-1\":1}",                      ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5x\":1}",                      ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"05\":1}",                      ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"\":1}",                        ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"99999999999999999999\":1}",    ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5\":101}",                     ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5\":\"1\"}",                   ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"logit_bias\":[[5,1]]",                         ERR_INPUT,       "logit_bias"           },
    {ROUTE_CHAT,        "\"stop_token_ids\":[100]",                       ERR_INPUT,       "stop_token_ids"       },
    {ROUTE_CHAT,        "\"stop_token_ids\":[-1]",                        ERR_INPUT,       "stop_token_ids"       },
    {ROUTE_CHAT,        "\"stop_token_ids\":5",                           ERR_INPUT,       "stop_token_ids"       },
    {ROUTE_COMPLETIONS, "\"stop_token_ids\":[4294967296]",                ERR_INPUT,       "stop_token_ids"       },
 // stop strings
    {ROUTE_CHAT,        "\"stop\":\"\"",                                  ERR_INPUT,       "stop"                 },
    {ROUTE_CHAT,        "\"stop\":[\"a\",\"\"]",                          ERR_INPUT,       "stop"                 },
    {ROUTE_CHAT,        "\"stop\":[\"a\",\"b\",\"c\",\"d\",\"e\"]",       ERR_INPUT,       "stop"                 },
    {ROUTE_CHAT,        "\"stop\":[1]",                                   ERR_INPUT,       "stop"                 },
    {ROUTE_CHAT,        "\"stop\":{}",                                    ERR_INPUT,       "stop"                 },
 // log probabilities
    {ROUTE_CHAT,        "\"logprobs\":1",                                 ERR_INPUT,       "logprobs"             },
    {ROUTE_CHAT,        "\"logprobs\":true,\"top_logprobs\":21",          ERR_INPUT,       "top_logprobs"         },
    {ROUTE_CHAT,        "\"top_logprobs\":2",                             ERR_INPUT,       "top_logprobs"         },
    {ROUTE_COMPLETIONS, "\"logprobs\":6",                                 ERR_INPUT,       "logprobs"             },
    {ROUTE_COMPLETIONS, "\"logprobs\":true",                              ERR_INPUT,       "logprobs"             },
 // streams
    {ROUTE_CHAT,        "\"stream\":1",                                   ERR_INPUT,       "stream"               },
    {ROUTE_CHAT,        "\"stream\":true,\"stream_options\":true",        ERR_INPUT,       "stream_options"       },
    {ROUTE_CHAT,        "\"stream_options\":{\"include_usage\":1}",       ERR_INPUT,
     "stream_options.include_usage"                                                                               },
    {ROUTE_CHAT,        "\"add_generation_prompt\":1",                    ERR_INPUT,       "add_generation_prompt"},
    {ROUTE_CHAT,        "\"ignore_eos\":\"yes\"",                         ERR_INPUT,       "ignore_eos"           },
    {ROUTE_CHAT,        "\"skip_special_tokens\":0",                      ERR_INPUT,       "skip_special_tokens"  },
    {ROUTE_CHAT,        "\"cache_salt\":5",                               ERR_INPUT,       "cache_salt"           },
 // known, not built
    {ROUTE_CHAT,        "\"tools\":[{\"type\":\"function\"}]",            ERR_UNSUPPORTED, "tools"                },
    {ROUTE_CHAT,        "\"tools\":{}",                                   ERR_UNSUPPORTED, "tools"                },
    {ROUTE_CHAT,        "\"tool_choice\":\"required\"",                   ERR_UNSUPPORTED, "tool_choice"          },
    {ROUTE_CHAT,        "\"tool_choice\":{\"type\":\"function\"}",        ERR_UNSUPPORTED, "tool_choice"          },
    {ROUTE_CHAT,        "\"functions\":[{}]",                             ERR_UNSUPPORTED, "functions"            },
    {ROUTE_CHAT,        "\"function_call\":{\"name\":\"f\"}",             ERR_UNSUPPORTED, "function_call"        },
    {ROUTE_CHAT,        "\"response_format\":{\"type\":\"json_object\"}", ERR_UNSUPPORTED,
     "response_format"                                                                                            },
    {ROUTE_CHAT,        "\"response_format\":\"json\"",                   ERR_UNSUPPORTED, "response_format"      },
    {ROUTE_CHAT,        "\"modalities\":[\"text\",\"audio\"]",            ERR_UNSUPPORTED, "modalities"           },
    {ROUTE_CHAT,        "\"audio\":{}",                                   ERR_UNSUPPORTED, "audio"                },
    {ROUTE_CHAT,        "\"continue_final_message\":true",                ERR_UNSUPPORTED,
     "continue_final_message"                                                                                     },
    {ROUTE_CHAT,        "\"guided_json\":{}",                             ERR_UNSUPPORTED, "guided_json"          },
    {ROUTE_COMPLETIONS, "\"prompt_logprobs\":1",                          ERR_UNSUPPORTED, "prompt_logprobs"      },
    {ROUTE_COMPLETIONS, "\"echo\":true",                                  ERR_UNSUPPORTED, "echo"                 },
    {ROUTE_COMPLETIONS, "\"suffix\":\"end\"",                             ERR_UNSUPPORTED, "suffix"               },
};

START_TEST(refuses_by_name) {
    struct fixture f;
    enum status st = parse_fields(&f, refusals[_i].route, refusals[_i].fields);
    ck_assert_msg(st == refusals[_i].want, "%s: %s", refusals[_i].fields, status_name(st));
    ck_assert_str_eq(f.err.param, refusals[_i].param);
    ck_assert_ptr_nonnull(strstr(f.err.text, refusals[_i].param));
    ck_assert_ptr_null(f.r.body);
    close_fixture(&f);
}
END_TEST

static const char *const harmless[] = {
    "",
    "\"tools\":null,\"tool_choice\":null,\"response_format\":null,\"n\":null,\"stop\":null",
    "\"tools\":[],\"tool_choice\":\"none\",\"functions\":[],\"function_call\":\"auto\"",
    "\"response_format\":{\"type\":\"text\"},\"modalities\":[\"text\"]",
    "\"echo\":false,\"suffix\":\"\",\"prompt_logprobs\":false,\"best_of\":1",
    "\"continue_final_message\":false",
    "\"user\":\"u\",\"metadata\":{\"a\":\"b\"},\"store\":true,\"service_tier\":\"auto\"",
    "\"reasoning_effort\":\"low\",\"priority\":1,\"chat_template_kwargs\":{}",
    "\"never_heard_of\":[1,2,{\"x\":null}]",
    "\"stop\":[],\"logit_bias\":{},\"stop_token_ids\":[],\"stream_options\":{}",
};

START_TEST(ignores_what_changes_nothing) {
    struct fixture f;
    enum route route = _i % 2 ? ROUTE_COMPLETIONS : ROUTE_CHAT;
    int i = _i / 2;
    enum status st = parse_fields(&f, route, harmless[i]);
    ck_assert_msg(st == OK, "%s: %s", harmless[i], f.err.text);
    close_fixture(&f);
}
END_TEST

// ---- what fields become

START_TEST(defaults_are_those_of_the_api) {
    struct fixture f;
    ck_assert_int_eq(parse_fields(&f, ROUTE_CHAT, ""), OK);
    const struct api_request *r = &f.r;
    const struct sampling *s = &r->params.sampling;
    ck_assert_str_eq(r->model, "m");
    ck_assert(s->temperature == 1 && s->top_p == 1 && s->top_k == 0 && s->min_p == 0);
    ck_assert(s->repetition_penalty == 1 && s->n_bias == 0);
    ck_assert(s->frequency_penalty == 0 && s->presence_penalty == 0);
    ck_assert(r->n == 1 && !r->stream && !r->include_usage && !r->has_seed);
    ck_assert(r->params.max_tokens == 0 && r->params.min_tokens == 0);
    ck_assert(r->params.n_top_logprobs == -1 && r->n_stops == 0);
    ck_assert(!r->show_special && !r->include_stop && r->add_generation_prompt);
    ck_assert_ptr_null(r->cache_salt);
    close_fixture(&f);

    ck_assert_int_eq(parse_fields(&f, ROUTE_COMPLETIONS, ""), OK);
    ck_assert_int_eq(f.r.params.max_tokens, 16);
    ck_assert_int_eq(f.r.params.n_top_logprobs, -1);
    close_fixture(&f);
}
END_TEST

START_TEST(every_field_arrives) {
    struct fixture f;
    ck_assert_int_eq(
        parse_fields(
            &f, ROUTE_CHAT,
            "\"temperature\":0,\"top_p\":0,\"top_k\":7,\"min_p\":0.25,"
            "\"repetition_penalty\":1.5,\"frequency_penalty\":-2,\"presence_penalty\":2,"
            "\"seed\":-9,\"n\":3,\"max_tokens\":5,\"max_completion_tokens\":8,"
            "\"min_tokens\":2,\"ignore_eos\":true,\"logprobs\":true,\"top_logprobs\":4,"
            "\"stop\":[\"END\",\"\\n\"],\"stop_token_ids\":[3,99],"
            "\"include_stop_str_in_output\":true,\"skip_special_tokens\":false,"
            "\"logit_bias\":{\"99\":-100,\"0\":2.5},\"cache_salt\":\"s\",\"stream\":true,"
            "\"stream_options\":{\"include_usage\":true},"
            "\"add_generation_prompt\":false"),
        OK);
    const struct api_request *r = &f.r;
    const struct sampling *s = &r->params.sampling;
    ck_assert(s->temperature == 0 && s->top_p == 0 && s->top_k == 7 && s->min_p == 0.25f);
    ck_assert(s->repetition_penalty == 1.5f);
    ck_assert(s->frequency_penalty == -2 && s->presence_penalty == 2);
    ck_assert(r->has_seed && s->seed == (uint64_t)-9 && r->n == 3);
    ck_assert_int_eq(r->params.max_tokens, 8); // the newer name wins
    ck_assert(r->params.min_tokens == 2 && r->params.ignore_eos);
    ck_assert_int_eq(r->params.n_top_logprobs, 4);
    ck_assert_int_eq(r->n_stops, 2);
    ck_assert_mem_eq(r->stops[0].bytes, "END", 3);
    ck_assert(r->stops[0].n_bytes == 3 && r->stops[1].n_bytes == 1);
    ck_assert(r->params.n_stop_ids == 2 && r->params.stop_ids[1] == 99);
    ck_assert(r->include_stop && r->show_special);
    ck_assert_int_eq(s->n_bias, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert(s->bias[i].bias == (s->bias[i].token == 99 ? -100.0f : 2.5f));
    }
    ck_assert_str_eq(r->cache_salt, "s");
    ck_assert(r->stream && r->include_usage && !r->add_generation_prompt);
    close_fixture(&f);
}
END_TEST

START_TEST(log_probabilities_differ_by_route) {
    const struct {
        enum route route;
        const char *fields;
        int want;
    } rows[] = {
        {ROUTE_CHAT,        "\"logprobs\":true",                     0 },
        {ROUTE_CHAT,        "\"logprobs\":true,\"top_logprobs\":20", 20},
        {ROUTE_CHAT,        "\"logprobs\":false",                    -1},
        {ROUTE_CHAT,        "\"logprobs\":false,\"top_logprobs\":0", -1},
        {ROUTE_COMPLETIONS, "\"logprobs\":0",                        0 },
        {ROUTE_COMPLETIONS, "\"logprobs\":5",                        5 },
        {ROUTE_COMPLETIONS, "\"logprobs\":null",                     -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        ck_assert_int_eq(parse_fields(&f, rows[i].route, rows[i].fields), OK);
        ck_assert_msg(f.r.params.n_top_logprobs == rows[i].want, "%s", rows[i].fields);
        close_fixture(&f);
    }
}
END_TEST

// ---- messages

START_TEST(contents_are_strings_or_text_parts) {
    struct fixture f;
    ck_assert_int_eq(
        parse(&f, ROUTE_CHAT,
              "{\"model\":\"m\",\"messages\":["
              "{\"role\":\"developer\",\"content\":\"be kind\"},"
              "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one \"},"
              "{\"type\":\"text\",\"text\":\"two\"}],\"name\":\"bob\"},"
              "{\"role\":\"assistant\",\"content\":null},"
              "{\"role\":\"assistant\"},"
              "{\"role\":\"user\",\"content\":[]},"
              "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"5\"},"
              "{\"role\":\"function\",\"content\":\"6\"},"
              "{\"role\":\"system\",\"content\":\"\"}]}"),
        OK);
    static const char *const roles[] = {"system", "user", "assistant", "assistant",
                                        "user",   "tool", "function",  "system"};
    static const char *const contents[] = {"be kind", "one two", "", "", "", "5", "6", ""};
    ck_assert_int_eq(f.r.n_messages, 8);
    for (int i = 0; i < 8; i++) {
        const struct chat_message *m = &f.r.messages[i];
        ck_assert_str_eq(m->role, roles[i]);
        ck_assert_uint_eq(m->n_content, strlen(contents[i]));
        ck_assert_mem_eq(m->content, contents[i], m->n_content);
    }
    close_fixture(&f);
}
END_TEST

static const struct {
    const char *messages;
    enum status want;
    const char *param;
} bad_messages[] = {
    {"null",                                                                          ERR_INPUT,       "messages"           },
    {"[]",                                                                            ERR_INPUT,       "messages"           },
    {"{}",                                                                            ERR_INPUT,       "messages"           },
    {"\"hi\"",                                                                        ERR_INPUT,       "messages"           },
    {"[5]",                                                                           ERR_INPUT,       "messages[0].role"   },
    {"[{\"content\":\"x\"}]",                                                         ERR_INPUT,       "messages[0].role"   },
    {"[{\"role\":\"king\",\"content\":\"x\"}]",                                       ERR_INPUT,       "messages[0].role"   },
    {"[{\"role\":5,\"content\":\"x\"}]",                                              ERR_INPUT,       "messages[0].role"   },
    {"[{\"role\":\"user\"}]",                                                         ERR_INPUT,       "messages[0].content"},
    {"[{\"role\":\"user\",\"content\":null}]",                                        ERR_INPUT,       "messages[0].content"},
    {"[{\"role\":\"user\",\"content\":5}]",                                           ERR_INPUT,       "messages[0].content"},
    {"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":{}}]",
     ERR_INPUT,                                                                                        "messages[1].content"},
    {"[{\"role\":\"user\",\"content\":[5]}]",                                         ERR_INPUT,       "messages[0].content"},
    {"[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]",                       ERR_INPUT,
     "messages[0].content"                                                                                                  },
    {"[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}]",
     ERR_UNSUPPORTED,                                                                                  "messages[0].content"},
    {"[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\"}]}]",                ERR_UNSUPPORTED,
     "messages[0].content"                                                                                                  },
    {"[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{}]}]",               ERR_UNSUPPORTED,
     "messages[0].tool_calls"                                                                                               },
};

START_TEST(refuses_messages_by_place) {
    struct fixture f;
    char body[512];
    snprintf(body, sizeof(body), "{\"model\":\"m\",\"messages\":%s}",
             bad_messages[_i].messages);
    ck_assert_int_eq(parse(&f, ROUTE_CHAT, body), bad_messages[_i].want);
    ck_assert_str_eq(f.err.param, bad_messages[_i].param);
    close_fixture(&f);
}
END_TEST

// ---- prompts

START_TEST(prompts_come_in_four_shapes) {
    const struct {
        const char *prompt;
        int n_prompts, n_text, n_ids; // of the last
    } rows[] = {
        {"\"abc\"",        1, 3, 0},
        {"[\"a\",\"bc\"]", 2, 2, 0},
        {"[1,2,99]",       1, 0, 3},
        {"[[1],[2,0]]",    2, 0, 2},
        {"[\"a\",[5]]",    2, 0, 1},
        {"\"\"",           1, 0, 0}, // may become a begin token
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        char body[256];
        snprintf(body, sizeof(body), "{\"model\":\"m\",\"prompt\":%s}", rows[i].prompt);
        ck_assert_int_eq(parse(&f, ROUTE_COMPLETIONS, body), OK);
        ck_assert_int_eq(f.r.n_prompts, rows[i].n_prompts);
        const struct api_prompt *last = &f.r.prompts[f.r.n_prompts - 1];
        ck_assert_int_eq((int)last->n_text, rows[i].n_text);
        ck_assert_int_eq(last->n_ids, rows[i].n_ids);
        ck_assert((last->text == NULL) == (rows[i].n_ids > 0));
        close_fixture(&f);
    }
}
END_TEST

static const char *const bad_prompts[] = {
    "null",      "5",         "{}",    "true", "[]",    "[[]]",      "[[1],[]]",
    "[\"a\",5]", "[1,\"a\"]", "[100]", "[-1]", "[1.5]", "[[1,100]]", "[4294967297]",
    "[null]",    "[[[1]]]",
};

START_TEST(refuses_empty_and_mixed_prompts) {
    struct fixture f;
    char body[256];
    snprintf(body, sizeof(body), "{\"model\":\"m\",\"prompt\":%s}", bad_prompts[_i]);
    enum status st = parse(&f, ROUTE_COMPLETIONS, body);
    ck_assert_msg(st == ERR_INPUT, "%s: %s", bad_prompts[_i], status_name(st));
    ck_assert_str_eq(f.err.param, "prompt");
    close_fixture(&f);
}
END_TEST

START_TEST(answers_are_counted_over_prompts) {
    struct fixture f;
    for (int n = 42; n <= 43; n++) { // 126 and 129 answers
        char body[128];
        snprintf(body, sizeof(body),
                 "{\"model\":\"m\",\"prompt\":[\"a\",\"b\",\"c\"],\"n\":%d}", n);
        ck_assert_int_eq(parse(&f, ROUTE_COMPLETIONS, body), n == 42 ? OK : ERR_LIMIT);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(the_model_must_be_named) {
    static const char *const bodies[] = {"{\"prompt\":\"a\"}",
                                         "{\"model\":5,\"prompt\":\"a\"}",
                                         "{\"model\":null,\"prompt\":\"a\"}"};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        ck_assert_int_eq(parse(&f, ROUTE_COMPLETIONS, bodies[i]), ERR_INPUT);
        ck_assert_str_eq(f.err.param, "model");
        close_fixture(&f);
    }
}
END_TEST

START_TEST(limits_on_lists_hold) {
    size_t n = LIMIT_MESSAGES + 1;
    static const char message[] = "{\"role\":\"user\",\"content\":\"x\"},";
    char *body = malloc(n * sizeof(message) + 64);
    struct fixture f;

    for (int extra = 0; extra < 2; extra++) {
        size_t at = (size_t)sprintf(body, "{\"model\":\"m\",\"messages\":[");
        for (size_t i = 0; i < (size_t)(LIMIT_MESSAGES + extra); i++) {
            memcpy(body + at, message, sizeof(message) - 1);
            at += sizeof(message) - 1;
        }
        strcpy(body + at - 1, "]}");
        ck_assert_int_eq(parse(&f, ROUTE_CHAT, body), extra ? ERR_LIMIT : OK);
        close_fixture(&f);
    }
    free(body);
}
END_TEST

START_TEST(unknown_fields_are_logged_once_each_and_never_without_end) {
    char path[] = "/tmp/api_request_XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w+");
    const struct log log = {file, LOG_WARN};
    struct arena arena;
    struct api_request r;
    char body[1024], line[512];
    int n_lines = 0;
    size_t at = (size_t)sprintf(body, "{\"model\":\"m\",\"prompt\":\"a\",\"top_k\":1");

    for (int i = 0; i < 20; i++) at += (size_t)sprintf(body + at, ",\"odd%d\":%d", i, i);
    strcpy(body + at, "}");
    arena_init(&arena, ARENA_BYTES);
    ck_assert_int_eq(api_request_parse(&r, ROUTE_COMPLETIONS, body, strlen(body), N_VOCAB,
                                       &log, &arena, NULL),
                     OK);
    rewind(file);
    while (fgets(line, sizeof(line), file)) {
        n_lines++;
        ck_assert_ptr_null(strstr(line, "top_k"));
    }
    ck_assert_int_eq(n_lines, 9);
    fclose(file);
    remove(path);
    api_request_free(&r);
    arena_free(&arena);
}
END_TEST

// ---- memory

static const char whole[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
    "\"text\":\"a\"}]}],\"logit_bias\":{\"5\":1},\"stop_token_ids\":[5]}";
static const char whole_legacy[] = "{\"model\":\"m\",\"prompt\":[[1,2],\"x\"]}";

START_TEST(every_failed_arena_allocation_is_an_error) {
    static const struct log silent;
    for (int k = 0; k < 2; k++) {
        const char *body = k ? whole_legacy : whole;
        bool succeeded = false;
        for (long n = 0; n < 100 && !succeeded; n++) {
            struct api_request r;
            struct error err = {0};
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            arena_fail_after(&arena, n);
            enum status st =
                api_request_parse(&r, k ? ROUTE_COMPLETIONS : ROUTE_CHAT, body,
                                  strlen(body), N_VOCAB, &silent, &arena, &err);
            succeeded = st == OK;
            if (st) {
                ck_assert_int_eq(st, ERR_MEMORY);
                ck_assert(err.text[0]);
                ck_assert_ptr_null(r.body);
            }
            api_request_free(&r);
            arena_free(&arena);
        }
        ck_assert(succeeded);
    }
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite(void) {
    Suite *s = suite_create("level2/api_request");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures");

    tcase_add_test(reference, defaults_are_those_of_the_api);
    tcase_add_test(reference, every_field_arrives);
    tcase_add_test(reference, log_probabilities_differ_by_route);
    tcase_add_test(reference, contents_are_strings_or_text_parts);
    tcase_add_test(reference, prompts_come_in_four_shapes);
    tcase_add_loop_test(reference, ignores_what_changes_nothing, 0, 2 * ROWS(harmless));
    tcase_add_loop_test(edges, refuses_by_name, 0, ROWS(refusals));
    tcase_add_loop_test(edges, refuses_messages_by_place, 0, ROWS(bad_messages));
    tcase_add_loop_test(edges, refuses_empty_and_mixed_prompts, 0, ROWS(bad_prompts));
    tcase_add_test(edges, answers_are_counted_over_prompts);
    tcase_add_test(edges, the_model_must_be_named);
    tcase_add_test(edges, limits_on_lists_hold);
    tcase_add_test(edges, unknown_fields_are_logged_once_each_and_never_without_end);
    tcase_add_test(failures, every_failed_arena_allocation_is_an_error);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    return s;
}
