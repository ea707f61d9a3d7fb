// The tables that fit reads: those that we ship, and files that are not what they should be.
#include "level2-operator/fit/model_table.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/fit/device_table.h"
#include "level2-operator/fit/fit_constants.h"
#include "tests/support/json_sweeps.h"
#include "tests/support/suite.h"

static const char models[] =
    "{\"about\": \"a test\", \"models\": ["
    "{\"name\": \"a-1.5b\", \"listed_as\": \"A\", \"layers\": 2, \"d_model\": 6, "
    "\"heads\": 4,"
    " \"kv_heads\": 2, \"d_head\": 3, \"d_ff\": 5, \"vocab\": 10, \"context\": 99,"
    " \"tied\": true, \"window\": null, \"tag\": \"S\", \"source\": \"s\"},"
    "{\"name\": \"b\", \"params\": 7, \"active_params\": 6, \"layers\": 2, \"d_model\": 6,"
    " \"heads\": 4, \"kv_heads\": 2, \"d_head\": 3, \"d_ff\": 5, \"vocab\": 10,"
    " \"context\": 99, \"window\": 8, \"windowed_layers\": 1}]}";
static const char devices[] =
    "{\"gpus\": [{\"name\": \"x1-80gb\", \"also\": \"x1\", \"memory_bytes_usable\": 79,"
    " \"memory_bytes_marketed\": 80, \"bandwidth_bytes_per_s\": 3, "
    "\"flops_fp16_bf16_dense\":"
    " 9}, {\"name\": \"x2\", \"memory_bytes_marketed\": 16}]}";
static const char overheads[] =
    "{\"overheads\": [{\"name\": \"graphs\", \"low_bytes\": 2, \"high_bytes\": 8}]}";
static const char rates[] = "{\"rates\": [{\"name\": \"disk\", \"bytes_per_s\": 5}]}";

static const struct {
    const char *name, *file;
    const struct data_table_kind *kind;
    const char *sample;
} tables[] = {
    {"models",    "data/models.json",           &model_table,        models   },
    {"devices",   "data/gpus.json",             &device_table,       devices  },
    {"overheads", "data/memory-overheads.json", &fit_overhead_table, overheads},
    {"rates",     "data/load-rates.json",       &fit_rate_table,     rates    },
};

static struct data_table parsed(int i) {
    struct data_table t;
    struct error err = {0};
    enum status st = data_table_parse(&t, tables[i].kind, tables[i].sample,
                                      strlen(tables[i].sample), "list", &err);
    ck_assert_msg(st == OK, "%s: %s", tables[i].name, err.text);
    return t;
}

// ---- rows ---------------------------------------------------------------------------------------

START_TEST(a_model_keeps_all_that_the_table_says) {
    struct data_table t = parsed(0);
    const struct model_entry *a = model_table_find(&t, "a-1.5b");
    const struct model_entry *b = model_table_find(&t, "b");
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    assert_text("listed_as", a->listed_as, "A");
    assert_text("notes", a->notes, "");
    assert_number("tied", a->tied, true);
    assert_number("norms_per_layer, as usual", a->norms_per_layer, 2);
    // A layer: q and o 6 * 12, k and v 6 * 6, three matrices of 6 * 5, two norms.
    assert_number("params by the shape", a->params,
                  2 * (2 * 72 + 2 * 36 + 90 + 12) + 6 + 60);
    assert_number("all of them active", a->active_params, a->params);
    assert_number("params as given", b->params, 7);
    assert_number("active as given", b->active_params, 6);
    assert_number("window", b->window, 8);
    ck_assert_ptr_null(model_table_find(&t, "c"));
    data_table_close(&t);
}
END_TEST

START_TEST(a_device_is_found_by_both_names) {
    struct data_table t = parsed(1);
    const struct device_entry *d = device_table_find(&t, "x1");
    ck_assert_ptr_nonnull(d);
    ck_assert_ptr_eq(device_table_find(&t, "x1-80gb"), d);
    assert_number("usable", d->usable_bytes, 79);
    d = device_table_find(&t, "x2");
    ck_assert_ptr_nonnull(d);
    assert_number("usable, where nobody said", d->usable_bytes, 16);
    ck_assert_ptr_null(device_table_find(&t, "x"));
    ck_assert_ptr_null(device_table_find(&t, "")); // x2 has no second name
    data_table_close(&t);
}
END_TEST

