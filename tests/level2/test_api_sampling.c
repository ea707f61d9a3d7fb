// The fields that say how tokens are drawn, where an answer stops, and which log probabilities it
// tells.
#include "level2-operator/api/api_request.h"

#include "tests/support/parsed_request.h"
#include "tests/support/suite.h"

static const struct refusal refusals[] = {
  // the sampler's ranges
    {ROUTE_CHAT,        "\"temperature\":-0.1",                        ERR_INPUT, "temperature"       },
    {ROUTE_CHAT,        "\"temperature\":2.1",                         ERR_INPUT, "temperature"       },
    {ROUTE_CHAT,        "\"temperature\":\"hot\"",                     ERR_INPUT, "temperature"       },
    {ROUTE_CHAT,        "\"top_p\":1.1",                               ERR_INPUT, "top_p"             },
    {ROUTE_CHAT,        "\"top_p\":-1",                                ERR_INPUT, "top_p"             },
    {ROUTE_CHAT,        "\"min_p\":1.5",                               ERR_INPUT, "min_p"             },
    {ROUTE_CHAT,        "\"top_k\":-2",                                ERR_INPUT, "top_k"             },
    {ROUTE_CHAT,        "\"top_k\":0.5",                               ERR_INPUT, "top_k"             },
    {ROUTE_CHAT,        "\"frequency_penalty\":-2.1",                  ERR_INPUT, "frequency_penalty" },
    {ROUTE_CHAT,        "\"presence_penalty\":2.1",                    ERR_INPUT, "presence_penalty"  },
    {ROUTE_CHAT,        "\"repetition_penalty\":0",                    ERR_INPUT, "repetition_penalty"},
    {ROUTE_CHAT,        "\"repetition_penalty\":-1",                   ERR_INPUT, "repetition_penalty"},
    {ROUTE_CHAT,        "\"seed\":1.5",                                ERR_INPUT, "seed"              },
    {ROUTE_CHAT,        "\"seed\":\"1\"",                              ERR_INPUT, "seed"              },
 // ids beyond the vocabulary
    {ROUTE_CHAT,        "\"logit_bias\":{\"191222\":-100}",            ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"100\":1}",                  ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"-1\":1}",                   ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5x\":1}",                   ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"05\":1}",                   ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"\":1}",                     ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"99999999999999999999\":1}", ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5\":101}",                  ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":{\"5\":\"1\"}",                ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"logit_bias\":[[5,1]]",                      ERR_INPUT, "logit_bias"        },
    {ROUTE_CHAT,        "\"stop_token_ids\":[100]",                    ERR_INPUT, "stop_token_ids"    },
    {ROUTE_CHAT,        "\"stop_token_ids\":[-1]",                     ERR_INPUT, "stop_token_ids"    },
    {ROUTE_CHAT,        "\"stop_token_ids\":5",                        ERR_INPUT, "stop_token_ids"    },
    {ROUTE_COMPLETIONS, "\"stop_token_ids\":[4294967296]",             ERR_INPUT, "stop_token_ids"    },
 // stop strings
    {ROUTE_CHAT,        "\"stop\":\"\"",                               ERR_INPUT, "stop"              },
    {ROUTE_CHAT,        "\"stop\":[\"a\",\"\"]",                       ERR_INPUT, "stop"              },
    {ROUTE_CHAT,        "\"stop\":[\"a\",\"b\",\"c\",\"d\",\"e\"]",    ERR_INPUT, "stop"              },
    {ROUTE_CHAT,        "\"stop\":[1]",                                ERR_INPUT, "stop"              },
    {ROUTE_CHAT,        "\"stop\":{}",                                 ERR_INPUT, "stop"              },
 // log probabilities
    {ROUTE_CHAT,        "\"logprobs\":1",                              ERR_INPUT, "logprobs"          },
    {ROUTE_CHAT,        "\"logprobs\":true,\"top_logprobs\":21",       ERR_INPUT, "top_logprobs"      },
    {ROUTE_CHAT,        "\"top_logprobs\":2",                          ERR_INPUT, "top_logprobs"      },
    {ROUTE_COMPLETIONS, "\"logprobs\":6",                              ERR_INPUT, "logprobs"          },
    {ROUTE_COMPLETIONS, "\"logprobs\":true",                           ERR_INPUT, "logprobs"          },
};

START_TEST(refuses_by_name) {
    check_refusal(&refusals[_i]);
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
        struct parsed f;
        ck_assert_int_eq(parse_fields(&f, rows[i].route, rows[i].fields), OK);
        ck_assert_msg(f.r.params.n_top_logprobs == rows[i].want, "%s", rows[i].fields);
        close_parsed(&f);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_sampling");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");

    tcase_add_test(reference, log_probabilities_differ_by_route);
    tcase_add_loop_test(edges, refuses_by_name, 0,
                        (int)(sizeof(refusals) / sizeof(refusals[0])));
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    return s;
}
