// What only /v1/chat/completions has: messages.
#include "level2-operator/api/api_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/parsed_request.h"
#include "tests/support/suite.h"

START_TEST(contents_are_strings_or_text_parts) {
    struct parsed f;
    ck_assert_int_eq(
        parse_body(&f, ROUTE_CHAT,
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
    close_parsed(&f);
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
    struct parsed f;
    char body[512];
    snprintf(body, sizeof(body), "{\"model\":\"m\",\"messages\":%s}",
             bad_messages[_i].messages);
    ck_assert_int_eq(parse_body(&f, ROUTE_CHAT, body), bad_messages[_i].want);
    ck_assert_str_eq(f.err.param, bad_messages[_i].param);
    close_parsed(&f);
}
END_TEST

START_TEST(limits_on_lists_hold) {
    size_t n = LIMIT_MESSAGES + 1;
    static const char message[] = "{\"role\":\"user\",\"content\":\"x\"},";
    char *body = malloc(n * sizeof(message) + 64);
    struct parsed f;

    for (int extra = 0; extra < 2; extra++) {
        size_t at = (size_t)sprintf(body, "{\"model\":\"m\",\"messages\":[");
        for (size_t i = 0; i < (size_t)(LIMIT_MESSAGES + extra); i++) {
            memcpy(body + at, message, sizeof(message) - 1);
            at += sizeof(message) - 1;
        }
        strcpy(body + at - 1, "]}");
        ck_assert_int_eq(parse_body(&f, ROUTE_CHAT, body), extra ? ERR_LIMIT : OK);
        close_parsed(&f);
    }
    free(body);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_chat");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");

    tcase_add_test(reference, contents_are_strings_or_text_parts);
    tcase_add_loop_test(edges, refuses_messages_by_place, 0,
                        (int)(sizeof(bad_messages) / sizeof(bad_messages[0])));
    tcase_add_test(edges, limits_on_lists_hold);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    return s;
}
