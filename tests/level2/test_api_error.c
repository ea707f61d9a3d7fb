// Errors as clients read them: the status of HTTP, the four keys, the code.
#include "level2-operator/api/api_error.h"

#include <stdlib.h>

#include "tests/support/reply_json.h"
#include "tests/support/suite.h"

static const struct {
    enum status code;
    const char *param;
    int http_status;
    const char *type, *api_code;
} errors[] = {
    {ERR_INPUT,       "n",     400, "invalid_request_error", NULL                     },
    {ERR_FORMAT,      "",      400, "invalid_request_error", NULL                     },
    {ERR_LIMIT,       "n",     400, "invalid_request_error", NULL                     },
    {ERR_UNSUPPORTED, "tools", 400, "invalid_request_error", NULL                     },
    {ERR_UNSUPPORTED, "model", 404, "invalid_request_error", "model_not_found"        },
    {ERR_INPUT,       "model", 400, "invalid_request_error", NULL                     },
    {ERR_CONTEXT,     "",      400, "invalid_request_error", "context_length_exceeded"},
    {ERR_BUSY,        "",      429, "rate_limit_error",      "queue_full"             },
    {ERR_STATE,       "",      503, "server_error",          "unavailable"            },
    {ERR_MEMORY,      "",      500, "server_error",          "internal_error"         },
    {ERR_NUMERIC,     "",      500, "server_error",          "internal_error"         },
    {ERR_IO,          "",      500, "server_error",          "internal_error"         },
};

START_TEST(errors_have_four_keys_and_the_right_status) {
    struct error err;
    error_set_param(&err, errors[_i].code, errors[_i].param, "what, where, what to do");
    struct api_error how = api_error_of(&err);
    ck_assert_int_eq(how.http_status, errors[_i].http_status);
    ck_assert((how.retry_after_s > 0) ==
              (how.http_status == 429 || how.http_status == 503));

    size_t n_bytes;
    char *text = api_error_body(&how, err.text, err.param, &n_bytes);
    json_t *body = json_loadb(text, n_bytes, 0, NULL), *object = at(body, "error");
    ck_assert_uint_eq(json_object_size(object), 4);
    ck_assert_str_eq(string_at(object, "message"), "what, where, what to do");
    ck_assert_str_eq(string_at(object, "type"), errors[_i].type);
    if (errors[_i].api_code) {
        ck_assert_str_eq(string_at(object, "code"), errors[_i].api_code);
    } else {
        ck_assert(json_is_null(at(object, "code")));
    }
    if (errors[_i].param[0]) {
        ck_assert_str_eq(string_at(object, "param"), errors[_i].param);
    } else {
        ck_assert(json_is_null(at(object, "param")));
    }
    json_decref(body);
    free(text);
}
END_TEST

START_TEST(an_error_with_wrong_bytes_is_still_JSON) {
    const struct api_error how = {404, "invalid_request_error", "unknown_url", 0};
    char *text = api_error_body(&how, "no \xff here", NULL, NULL);
    json_t *body = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(body);
    ck_assert_str_eq(string_at(at(body, "error"), "message"), "no \xEF\xBF\xBD here");
    json_decref(body);
    free(text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_error");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");

    tcase_add_loop_test(reference, errors_have_four_keys_and_the_right_status, 0,
                        (int)(sizeof(errors) / sizeof(errors[0])));
    tcase_add_test(edges, an_error_with_wrong_bytes_is_still_JSON);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    return s;
}
