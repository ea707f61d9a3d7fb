// Opening models one beside the other: what is counted, what is refused, what comes back.
#include "level2-operator/server/loaded_model.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/team.h"
#include "level2-operator/model/ops.h"
#include "tests/support/model_folder.h"
#include "tests/support/suite.h"

enum { N_CTX = 64 };

struct rig {
    struct arena arena;
    struct team team;
    struct clock clock;
    struct log log; // nobody listens
    struct load_options options;
};

static void rig_open(struct rig *r) {
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena, 1 << 16);
    clock_init_real(&r->clock);
    assert_status("team_open", team_open(&r->team, &r->arena, 1, NULL), OK);
    r->options = (struct load_options){
        .path = tiny_model_path(),
        .id = "tiny",
        .engine = {.n_ctx = N_CTX, .team = &r->team, .clock = &r->clock},
        .log = &r->log,
    };
}

static void rig_close(struct rig *r) {
    team_close(&r->team);
    arena_free(&r->arena);
}

START_TEST(two_fit_into_exactly_their_sum) {
    struct draw d = draw_start("two_fit_into_exactly_their_sum");
    struct engine_ledger wanted = {.weights_bytes = draw_u64(&d) >> 8,
                                   .kv_bytes = draw_u64(&d) >> 8,
                                   .other_bytes = 1};
    struct engine_ledger beside = {
        .weights_bytes = draw_u64(&d) >> 8, .activation_bytes = 7, .packed_bytes = 9};
    uint64_t sum = ledger_bytes(&wanted) + ledger_bytes(&beside);
    assert_status("the sum", ledger_fits(&wanted, &beside, sum, NULL), OK);
    assert_status("one byte less", ledger_fits(&wanted, &beside, sum - 1, NULL),
                  ERR_MEMORY);
    assert_status("less than the other takes", ledger_fits(&wanted, &beside, 1, NULL),
                  ERR_MEMORY);
    assert_status("no limit", ledger_fits(&wanted, &beside, 0, NULL), OK);
}
END_TEST

START_TEST(a_refusal_has_all_numbers) {
    struct engine_ledger wanted = {.weights_bytes = 300 << 20, .kv_bytes = 40 << 20};
    struct engine_ledger beside = {.weights_bytes = 100 << 20};
    static const char *const words[] = {"340.0", "300.0", "40.0", "100.0", "400.0"};
    struct error err = {0};
    ledger_fits(&wanted, &beside, 400 << 20, &err);
    for (int i = 0; i < ROWS(words); i++)
        ck_assert_msg(strstr(err.text, words[i]) != NULL, "%s is not in: %s", words[i],
                      err.text);
    unsigned long long enough = 0;
    const char *advice = strstr(err.text, "--memory ");
    ck_assert_msg(advice && sscanf(advice, "--memory %llu", &enough) == 1, "%s", err.text);
    assert_status("as advised", ledger_fits(&wanted, &beside, enough, NULL), OK);
    assert_status("a byte less", ledger_fits(&wanted, &beside, enough - 1, NULL),
                  ERR_MEMORY);
}
END_TEST

START_TEST(the_second_is_counted_with_the_first) {
    static struct loaded_model first, second;
    struct error err = {0};
    struct rig r;
    rig_open(&r);
    assert_status("the first", loaded_model_open(&first, &r.options, &err), OK);
    assert_number("its context", engine_context(first.served.engine), N_CTX);
    assert_text("its id", first.served.id, "tiny");

    uint64_t n_bytes = ledger_bytes(&first.ledger);
    r.options.beside = &first.ledger;
    r.options.memory_bytes = 2 * n_bytes;
    // KV may take one line more than it needs: serial_fit.h counts it.
    r.options.memory_bytes += ARENA_ALIGN;
    assert_status("room for two", loaded_model_open(&second, &r.options, &err), OK);
    loaded_model_close(&second);
    r.options.memory_bytes = 2 * n_bytes - 1;
    assert_status("a byte less", loaded_model_open(&second, &r.options, &err), ERR_MEMORY);
    ck_assert_ptr_null(second.served.engine); // closed: nothing is left
    ck_assert_ptr_null(second.model.layers);
    loaded_model_close(&second);
    loaded_model_close(&first);
    rig_close(&r);
}
END_TEST

