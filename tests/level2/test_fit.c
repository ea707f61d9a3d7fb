// Bytes of weights and KV, what is left, and what goes into it: rows worked by hand, published models,
// and a count layer by layer over drawn shapes. Tests of one function call no other.
#include "level2-operator/fit/fit.h"

#include <stdio.h>

#include "tests/support/fit_oracle.h"
#include "tests/support/suite.h"

static const struct fit_type bf16 = {1, 2};

// Shapes: litgpt config.py, commit 2685705; DeepSeek-V3's published configuration.
static const struct fit_model llama_8b = {
    .n_weights = 8030261248, .n_layers = 32, .n_heads = 32, .n_kv_heads = 8, .d_head = 128};
static const struct fit_model llama_70b = {.n_weights = 70553706496,
                                           .n_layers = 80,
                                           .n_heads = 64,
                                           .n_kv_heads = 8,
                                           .d_head = 128};
static const struct fit_model gemma_270m = {.n_weights = 268098176,
                                            .n_layers = 18,
                                            .n_heads = 4,
                                            .n_kv_heads = 1,
                                            .d_head = 256,
                                            .n_window_layers = 15,
                                            .window = 512};
static const struct fit_model deepseek_v3 = {
    .n_weights = 671026419200, .n_layers = 61, .n_heads = 128, .d_latent = 576};

// A board sold as 80 GB, of which an engine sees 79.1 GiB.
static const struct fit_device board_80 = {
    .memory_bytes = 84932978278, .share = 900, .overhead_bytes = 2147483648};

static const char *digits(char text[24], uint64_t n) {
    snprintf(text, 24, n == FIT_TOO_MUCH ? "FIT_TOO_MUCH" : "%llu", (unsigned long long)n);
    return text;
}

static void assert_bytes(const char *what, uint64_t got, uint64_t want) {
    char got_text[24], want_text[24];
    if (got <= INT64_MAX && want <= INT64_MAX) {
        assert_number(what, (int64_t)got, (int64_t)want);
    } else {
        assert_text(what, digits(got_text, got), digits(want_text, want));
    }
}

// ---- worked example -----------------------------------------------------------------------------

START_TEST(worked_example) {
    assert_bytes("fit_bytes({1, 2}, 8030261248)", fit_bytes(bf16, llama_8b.n_weights),
                 16060522496);
}
END_TEST

START_TEST(worked_example_of_kv) {
    const struct fit_plan plan = {.kv = bf16, .n_seqs = 1, .n_ctx = 8192, .n_split = 1};
    assert_bytes("fit_kv_bytes(Llama 3 8B, bf16, 1 token)",
                 fit_kv_bytes(&llama_8b, &plan, 1), 131072);
    assert_bytes("fit_kv_bytes(Llama 3 8B, bf16, 8192 tokens)",
                 fit_kv_bytes(&llama_8b, &plan, 8192), 1073741824);
}
END_TEST

START_TEST(worked_example_of_answers) {
    const struct fit_plan plan = {16060522496, bf16, 0, 54, 8192, 1};
    uint64_t room = 58231674306;
    assert_bytes("fit_room(16060522496 bytes of weights, 80 GB board)",
                 fit_room(&plan, &board_80), room);
    assert_bytes("fit_max_sequences(Llama 3 8B, 8192 tokens, room 58231674306)",
                 fit_max_sequences(&llama_8b, &plan, room), 54);
    assert_bytes("fit_max_context(Llama 3 8B, 54 sequences, room 58231674306)",
                 fit_max_context(&llama_8b, &plan, room, 1 << 20), 8227);
}
END_TEST

START_TEST(worked_example_of_devices) {
    const struct fit_plan plan = {141107412992, bf16, 0, 1, 8192, 1};
    assert_number("fit_devices(Llama 3 70B in bf16, 80 GB boards)",
                  fit_devices(&llama_70b, &plan, &board_80), 2);
}
END_TEST

