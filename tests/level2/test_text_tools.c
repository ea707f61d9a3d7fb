// The routes that need no engine: ids, text and templates.
#include "level2-operator/api/text_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/text_house.h"

static const struct {
    enum route route;
    const char *body, *want;
} tools[] = {
    {ROUTE_DETOKENIZE,     "{\"tokens\":[]}",                                    "{\"content\":\"\"}"                                  },
    {ROUTE_TOKENIZE,       "{\"content\":\"\"}",                                 "{\"tokens\":[]}"                                     },
    {ROUTE_TOKENIZE,       "{\"content\":\"<|im_start|>\"}",                     "{\"tokens\":[1]}"                                    },
    {ROUTE_TOKENIZE,       "{\"prompt\":\"<|im_start|>\",\"add_special\":true}",
     "{\"tokens\":[1]}"                                                                                                                },
    {ROUTE_DETOKENIZE,     "{\"tokens\":[1,2]}",                                 "{\"content\":\"<|im_start|><|im_end|>\"}"            },
    {ROUTE_APPLY_TEMPLATE,
     "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
     "\"content\":\"U\"}]}",                                                     "{\"prompt\":\"<|im_start|>system\\nS<|im_end|>\\n<|im_start|>user\\nU<|im_end|>\\n"
     "<|im_start|>assistant\\n\"}"                                                                         },
    {ROUTE_APPLY_TEMPLATE,
     "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"}],\"add_generation_prompt\":"
     "false}",                                                                   "{\"prompt\":\"<|im_start|>system\\nS<|im_end|>\\n\"}"},
};

START_TEST(tools_answer_at_once) {
    struct text_house h;
    text_house_open(&h);
    exchange_id e = text_house_send(&h, tools[_i].route, tools[_i].body);
    text_house_run(&h);
    ck_assert_int_eq(h.outcomes[e].http_status, 200);
    ck_assert_str_eq(h.outcomes[e].bytes, tools[_i].want);
    text_house_close(&h);
}
END_TEST

// The template of another family, and what a request may tell it.
START_TEST(variables_and_names_reach_the_template) {
    static const char source[] =
        "{{ messages[0].name }}{% if not enable_thinking %}!{% endif %}";
    static const char body[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"name\":\"Ann\"}],"
        "\"chat_template_kwargs\":{\"enable_thinking\":false}}";
    struct text_house h;
    text_house_open(&h);
    ck_assert_int_eq(chat_template_init(&h.model.chat, source, strlen(source),
                                        &h.model.tokenizer, &h.model.arena, NULL),
                     OK);
    exchange_id e = text_house_send(&h, ROUTE_APPLY_TEMPLATE, body);
    text_house_run(&h);
    ck_assert_str_eq(h.outcomes[e].bytes, "{\"prompt\":\"Ann!\"}");
    text_house_close(&h);
}
END_TEST

static const struct {
    const char *source, *words;
} bad_templates[] = {
    {NULL,                                         "--chat-template"   },
    {"{% if %}",                                   "line 1"            },
    {"\n{{ raise_exception('not so') }}",          "line 2: not so"    },
    {"{{ messages|nosuch }}",                      "no filter 'nosuch'"},
    {"{% for a in range(99999999) %}{% endfor %}", "than"              },
};

// Never a crash, never a 500.
START_TEST(a_template_that_fails_is_a_bad_request) {
    const char *source = bad_templates[_i].source;
    struct text_house h;
    text_house_open(&h);
    ck_assert_int_eq(chat_template_init(&h.model.chat, source, source ? strlen(source) : 0,
                                        &h.model.tokenizer, &h.model.arena, NULL),
                     OK);
    exchange_id tool = text_house_send(&h, ROUTE_APPLY_TEMPLATE, CHAT_HEAD "}");
    exchange_id chat = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_run(&h);
    ck_assert_int_eq(h.outcomes[tool].http_status, 400);
    ck_assert_int_eq(h.outcomes[chat].http_status, 400);
    ck_assert_msg(strstr(h.outcomes[chat].bytes, bad_templates[_i].words), "%s",
                  h.outcomes[chat].bytes);
    text_house_close(&h);
}
END_TEST

START_TEST(special_text_is_plain_on_demand) {
    struct text_house h;
    char body[512];
    text_house_open(&h);
    exchange_id e = text_house_send(
        &h, ROUTE_TOKENIZE,
        "{\"content\":\"a<|im_end|>b \\u00e9\\n\",\"parse_special\":false}");
    text_house_run(&h);
    json_t *reply = json_loads(h.outcomes[e].bytes, 0, NULL);
    json_t *tokens = json_object_get(reply, "tokens");
    ck_assert_uint_gt(json_array_size(tokens), 6);
    char *ids = json_dumps(tokens, JSON_COMPACT);
    snprintf(body, sizeof(body), "{\"tokens\":%s}", ids); // and back
    free(ids);
    json_decref(reply);
    e = text_house_send(&h, ROUTE_DETOKENIZE, body);
    text_house_run(&h);
    ck_assert_str_eq(h.outcomes[e].bytes, "{\"content\":\"a<|im_end|>b \xc3\xa9\\n\"}");
    text_house_close(&h);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite(void) {
    Suite *s = suite_create("level2/text_tools");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, tools_answer_at_once, 0, ROWS(tools));
    tcase_add_test(reference, special_text_is_plain_on_demand);
    tcase_add_test(reference, variables_and_names_reach_the_template);
    tcase_add_loop_test(reference, a_template_that_fails_is_a_bad_request, 0,
                        sizeof(bad_templates) / sizeof(bad_templates[0]));
    suite_add_tcase(s, reference);
    return s;
}
