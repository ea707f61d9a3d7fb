#include "tests/support/fit_subjects.h"

#include <check.h>
#include <string.h>

static const char entries[] =
    "{\"models\": ["
    "{\"name\": \"large\", \"params\": 70553706496, \"layers\": 80, \"d_model\": 8192, "
    "\"heads\":"
    " 64, \"kv_heads\": 8, \"d_head\": 128, \"d_ff\": 28672, \"vocab\": 128256, "
    "\"context\": 8192},"
    "{\"name\": \"latent\", \"params\": 1000, \"layers\": 61, \"d_model\": 7168, "
    "\"heads\": 128,"
    " \"kv_heads\": 128, \"d_ff\": 2048, \"vocab\": 10, \"context\": 100, \"kv_rank\": 512,"
    " \"rope_dim\": 64, \"nope_dim\": 128, \"v_dim\": 128, \"q_rank\": 1536},"
    "{\"name\": \"windows\", \"params\": 1000, \"layers\": 18, \"d_model\": 640, "
    "\"heads\": 4,"
    " \"kv_heads\": 1, \"d_head\": 256, \"d_ff\": 2048, \"vocab\": 10, \"context\": 32768,"
    " \"window\": 512, \"windowed_layers\": 15},"
    "{\"name\": \"some-windows\", \"params\": 1000, \"layers\": 2, \"d_model\": 6, "
    "\"heads\": 2,"
    " \"kv_heads\": 1, \"d_head\": 4, \"d_ff\": 5, \"vocab\": 10, \"context\": 99, "
    "\"window\": 7}]}";

struct fit_subject subject_of(const char *name) {
    struct data_table t;
    struct error err = {0};
    struct fit_subject s;
    ck_assert_msg(
        data_table_parse(&t, &model_table, entries, strlen(entries), "list", &err) == OK,
        "%s", err.text);
    fit_subject_of_entry(&s, model_table_find(&t, name));
    data_table_close(&t);
    return s;
}

struct fit_case case_of(const struct fit_subject *s) {
    struct fit_case c = {
        .subject = s,
        .machine = {.name = "board",
                    .n_devices = 1,
                    .n_split = 1,
                    .device = {.memory_bytes = 84932978278, .share = 900},
                    .bandwidth = 1e12,
                    .ops = 1e15,
                    .load_rates = {1e10, 1e9, 1e8}},
        .weights = "bf16",
        .kv = "bf16",
        .weight_type = {1, 2               },
        .kv_type = {1,                        2},
        .n_ctx = 8192,
        .n_seqs = 1
    };
    return c;
}
