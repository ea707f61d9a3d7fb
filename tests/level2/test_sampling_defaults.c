// A model's own sampling defaults: from a GGUF file, from a folder, out of range, passed over.
#include "level2-operator/model/sampling_defaults.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/model/model.h"
#include "tests/support/model_folder.h"
#include "tests/support/suite.h"

static struct gguf_file file;
static struct bytes bytes;
static struct model m;
static struct error err;

static void setup(void) {
    file_load(&file, tiny_model_path());
    memset(&m, 0, sizeof(m));
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    model_close(&m);
    bytes_free(&bytes);
    file_free(&file);
}

static enum status parse(const struct model_options *options) {
    bytes = file_bytes(&file);
    return model_parse(&m, bytes.data, bytes.n, "dir/test.gguf", options, &err);
}

static void assert_in_force(const char *want) {
    char text[SAMPLING_TEXT_BYTES];
    assert_text("in force", sampling_defaults_text(&m.sampling, text), want);
}

#define API "temperature=1 top_k=0 top_p=1 min_p=0 repetition_penalty=1"

static void set_all(void) {
    int32_t top_k = 20;
    file_set_f32(&file, "general.sampling.temp", 0.6f);
    file_set(&file, "general.sampling.top_k", GGUF_I32, &top_k, sizeof(top_k));
    file_set_f32(&file, "general.sampling.top_p", 0.95f);
    file_set_f32(&file, "general.sampling.min_p", 0.05f);
    file_set_f32(&file, "general.sampling.penalty_repeat", 1.1f);
}

START_TEST(a_file_without_any_has_those_of_the_api) {
    struct sampling api, got = {.temperature = 7};
    assert_status("parse", parse(NULL), OK);
    assert_in_force(API);
    ck_assert(!sampling_defaults_differ(&m.sampling));
    sampling_init(&api);
    sampling_defaults_apply(&m.sampling, &got);
    ck_assert(got.temperature == api.temperature && got.top_p == api.top_p);
    ck_assert(got.repetition_penalty == api.repetition_penalty && got.min_p == api.min_p);
    ck_assert_int_eq(got.top_k, api.top_k);
}
END_TEST

START_TEST(a_gguf_file_says_all_five) {
    struct sampling s;
    set_all();
    assert_status("parse", parse(NULL), OK);
    assert_in_force(
        "temperature=0.6 top_k=20 top_p=0.95 min_p=0.05 repetition_penalty=1.1");
    ck_assert_str_eq(m.sampling.from[SAMPLING_TEMPERATURE], "general.sampling.temp");
    sampling_init(&s);
    s.frequency_penalty = 2; // nobody's default
    sampling_defaults_apply(&m.sampling, &s);
    ck_assert(s.temperature == 0.6f && s.top_k == 20 && s.top_p == 0.95f);
    ck_assert(s.min_p == 0.05f && s.repetition_penalty == 1.1f && s.frequency_penalty == 2);
}
END_TEST

START_TEST(one_key_alone_leaves_the_rest_to_the_api) {
    int32_t off = -1;
    file_set(&file, "general.sampling.top_k", GGUF_I32, &off, sizeof(off));
    assert_status("parse", parse(NULL), OK);
    assert_in_force(API); // -1 is another word for off
    ck_assert_str_eq(m.sampling.from[SAMPLING_TOP_K], "general.sampling.top_k");
    ck_assert_ptr_null(m.sampling.from[SAMPLING_TEMPERATURE]);
    ck_assert(sampling_defaults_differ(&m.sampling));
}
END_TEST

START_TEST(who_wants_the_api_gets_it) {
    const struct model_options options = {.api_sampling = true};
    set_all();
    file_set_f32(&file, "general.sampling.temp", 9); // nor is it read
    assert_status("parse", parse(&options), OK);
    assert_in_force(API);
    ck_assert(!sampling_defaults_differ(&m.sampling));
}
END_TEST