START_TEST(what_cannot_be_opened_leaves_nothing) {
    static struct loaded_model m;
    struct error err = {0};
    struct rig r;
    rig_open(&r);
    r.options.path = "no/such/file.gguf";
    assert_status("no file", loaded_model_open(&m, &r.options, &err), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "file.gguf"));
    r.options.path = __FILE__;
    ck_assert_int_ne(loaded_model_open(&m, &r.options, &err), OK);
    ck_assert_ptr_null(m.served.engine);
    loaded_model_close(&m); // safe
    rig_close(&r);
}
END_TEST

// ---- a file that changes under the load ---------------------------------------------------------

static struct {
    struct model_folder folder;
    const char *file; // what happens to it, and when
    void (*harm)(const struct model_folder *f, const char *file);
    bool is_before; // weights are read
} spoilt;

static void spoil(void) {
    if (spoilt.harm) spoilt.harm(&spoilt.folder, spoilt.file);
    spoilt.harm = NULL; // once
}

static void cut(const struct model_folder *f, const char *file) {
    ck_assert_int_eq(truncate(folder_path(f, file), 100), 0);
}

static void grow(const struct model_folder *f, const char *file) {
    struct bytes all = folder_read(f, file);
    put_u8(&all, 0);
    folder_write(f, file, all.data, all.n);
    bytes_free(&all);
}

static void replace(const struct model_folder *f, const char *file) {
    struct bytes all = folder_read(f, file);
    folder_drop(f, file);
    folder_write(f, file, all.data, all.n);
    bytes_free(&all);
}

static size_t prepare_bytes(const struct model *m) {
    if (spoilt.is_before) spoil();
    return ops_plain.prepare_bytes(m);
}

static enum status prepare(struct model *m, struct arena *arena, struct team *team,
                           struct error *err) {
    enum status st = ops_plain.prepare(m, arena, team, err);
    spoil();
    return st;
}

static const struct {
    const char *name, *opened, *file;
    void (*harm)(const struct model_folder *f, const char *file);
    bool is_before;
    enum status want;
} spoilts[] = {
    {"cut before its weights are read", "tiny.gguf",                 "tiny.gguf",                 cut,     true,  ERR_IO},
    {"written to",                      "tiny.gguf",                 "tiny.gguf",                 grow,    false, ERR_IO},
    {"another one moved to its name",   "tiny.gguf",                 "tiny.gguf",                 replace, false, OK    },
    {"a part written to",               "split-00001-of-00003.gguf", "split-00002-of-00003.gguf", grow,
     false,                                                                                                       ERR_IO},
    {"another part moved to its name",  "split-00001-of-00003.gguf",
     "split-00003-of-00003.gguf",                                                                 replace, true,  ERR_IO},
};

START_TEST(a_file_that_changes_while_it_is_loaded_is_no_model) {
    static struct loaded_model m;
    struct ops ops = ops_plain;
    struct error err = {0};
    char path[FOLDER_PATH];
    struct rig r;

    rig_open(&r);
    ops.prepare_bytes = prepare_bytes;
    ops.prepare = prepare;
    spoilt.folder = folder_copy(".");
    spoilt.file = spoilts[_i].file;
    spoilt.harm = spoilts[_i].harm;
    spoilt.is_before = spoilts[_i].is_before;
    snprintf(path, sizeof(path), "%s", folder_path(&spoilt.folder, spoilts[_i].opened));
    r.options.path = path;
    r.options.engine.ops = &ops;
    assert_status(spoilts[_i].name, loaded_model_open(&m, &r.options, &err),
                  spoilts[_i].want);
    if (spoilts[_i].want) ck_assert_ptr_nonnull(strstr(err.text, spoilts[_i].file));
    ck_assert_int_eq(m.served.engine == NULL, spoilts[_i].want != OK);
    loaded_model_close(&m);
    folder_remove(&spoilt.folder);
    rig_close(&r);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/loaded_model");
    TCase *fits = tcase_in(s, "fits");
    tcase_add_test(fits, two_fit_into_exactly_their_sum);
    tcase_add_test(fits, a_refusal_has_all_numbers);
    tcase_add_test(fits, the_second_is_counted_with_the_first);
    TCase *failures = tcase_in(s, "failures");
    tcase_add_test(failures, what_cannot_be_opened_leaves_nothing);
    tcase_add_loop_test(failures, a_file_that_changes_while_it_is_loaded_is_no_model, 0,
                        ROWS(spoilts));
    return s;
}