// ---- weights ------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    struct fit_type type;
    uint64_t n_values, want;
} weights[] = {
    {"none",                     {32, 20},   0,              0},
    {"one of a block",           {32, 20},   1,              20},
    {"a block",                  {32, 20},   32,             20},
    {"one more",                 {32, 20},   33,             40},
    {"K block",                  {256, 144}, 257,            288},
    {"Llama 3 70B, bare 4 bits", {2, 1},     70553706496,    35276853248},
    {"Llama 3 70B, Q4_K",        {256, 144}, 70553706496,    39686459904},
    {"OPT-13B, bf16",            {1, 2},     12853473280,    25706946560},
    {"more than a double holds", {1, 1},     (1ull << 53) + 1, (1ull << 53) + 1},
    {"the largest",              {2, 1},     UINT64_MAX,     1ull << 63},
    {"one too many",             {1, 2},     1ull << 63,     UINT64_MAX},
    {"far too many",             {1, 4},     UINT64_MAX - 1, UINT64_MAX},
};
// clang-format on

START_TEST(weights_take_whole_blocks) {
    char what[128];
    snprintf(what, sizeof(what), "fit_bytes({%d, %d}, %llu) (%s)",
             weights[_i].type.block_len, weights[_i].type.block_bytes,
             (unsigned long long)weights[_i].n_values, weights[_i].name);
    assert_bytes(what, fit_bytes(weights[_i].type, weights[_i].n_values), weights[_i].want);
}
END_TEST

// ---- KV -----------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    const struct fit_model *m;
    struct fit_type kv;
    int scale, n_split;
    uint64_t n_tokens, want;
} kvs[] = {
    {"Llama 3 8B",               &llama_8b,    {1, 2},   0, 1,  8192, 1073741824},
    {"Llama 3 8B in 8 bits",     &llama_8b,    {1, 1},   0, 1,  1,    65536},
    {"with a scale of 4 bytes",  &llama_8b,    {1, 1},   4, 1,  1,    67584},
    {"in Q8_0",                  &llama_8b,    {32, 34}, 0, 1,  1,    69632},
    {"on one of 2",              &llama_8b,    {1, 2},   0, 2,  1,    65536},
    {"on one of 8",              &llama_8b,    {1, 2},   0, 8,  1,    16384},
    {"on one of 16: copied",     &llama_8b,    {1, 2},   0, 16, 1,    16384},
    {"Gemma 3 270M, 512 tokens", &gemma_270m,  {1, 2},   0, 1,  512,  9437184},
    {"Gemma 3 270M, 513",        &gemma_270m,  {1, 2},   0, 1,  513,  9440256},
    {"Gemma 3 270M, 8192",       &gemma_270m,  {1, 2},   0, 1,  8192, 33030144},
    {"DeepSeek-V3, MLA",         &deepseek_v3, {1, 2},   0, 1,  1,    70272},
    {"MLA on one of 8: copied",  &deepseek_v3, {1, 2},   0, 8,  1,    70272},
    {"MLA with a scale",         &deepseek_v3, {1, 1},   4, 1,  1,    35380},
    {"no token",                 &llama_8b,    {1, 2},   0, 1,  0,    0},
    {"too many tokens",          &llama_8b,    {1, 2},   0, 1,  1ull << 60, UINT64_MAX},
};
// clang-format on

START_TEST(published_models_take_their_bytes) {
    char what[128];
    const struct fit_plan plan = {0, kvs[_i].kv, kvs[_i].scale, 1, 1, kvs[_i].n_split};
    snprintf(what, sizeof(what), "fit_kv_bytes(%s, n_split %d, %llu tokens)", kvs[_i].name,
             kvs[_i].n_split, (unsigned long long)kvs[_i].n_tokens);
    assert_bytes(what, fit_kv_bytes(kvs[_i].m, &plan, kvs[_i].n_tokens), kvs[_i].want);
}
END_TEST

// ---- drawn shapes -------------------------------------------------------------------------------

