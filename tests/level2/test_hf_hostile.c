// The JSON files of a model folder from strangers: every place to cut them, and thousands of changed
// copies. Each is refused in one line or understood, within an arena that does not grow with what a file
// claims, and without more JSON than the text can hold.
#include "tests/support/hf_input.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/json_memory.h"
#include "tests/support/model_folder.h"
#include "tests/support/suite.h"

enum {
    N_VOCAB = 1024,
    ARENA_BYTES = 4 << 20,
    JSON_PER_BYTE = 64, // an empty list: three bytes of text, over a hundred of memory
    JSON_BASE = 64 << 10
};

static struct arena arena;
static struct error err;
static void setup(void) {
    json_memory_watch();
    arena_init(&arena, ARENA_BYTES);
}

static void teardown(void) {
    arena_free(&arena);
    json_memory_release();
}

static enum status read_tokenizer(const char *bytes, size_t n_bytes, struct arena *a,
                                  struct error *why) {
    return hf_input_tokenizer(bytes, n_bytes, N_VOCAB, a, why);
}

static const struct {
    const char *kind, *file;
    enum status (*read)(const char *, size_t, struct arena *, struct error *);
    size_t cut_step; // bytes
    int n_changed;   // copies
} files[] = {
    {"folder",  "config.json",                  hf_input_config, 1,  3000},
    {"sharded", "model.safetensors.index.json", hf_input_index,  3,  1000},
    {"folder",  "tokenizer.json",               read_tokenizer,  61, 200 },
};

// In memory of its own, so that one byte too many is seen.
static enum status read_copy(int i, const unsigned char *bytes, size_t n) {
    char *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    arena_reset(&arena);
    memset(&err, 0, sizeof(err));
    enum status st = files[i].read(copy, n, &arena, &err);
    free(copy);
    ck_assert_msg(st == OK || (err.text[0] && !strchr(err.text, '\n') && st != ERR_MEMORY),
                  "%s: %s", files[i].file, err.text);
    ck_assert_uint_eq(json_memory_now(), 0);
    return st;
}

START_TEST(a_text_cut_anywhere_is_refused) {
    struct model_folder folder = folder_copy(files[_i].kind);
    struct bytes b = folder_read(&folder, files[_i].file);
    folder_remove(&folder);
    for (size_t n = 0; n + 2 < b.n; n += files[_i].cut_step)
        ck_assert_msg(read_copy(_i, b.data, n) == ERR_FORMAT, "%zu: %s", n, err.text);
    ck_assert_uint_lt(json_memory_peak(), JSON_PER_BYTE * b.n + JSON_BASE);
    bytes_free(&b);
}
END_TEST

// One to three bytes, mostly such as JSON is made of.
static void change(struct draw *d, struct bytes *b) {
    static const char likely[] = "0123456789[]{}\",:\\u-eE. tnf";
    for (int i = draw_int(d, 1, 3); i > 0; i--)
        b->data[draw_int(d, 0, (int)b->n - 1)] =
            draw_int(d, 0, 5)
                ? (unsigned char)likely[draw_int(d, 0, (int)sizeof(likely) - 2)]
                : (unsigned char)draw_u64(d);
}

START_TEST(a_changed_text_is_refused_or_understood) {
    struct draw d = draw_start(files[_i].file);
    struct model_folder folder = folder_copy(files[_i].kind);
    struct bytes whole = folder_read(&folder, files[_i].file);
    int n_refused = 0;

    folder_remove(&folder);
    for (int i = 0; i < files[_i].n_changed; i++) {
        struct bytes b = {0};
        put_raw(&b, whole.data, whole.n);
        change(&d, &b);
        n_refused += read_copy(_i, b.data, b.n) != OK;
        bytes_free(&b);
    }
    ck_assert_int_gt(n_refused, files[_i].n_changed / 20);
    ck_assert_int_lt(n_refused, files[_i].n_changed - files[_i].n_changed / 100);
    ck_assert_uint_lt(json_memory_peak(), JSON_PER_BYTE * whole.n + JSON_BASE);
    bytes_free(&whole);
}
END_TEST

START_TEST(what_would_grow_beyond_its_text_is_refused_before) {
    size_t n = 5 << 20;
    char *text = malloc(n);
    memset(text, '[', n);
    ck_assert_int_eq(files[_i].read(text, n, &arena, &err), ERR_LIMIT);
    for (size_t i = 0; i < n; i++) text[i] = "[],"[i % 3];
    text[0] = '{';
    enum status st = files[_i].read(text, n, &arena, &err);
    ck_assert_msg(st == ERR_LIMIT || st == ERR_FORMAT, "%s", err.text);
    ck_assert_uint_eq(json_memory_now(), 0);
    ck_assert_uint_lt(json_memory_peak(), JSON_BASE);
    free(text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/hf_hostile");
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, a_text_cut_anywhere_is_refused, 0, ROWS(files));
    tcase_add_loop_test(failures, what_would_grow_beyond_its_text_is_refused_before, 0,
                        ROWS(files));
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_loop_test(property, a_changed_text_is_refused_or_understood, 0, ROWS(files));
    suite_add_tcase(s, property);
    return s;
}
