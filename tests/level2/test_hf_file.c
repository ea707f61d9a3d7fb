// One safetensors file by itself: a list of tensors with notes, which can be looked at but not run.
#include "level2-operator/files/hf_folder.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/model.h"
#include "tests/support/model_folder.h"
#include "tests/support/suite.h"

enum { N_NOTES = 300 };

static struct model_folder folder;
static struct model_file file;
static struct arena arena;
static struct error err;

static void setup(void) {
    folder = folder_copy("folder");
    memset(&err, 0, sizeof(err));
    arena_init(&arena, LIMIT_TABLES_BYTES);
}

static void teardown(void) {
    model_file_close(&file);
    arena_free(&arena);
    folder_remove(&folder);
}

// A file of one number, and of so many notes, "note 0": "0" and so on.
static void write_notes(const char *name) {
    static const char tensor[] =
        "},\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    static char bytes[N_NOTES * 24 + 256];
    char *header = bytes + 8, *at = header;

    at += snprintf(at, 32, "{\"__metadata__\":{");
    for (int i = 0; i < N_NOTES; i++)
        at += snprintf(at, 32, "%s\"note %d\":\"%d\"", i ? "," : "", i, i);
    at += snprintf(at, sizeof(tensor), "%s", tensor);
    for (int i = 0; i < 8; i++) bytes[i] = (char)((size_t)(at - header) >> 8 * i);
    memset(at, 0, 4);
    folder_write(&folder, name, bytes, (size_t)(at + 4 - bytes));
}

START_TEST(every_note_is_a_key) {
    write_notes("notes.safetensors");
    enum status st = model_file_open(&file, folder_path(&folder, "notes.safetensors"),
                                     &arena, LIMIT_TABLES_PER_BYTE, &err);
    ck_assert_msg(st == OK, "%s", err.text);
    assert_number("keys", (int64_t)file.gguf.n_keys, N_NOTES);
    for (int i = 0; i < N_NOTES; i++) {
        char name[32], value[32];
        struct gguf_string text;
        snprintf(name, sizeof(name), "note %d", i);
        snprintf(value, sizeof(value), "%d", i);
        ck_assert_msg(gguf_get_string(gguf_find(&file.gguf, name), &text), "%s", name);
        ck_assert_msg(gguf_string_is(text, value), "%s", name);
    }
    ck_assert_ptr_nonnull(gguf_find_tensor(&file.gguf, "x"));
}
END_TEST

START_TEST(tensors_keep_their_own_names) {
    enum status st = model_file_open(&file, folder_path(&folder, "model.safetensors"),
                                     &arena, LIMIT_TABLES_PER_BYTE, &err);
    ck_assert_msg(st == OK, "%s", err.text);
    ck_assert_ptr_nonnull(gguf_find_tensor(&file.gguf, "model.norm.weight"));
    ck_assert_ptr_null(gguf_find_tensor(&file.gguf, "output_norm.weight"));
}
END_TEST

START_TEST(it_is_no_model) {
    struct model m;
    assert_status("model_open",
                  model_open(&m, folder_path(&folder, "model.safetensors"), NULL, &err),
                  ERR_INPUT);
    ck_assert_msg(strstr(err.text, "name its folder"), "%s", err.text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/hf_file");
    TCase *edges = tcase_in(s, "edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, every_note_is_a_key);
    tcase_add_test(edges, tensors_keep_their_own_names);
    TCase *failures = tcase_in(s, "failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, it_is_no_model);
    return s;
}