START_TEST(kv_is_the_sum_over_layers_and_heads) {
    struct draw d = draw_start("kv_is_the_sum_over_layers_and_heads");
    for (int i = 0; i < 300; i++) {
        const struct fit_model m = fit_drawn_model(&d);
        const struct fit_plan p = fit_drawn_plan(&d);
        uint64_t n = (uint64_t)draw_int(&d, 0, 3000);
        char what[256];
        assert_bytes(fit_words(what, sizeof(what), "fit_kv_bytes", &m, &p, "n_tokens", n),
                     fit_kv_bytes(&m, &p, n), fit_counted_kv(&m, &p, n));
    }
}
END_TEST

// As many as go in, and one more does not.
START_TEST(one_sequence_more_is_too_many) {
    struct draw d = draw_start("one_sequence_more_is_too_many");
    for (int i = 0; i < 300; i++) {
        const struct fit_model m = fit_drawn_model(&d);
        const struct fit_plan p = fit_drawn_plan(&d);
        uint64_t one = fit_counted_kv(&m, &p, p.n_ctx),
                 n_want = (uint64_t)draw_int(&d, 0, 50);
        uint64_t rest = draw_int(&d, 0, 1) ? 0 : draw_u64(&d) % one;
        char what[256];
        assert_bytes(fit_words(what, sizeof(what), "fit_max_sequences", &m, &p, "room",
                               n_want * one + rest),
                     fit_max_sequences(&m, &p, n_want * one + rest), n_want);
    }
}
END_TEST

START_TEST(one_token_more_is_too_many) {
    struct draw d = draw_start("one_token_more_is_too_many");
    for (int i = 0; i < 300; i++) {
        struct fit_model m = fit_drawn_model(&d);
        const struct fit_plan p = fit_drawn_plan(&d);
        if (m.n_window_layers == m.n_layers) m.n_window_layers--; // else it may never end
        uint64_t n_want = (uint64_t)draw_int(&d, 0, 3000);
        uint64_t room = p.n_seqs * fit_counted_kv(&m, &p, n_want);
        uint64_t next = p.n_seqs * fit_counted_kv(&m, &p, n_want + 1);
        if (draw_int(&d, 0, 1)) room = next - 1;
        char what[256];
        fit_words(what, sizeof(what), "fit_max_context", &m, &p, "room", room);
        assert_bytes(what, fit_max_context(&m, &p, room, 1 << 20), n_want);
    }
}
END_TEST

START_TEST(no_context_is_longer_than_asked_for) {
    struct fit_plan plan = {.kv = bf16, .n_seqs = 3, .n_ctx = 1, .n_split = 1};
    struct fit_model all_windows = gemma_270m;
    all_windows.n_window_layers = all_windows.n_layers;
    uint64_t most = (1ull << 63) - 1;
    assert_bytes("fit_max_context(room for 100 tokens, most 77)",
                 fit_max_context(&llama_8b, &plan, 300 * 131072, 77), 77);
    assert_bytes("fit_max_context(no room)", fit_max_context(&llama_8b, &plan, 0, 77), 0);
    assert_bytes("fit_max_context(room for 2.99 tokens of 3 sequences)",
                 fit_max_context(&llama_8b, &plan, 9 * 131072 - 1, most), 2);
    assert_bytes("fit_max_context(a window in each layer, most 2^63 - 1)",
                 fit_max_context(&all_windows, &plan, 1ull << 40, most), most);
    plan.n_seqs = 4; // of 2^46 tokens: 2^65 bytes
    assert_bytes("fit_max_context(room for 100 tokens of 4 sequences, most 2^63 - 1)",
                 fit_max_context(&llama_8b, &plan, 400 * 131072, most), 100);
}
END_TEST