START_TEST(constants_are_found_by_name) {
    struct data_table o = parsed(2), r = parsed(3);
    const struct fit_overhead *graphs = fit_overhead_find(&o, "graphs");
    const struct fit_rate *disk = fit_rate_find(&r, "disk");
    ck_assert_ptr_nonnull(graphs);
    ck_assert_ptr_nonnull(disk);
    assert_number("low", graphs->low_bytes, 2);
    assert_number("high", graphs->high_bytes, 8);
    assert_number("rate", disk->bytes_per_s, 5);
    ck_assert_ptr_null(fit_overhead_find(&o, "context"));
    ck_assert_ptr_null(fit_rate_find(&r, "tape"));
    data_table_close(&o);
    data_table_close(&r);
}
END_TEST

// The counts of the table, by the formula that is used where a count is missing.
START_TEST(published_shapes_have_their_published_counts) {
    struct data_table t;
    struct error err = {0};
    ck_assert_msg(data_table_open(&t, &model_table, "data/models.json", &err) == OK, "%s",
                  err.text);
    const struct model_entry *rows = t.rows;
    for (int i = 0; i < t.n_rows; i++) {
        int64_t routing = rows[i].kv_rank ? 58 * 256 : 0; // a bias for each of V3's experts
        if (strcmp(rows[i].name, "opt-13b") == 0) continue; // has biases and positions
        assert_number(rows[i].name, model_entry_params(&rows[i]) + routing, rows[i].params);
    }
    data_table_close(&t);
}
END_TEST

START_TEST(each_table_that_we_ship_is_read) {
    struct data_table t;
    struct error err = {0};
    ck_assert_msg(data_table_open(&t, tables[_i].kind, tables[_i].file, &err) == OK, "%s",
                  err.text);
    ck_assert_int_ge(t.n_rows, 3);
    data_table_close(&t);
}
END_TEST

// ---- refusals -----------------------------------------------------------------------------------

static const struct {
    int table;
    const char *text, *why;
} refused[] = {
    {0, "[]",                                                       "has no list \"models\""        },
    {0, "{\"models\": []}",                                         "has no list \"models\""        },
    {0, "{\"models\": [7]}",                                        "models[0] is not an object"    },
    {0, "{\"models\": [{\"name\": \"a\", \"colour\": 1}]}",         "colour is not a field"         },
    {0, "{\"models\": [{\"name\": \"A\"}]}",                        "models[0].name must be"        },
    {0, "{\"models\": [{\"name\": \"a\"}]}",                        "models[0].layers is missing"   },
    {0, "{\"models\": [{\"name\": \"a\", \"layers\": 0}]}",         "layers must be"                },
    {0, "{\"models\": [{\"name\": \"a\", \"layers\": 1e9}]}",       "layers must be"                },
    {0, "{\"models\": [{\"name\": \"a\", \"tied\": 1}]}",           "tied must be true or false"    },
    {1, "{\"gpus\": [{\"name\": \"a\"}]}",                          "memory_bytes_usable is missing"},
    {1, "{\"gpus\": [{\"name\": \"\"}]}",                           "name must be"                  },
    {1, "{\"gpus\": [{\"name\": \"a\", \"memory_label_gb\": -1}]}",
     "must be a whole number"                                                                       },
    {2, "{\"overheads\": [{\"name\": \"a\", \"low_bytes\": 2}]}",   "low_bytes is above"            },
    {3, "{\"rates\": [{\"name\": \"a\"}]}",                         "bytes_per_s is missing"        },
    {3, "{\"rates\": [{\"name\": \"a\", \"bytes_per_s\": 0}]}",     "bytes_per_s must be"           },
};

START_TEST(what_is_no_table_is_refused_with_its_place) {
    struct data_table t;
    struct error err = {0};
    const struct data_table_kind *kind = tables[refused[_i].table].kind;
    const char *text = refused[_i].text;
    assert_status(text, data_table_parse(&t, kind, text, strlen(text), "list", &err),
                  ERR_FORMAT);
    ck_assert_msg(strstr(err.text, refused[_i].why) != NULL,
                  "\"%s\" says \"%s\", not \"%s\"", text, err.text, refused[_i].why);
    ck_assert_ptr_null(t.rows);
    data_table_close(&t);
}
END_TEST