static const struct {
    const char *key;
    float value;
    const char *says;
} wrong[] = {
    {"general.sampling.temp",           -0.1f, "-0.1 is not in 0 .. 2"        },
    {"general.sampling.temp",           2.5f,  "2.5 is not in 0 .. 2"         },
    {"general.sampling.top_p",          1.5f,  "1.5 is not in 0 .. 1"         },
    {"general.sampling.min_p",          -1,    "-1 is not in 0 .. 1"          },
    {"general.sampling.top_k",          -2,    "-2 is not in -1 .. 2147483647"},
    {"general.sampling.top_k",          1.5f,  "1.5 is no whole number"       },
    {"general.sampling.penalty_repeat", 0,     "0 is not in 0.01 .. 100"      },
    {"general.sampling.penalty_repeat", 1e9f,  "1e+09 is not in 0.01 .. 100"  },
};

START_TEST(what_is_out_of_range_is_refused_by_its_key) {
    file_set_f32(&file, wrong[_i].key, wrong[_i].value);
    assert_status(wrong[_i].key, parse(NULL), ERR_FORMAT);
    ck_assert_str_eq(err.param, wrong[_i].key);
    ck_assert_ptr_nonnull(strstr(err.text, "dir/test.gguf: key general.sampling."));
    ck_assert_msg(strstr(err.text, wrong[_i].says) != NULL, "%s", err.text);
    ck_assert_ptr_null(m.layers);
}
END_TEST

START_TEST(what_is_no_number_is_refused) {
    float nan_bits;
    uint32_t bits = 0x7fc00000;
    memcpy(&nan_bits, &bits, sizeof(bits));
    file_set_f32(&file, "general.sampling.top_p", nan_bits);
    assert_status("NaN", parse(NULL), ERR_FORMAT);
    bytes_free(&bytes);
    file_set_string(&file, "general.sampling.top_p", "0.9");
    assert_status("a string", parse(NULL), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "must be a number"));
}
END_TEST

// What stands in a folder's generation_config.json, and what is in force then; NULL: refused.
// clang-format off
static const struct {
    const char *fields, *in_force, *says;
} folders[] = {
    {"", API, NULL},
    {"\"temperature\":0.6,\"top_k\":20,\"top_p\":0.95,\"min_p\":0.05,\"repetition_penalty\":1.1",
     "temperature=0.6 top_k=20 top_p=0.95 min_p=0.05 repetition_penalty=1.1", NULL},
    {"\"do_sample\":true,\"temperature\":0.6",
     "temperature=0.6 top_k=0 top_p=1 min_p=0 repetition_penalty=1", NULL},
    {"\"do_sample\":false,\"temperature\":0.6",
     "temperature=0 top_k=0 top_p=1 min_p=0 repetition_penalty=1", NULL},
    {"\"temperature\":null,\"do_sample\":null", API, NULL},
    {"\"do_sample\":1", NULL, "/generation_config.json: do_sample: must be true or false"},
    {"\"temperature\":\"hot\"", NULL, "/generation_config.json: temperature: must be a number"},
    {"\"temperature\":-1", NULL, "/generation_config.json: temperature: -1 is not in 0 .. 2"},
    {"\"top_k\":2.5", NULL, "/generation_config.json: top_k: 2.5 is no whole number"},
    {"\"repetition_penalty\":0", NULL,
     "/generation_config.json: repetition_penalty: 0 is not in 0.01 .. 100"},
};
// clang-format on

START_TEST(a_folder_says_it_in_generation_config) {
    struct model_folder folder = folder_copy("folder");
    char text[256];
    int n = snprintf(text, sizeof(text), "{%s}", folders[_i].fields);
    folder_write(&folder, "generation_config.json", text, (size_t)n);
    enum status st = model_open(&m, folder.path, NULL, &err);
    assert_status(text, st, folders[_i].in_force ? OK : ERR_FORMAT);
    if (folders[_i].in_force) assert_in_force(folders[_i].in_force);
    if (folders[_i].says)
        ck_assert_msg(strstr(err.text, folders[_i].says) != NULL, "%s", err.text);
    folder_remove(&folder);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/sampling_defaults");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_file_without_any_has_those_of_the_api);
    tcase_add_test(reference, a_gguf_file_says_all_five);
    tcase_add_test(reference, one_key_alone_leaves_the_rest_to_the_api);
    tcase_add_test(reference, who_wants_the_api_gets_it);
    tcase_add_loop_test(reference, a_folder_says_it_in_generation_config, 0, ROWS(folders));
    TCase *failures = tcase_in(s, "failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, what_is_out_of_range_is_refused_by_its_key, 0,
                        ROWS(wrong));
    tcase_add_test(failures, what_is_no_number_is_refused);
    return s;
}
