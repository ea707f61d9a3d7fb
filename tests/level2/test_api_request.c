// What requests of /v1/chat/completions and /v1/completions have in common: what each field becomes,
// what is refused and under which name.
#include "level2-operator/api/api_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/parsed_request.h"
#include "tests/support/suite.h"

// ---- what is refused, and the field that the error names ----------------------------------------

static const struct refusal refusals[] = {
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
 // streams
    {ROUTE_CHAT,        "\"stream\":1",                                   ERR_INPUT,       "stream"               },
    {ROUTE_CHAT,        "\"stream\":true,\"stream_options\":true",        ERR_INPUT,       "stream_options"       },
    {ROUTE_CHAT,        "\"stream_options\":{\"include_usage\":1}",       ERR_INPUT,
     "stream_options.include_usage"                                                                               },
    {ROUTE_CHAT,        "\"add_generation_prompt\":1",                    ERR_INPUT,       "add_generation_prompt"},
    {ROUTE_CHAT,        "\"chat_template_kwargs\":[]",                    ERR_INPUT,       "chat_template_kwargs" },
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
    check_refusal(&refusals[_i]);
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
    struct parsed f;
    enum route route = _i % 2 ? ROUTE_COMPLETIONS : ROUTE_CHAT;
    int i = _i / 2;
    enum status st = parse_fields(&f, route, harmless[i]);
    ck_assert_msg(st == OK, "%s: %s", harmless[i], f.err.text);
    close_parsed(&f);
}
END_TEST

// ---- what fields become -------------------------------------------------------------------------

START_TEST(defaults_are_those_of_the_api) {
    struct parsed f;
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
    close_parsed(&f);

    ck_assert_int_eq(parse_fields(&f, ROUTE_COMPLETIONS, ""), OK);
    ck_assert_int_eq(f.r.params.max_tokens, 16);
    ck_assert_int_eq(f.r.params.n_top_logprobs, -1);
    close_parsed(&f);
}
END_TEST

START_TEST(what_is_left_out_is_the_models_and_what_is_named_wins) {
    struct sampling_defaults model = {
        .value = {0.6, 20, 0.9, 0.05, 1.1}
    };
    const struct api_model of = {.n_vocab = N_VOCAB, .sampling = &model};
    static const char *const bodies[] = {
        "{\"model\":\"m\",\"prompt\":\"a\",\"temperature\":null}",
        "{\"model\":\"m\",\"prompt\":\"a\",\"temperature\":1,\"top_k\":0,\"top_p\":1,"
        "\"min_p\":0,\"repetition_penalty\":1}"};
    static const struct log silent;
    struct parsed f;
    for (int named = 0; named < 2; named++) {
        arena_init(&f.arena, ARENA_BYTES);
        ck_assert_int_eq(api_request_parse(&f.r, ROUTE_COMPLETIONS, bodies[named],
                                           strlen(bodies[named]), &of, &silent, &f.arena,
                                           &f.err),
                         OK);
        const struct sampling *s = &f.r.params.sampling;
        ck_assert(s->temperature == (named ? 1 : 0.6f) && s->top_k == (named ? 0 : 20));
        ck_assert(s->top_p == (named ? 1 : 0.9f) && s->min_p == (named ? 0 : 0.05f));
        ck_assert(s->repetition_penalty == (named ? 1 : 1.1f));
        ck_assert(s->frequency_penalty == 0 && s->presence_penalty == 0);
        close_parsed(&f);
    }
}
END_TEST

START_TEST(every_field_arrives) {
    struct parsed f;
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
    close_parsed(&f);
}
END_TEST

START_TEST(the_model_must_be_named) {
    static const char *const bodies[] = {"{\"prompt\":\"a\"}",
                                         "{\"model\":5,\"prompt\":\"a\"}",
                                         "{\"model\":null,\"prompt\":\"a\"}"};
    for (int i = 0; i < 3; i++) {
        struct parsed f;
        ck_assert_int_eq(parse_body(&f, ROUTE_COMPLETIONS, bodies[i]), ERR_INPUT);
        ck_assert_str_eq(f.err.param, "model");
        close_parsed(&f);
    }
}
END_TEST

START_TEST(unknown_fields_are_logged_once_each_and_never_without_end) {
    char path[] = "/tmp/api_request_XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w+");
    const struct log log = {.out = file, .level = LOG_WARN};
    struct arena arena;
    struct api_request r;
    const struct api_model of = {.n_vocab = N_VOCAB};
    char body[1024], line[512];
    int n_lines = 0;
    size_t at = (size_t)sprintf(body, "{\"model\":\"m\",\"prompt\":\"a\",\"top_k\":1");

    for (int i = 0; i < 20; i++) at += (size_t)sprintf(body + at, ",\"odd%d\":%d", i, i);
    strcpy(body + at, "}");
    arena_init(&arena, ARENA_BYTES);
    ck_assert_int_eq(api_request_parse(&r, ROUTE_COMPLETIONS, body, strlen(body), &of, &log,
                                       &arena, NULL),
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

// ---- memory -------------------------------------------------------------------------------------

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
            const struct api_model of = {.n_vocab = N_VOCAB};
            struct api_request r;
            struct error err = {0};
            struct arena arena;
            arena_init(&arena, ARENA_BYTES);
            arena_fail_after(&arena, n);
            enum status st = api_request_parse(&r, k ? ROUTE_COMPLETIONS : ROUTE_CHAT, body,
                                               strlen(body), &of, &silent, &arena, &err);
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
    tcase_add_test(reference, what_is_left_out_is_the_models_and_what_is_named_wins);
    tcase_add_test(reference, every_field_arrives);
    tcase_add_loop_test(reference, ignores_what_changes_nothing, 0, 2 * ROWS(harmless));
    tcase_add_loop_test(edges, refuses_by_name, 0, ROWS(refusals));
    tcase_add_test(edges, the_model_must_be_named);
    tcase_add_test(edges, unknown_fields_are_logged_once_each_and_never_without_end);
    tcase_add_test(failures, every_failed_arena_allocation_is_an_error);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    return s;
}