static const struct {
    const char *fields, *why;
} shapes[] = {
    {"\"vocab\": 9",                                         "context is missing"      },
    {"\"context\": 9",                                       "vocab is missing"        },
    {"\"vocab\": 9, \"context\": 9, \"windowed_layers\": 3", "windowed_layers is above"},
    {"\"vocab\": 9, \"context\": 9, \"windowed_layers\": 1", "window is missing"       },
    {"\"vocab\": 9, \"context\": 9, \"dense_layers\": 3",    "dense_layers is above"   },
};

START_TEST(a_shape_must_be_whole) {
    char text[512];
    struct data_table t;
    struct error err = {0};
    snprintf(text, sizeof(text),
             "{\"models\": [{\"name\": \"a\", \"layers\": 2, \"d_model\": 6, \"heads\": 4, "
             "\"kv_heads\": 2, \"d_head\": 3, \"d_ff\": 5, %s}]}",
             shapes[_i].fields);
    assert_status(shapes[_i].fields,
                  data_table_parse(&t, &model_table, text, strlen(text), "list", &err),
                  ERR_FORMAT);
    ck_assert_msg(strstr(err.text, shapes[_i].why) != NULL, "%s: says \"%s\", not \"%s\"",
                  shapes[_i].fields, err.text, shapes[_i].why);
    data_table_close(&t);
}
END_TEST

START_TEST(a_table_has_bounds) {
    struct data_table t;
    static char text[LIMIT_TABLE_BYTES + 2];
    memset(text, ' ', sizeof(text));
    memcpy(text, rates, strlen(rates));
    assert_status(
        "as long as allowed",
        data_table_parse(&t, &fit_rate_table, text, LIMIT_TABLE_BYTES, "list", NULL), OK);
    data_table_close(&t);
    assert_status(
        "a byte more",
        data_table_parse(&t, &fit_rate_table, text, LIMIT_TABLE_BYTES + 1, "list", NULL),
        ERR_LIMIT);
    assert_status("no file", data_table_open(&t, &fit_rate_table, "no/such", NULL), ERR_IO);
    data_table_close(&t);
}
END_TEST

static enum status read_kind(const struct data_table_kind *kind, const char *bytes,
                             size_t n_bytes, struct error *err) {
    struct data_table t;
    enum status st = data_table_parse(&t, kind, bytes, n_bytes, "list", err);
    MUST(st == OK || (!t.rows && !t.document));
    data_table_close(&t);
    return st;
}

static enum status read_models(const char *bytes, size_t n_bytes, struct error *err) {
    return read_kind(&model_table, bytes, n_bytes, err);
}

static enum status read_devices(const char *bytes, size_t n_bytes, struct error *err) {
    return read_kind(&device_table, bytes, n_bytes, err);
}

START_TEST(cut_and_wrong_bytes_are_refused_or_read) {
    assert_cuts_are_refused(read_models, models);
    assert_cuts_are_refused(read_devices, devices);
    assert_wrong_bytes_do_no_harm(read_models, models);
    assert_wrong_bytes_do_no_harm(read_devices, devices);
}
END_TEST

START_TEST(failed_allocations_are_told) {
    assert_failed_allocations_are_told(read_models, models);
    assert_failed_allocations_are_told(read_devices, devices);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_tables");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_test(reference, a_model_keeps_all_that_the_table_says);
    tcase_add_test(reference, a_device_is_found_by_both_names);
    tcase_add_test(reference, constants_are_found_by_name);
    tcase_add_test(reference, published_shapes_have_their_published_counts);
    tcase_add_loop_test(reference, each_table_that_we_ship_is_read, 0, ROWS(tables));
    TCase *failures = tcase_in(s, "failures");
    tcase_add_loop_test(failures, what_is_no_table_is_refused_with_its_place, 0,
                        ROWS(refused));
    tcase_add_loop_test(failures, a_shape_must_be_whole, 0, ROWS(shapes));
    tcase_add_test(failures, a_table_has_bounds);
    tcase_add_test(failures, cut_and_wrong_bytes_are_refused_or_read);
    tcase_add_test(failures, failed_allocations_are_told);
    return s;
}