// ---- room ---------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    struct fit_device d;
    uint64_t weight_bytes;
    int n_split;
    uint64_t want;
} rooms[] = {
    {"all of it",                   {1000, 1000, 0, 0},                  400,  1, 600},
    {"nine tenths",                 {1000, 900, 0, 0},                   400,  1, 500},
    {"the share rounded down",      {999, 999, 0, 0},                    0,    1, 998},
    {"a share that is no fraction", {100, 290, 0, 0},                    0,    1, 29},
    {"more than a double holds",    {(1ull << 53) - 83, 993, 0, 0},       0,    1, 8944148859957722},
    {"overhead",                    {1000, 900, 150, 0},                 400,  1, 350},
    {"one device does not talk",    {1000, 900, 150, 100},               400,  1, 350},
    {"two do",                      {1000, 900, 150, 100},               400,  2, 450},
    {"a part of the weights, up",   {1000, 1000, 0, 0},                  400,  3, 866},
    {"exactly full",                {1000, 1000, 600, 0},                400,  1, 0},
    {"one byte left",               {1000, 1000, 599, 0},                400,  1, 1},
    {"too heavy",                   {1000, 900, 0, 0},                   1001, 1, 0},
    {"the largest",                 {1ull << 53, 1000, 1, 0},            0,    1, (1ull << 53) - 1},
    {"overhead alone is too heavy", {1000, 900, 1ull << 60, 1ull << 60}, 1,    2, 0},
};
// clang-format on

START_TEST(room_is_what_is_left) {
    char what[160];
    const struct fit_device *d = &rooms[_i].d;
    const struct fit_plan plan = {.weight_bytes = rooms[_i].weight_bytes,
                                  .kv = bf16,
                                  .n_seqs = 1,
                                  .n_ctx = 1,
                                  .n_split = rooms[_i].n_split};
    snprintf(
        what, sizeof(what),
        "fit_room(weights %llu on %d, memory %llu * %d/1000, overhead %llu + %llu) (%s)",
        (unsigned long long)plan.weight_bytes, plan.n_split,
        (unsigned long long)d->memory_bytes, d->share,
        (unsigned long long)d->overhead_bytes, (unsigned long long)d->split_bytes,
        rooms[_i].name);
    assert_bytes(what, fit_room(&plan, d), rooms[_i].want);
}
END_TEST

// ---- devices ------------------------------------------------------------------------------------

START_TEST(a_device_holds_overhead_weights_and_kv) {
    struct draw d = draw_start("a_device_holds_overhead_weights_and_kv");
    for (int i = 0; i < 200; i++) {
        const struct fit_model m = fit_drawn_model(&d);
        const struct fit_plan p = fit_drawn_plan(&d);
        const struct fit_device dev = {1, 1, (uint64_t)draw_int(&d, 0, 1000000),
                                       (uint64_t)draw_int(&d, 0, 1000000)};
        char what[400];
        assert_bytes(fit_words_on(what, sizeof(what), "fit_device_bytes", &m, &p, &dev),
                     fit_device_bytes(&m, &p, &dev), fit_counted_device(&m, &p, &dev));
    }
}
END_TEST

START_TEST(it_fits_to_the_last_byte) {
    struct draw d = draw_start("it_fits_to_the_last_byte");
    for (int i = 0; i < 100; i++) {
        const struct fit_model m = fit_drawn_model(&d);
        const struct fit_plan p = fit_drawn_plan(&d);
        struct fit_device dev = {.share = draw_int(&d, 1, 1000), .overhead_bytes = 12345};
        uint64_t need = fit_counted_device(&m, &p, &dev), share = (uint64_t)dev.share;
        char what[400];
        dev.memory_bytes =
            (need * 1000 + share - 1) / share; // its share: need, or a byte more
        fit_words_on(what, sizeof(what), "fit_fits", &m, &p, &dev);
        assert_number(what, fit_fits(&m, &p, &dev), true);
        dev.memory_bytes--;
        fit_words_on(what, sizeof(what), "fit_fits", &m, &p, &dev);
        assert_number(what, fit_fits(&m, &p, &dev), false);
    }
}
END_TEST

START_TEST(what_cannot_be_counted_does_not_fit) {
    const struct fit_plan plan = {1, bf16, 0, 1ull << 40, 1ull << 40, 1};
    const struct fit_device large = {.memory_bytes = 1ull << 53, .share = 1000};
    assert_bytes("fit_device_bytes(2^40 sequences of 2^40 tokens)",
                 fit_device_bytes(&llama_8b, &plan, &large), FIT_TOO_MUCH);
    assert_number("fit_fits(2^40 sequences of 2^40 tokens)",
                  fit_fits(&llama_8b, &plan, &large), false);
}
END_TEST

// Each divisor of n_heads in turn.
START_TEST(the_smallest_split_that_fits_is_found) {
    struct draw d = draw_start("the_smallest_split_that_fits_is_found");
    for (int i = 0; i < 200; i++) {
        const struct fit_model m = fit_drawn_model(&d);
        struct fit_plan p = fit_drawn_plan(&d);
        const struct fit_device dev = {.memory_bytes =
                                           (uint64_t)draw_int(&d, 1, 1500000000),
                                       .share = 900,
                                       .overhead_bytes = (uint64_t)draw_int(&d, 0, 9000000),
                                       .split_bytes = (uint64_t)draw_int(&d, 0, 9000000)};
        struct fit_plan tried = p;
        int want = 0;
        for (int n = m.n_heads; n >= 1; n--) {
            tried.n_split = n;
            bool fits = fit_counted_device(&m, &tried, &dev) <= dev.memory_bytes * 9 / 10;
            if (m.n_heads % n == 0 && fits) want = n;
        }
        char what[400];
        fit_words_on(what, sizeof(what), "fit_devices", &m, &p, &dev);
        assert_number(what, fit_devices(&m, &p, &dev), want);
    }
}
END_TEST

// clang-format off
static const struct {
    const char *name;
    const struct fit_model *m;
    uint64_t weight_bytes;
    struct fit_device d;
    int want;
} fleets[] = {
    {"Llama 3 8B, 80 GB boards",  &llama_8b,    16060522496,   {84932978278, 900, 0, 0}, 1},
    {"Llama 3 70B in 4 bits",     &llama_70b,   35276853248,   {84932978278, 900, 0, 0}, 1},
    {"Llama 3 70B, 40 GB boards", &llama_70b,   141107412992,  {40000000000, 900, 0, 0}, 4},
    {"DeepSeek-V3, 80 GB boards", &deepseek_v3, 1342052838400, {84932978278, 900, 0, 0}, 32},
    {"DeepSeek-V3, tiny boards",  &deepseek_v3, 1342052838400, {1000000000, 900, 0, 0}, 0},
};
// clang-format on

START_TEST(published_models_need_their_boards) {
    const struct fit_plan plan = {fleets[_i].weight_bytes, bf16, 0, 1, 8192, 1};
    char what[128];
    snprintf(what, sizeof(what), "fit_devices(%s)", fleets[_i].name);
    assert_number(what, fit_devices(fleets[_i].m, &plan, &fleets[_i].d), fleets[_i].want);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit");
    TCase *worked = tcase_in(s, "worked example");
    tcase_add_test(worked, worked_example);
    tcase_add_test(worked, worked_example_of_kv);
    tcase_add_test(worked, worked_example_of_answers);
    tcase_add_test(worked, worked_example_of_devices);
    TCase *bytes = tcase_in(s, "bytes");
    tcase_add_loop_test(bytes, weights_take_whole_blocks, 0, ROWS(weights));
    tcase_add_loop_test(bytes, published_models_take_their_bytes, 0, ROWS(kvs));
    tcase_add_test(bytes, kv_is_the_sum_over_layers_and_heads);
    TCase *room = tcase_in(s, "room");
    tcase_add_loop_test(room, room_is_what_is_left, 0, ROWS(rooms));
    tcase_add_test(room, one_sequence_more_is_too_many);
    tcase_add_test(room, one_token_more_is_too_many);
    tcase_add_test(room, no_context_is_longer_than_asked_for);
    TCase *devices = tcase_in(s, "devices");
    tcase_add_test(devices, a_device_holds_overhead_weights_and_kv);
    tcase_add_test(devices, it_fits_to_the_last_byte);
    tcase_add_test(devices, what_cannot_be_counted_does_not_fit);
    tcase_add_test(devices, the_smallest_split_that_fits_is_found);
    tcase_add_loop_test(devices, published_models_need_their_boards, 0, ROWS(fleets));
    return s;
}
