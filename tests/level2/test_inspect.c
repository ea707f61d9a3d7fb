// What `inspect` prints: the numbers of the tiny model, and that a hostile file cannot speak to the
// terminal.
#include "level2-operator/inspect/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/kernels/rows_for.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"
#include "tests/support/gguf_file.h"
#include "tests/support/suite.h"

static struct gguf_file file;
static struct bytes bytes;
static struct arena arena;
static struct gguf g;
static char *text; // what was printed
static size_t n_text;
static FILE *out;

static void setup(void) {
    file_load(&file, tiny_model_path());
    arena_init(&arena, 8 << 20);
    out = open_memstream(&text, &n_text);
}

static void teardown(void) {
    fclose(out);
    free(text);
    arena_free(&arena);
    bytes_free(&bytes);
    file_free(&file);
}

static void parse(void) {
    struct error err;
    bytes = file_bytes(&file);
    enum status st = gguf_parse(&g, bytes.data, bytes.n, "test.gguf", &arena, &err);
    ck_assert_msg(st == OK, "%s", err.text);
}

static struct inspected inspected(void) {
    return (struct inspected){.file = "test.gguf", .n_bytes = bytes.n, .gguf = &g};
}

static void assert_printed(const char *part) {
    fflush(out);
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(the_summary_counts_parameters_and_bytes) {
    parse();
    struct inspected in = inspected();
    inspect_print_summary(out, &in);
    assert_printed("test.gguf\n");
    assert_printed("GGUF version 3, alignment 32");
    assert_printed("architecture  llama");
    assert_printed("parameters    129,664"); // 579 * 64 + 3 * (30,720 + 2 * 64) + 64
    assert_printed("25 keys, 29 tensors");
}
END_TEST

START_TEST(types_add_up_to_all_tensors_most_bytes_first) {
    struct inspect_type types[DTYPE_COUNT];
    uint64_t n_tensors = 0, n_bytes = 0, want_bytes = 0;
    parse();
    int n_types = inspect_types(types, &g);
    ck_assert_int_eq(n_types, 6);
    for (int i = 0; i < n_types; i++) {
        n_tensors += types[i].n_tensors;
        n_bytes += types[i].n_bytes;
        if (i > 0) ck_assert_uint_ge(types[i - 1].n_bytes, types[i].n_bytes);
    }
    for (uint64_t i = 0; i < g.n_tensors; i++) want_bytes += g.tensors[i].view.n_bytes;
    ck_assert_uint_eq(n_tensors, 29);
    ck_assert_uint_eq(n_bytes, want_bytes);
}
END_TEST

START_TEST(layers_add_up_to_all_tensors) {
    struct inspect_layer layers[LIMIT_LAYERS + 1];
    uint64_t n_tensors = 0, n_bytes = 0, n_want = 0;
    parse();
    int n = inspect_layers(layers, &g);
    assert_number("layers, and what is in none", n, 1 + 3);
    for (int i = 0; i < n; i++) {
        assert_number("layer", layers[i].layer, i - 1);
        n_tensors += layers[i].n_tensors;
        n_bytes += layers[i].n_bytes;
    }
    for (uint64_t i = 0; i < g.n_tensors; i++) n_want += g.tensors[i].view.n_bytes;
    assert_number("tensors", (int64_t)n_tensors, (int64_t)g.n_tensors);
    assert_number("bytes", (int64_t)n_bytes, (int64_t)n_want);
}
END_TEST

START_TEST(a_layer_beyond_all_limits_is_none) {
    static const char *const names[] = {"blk.1024.x", "blk.99999999999999999999.x", "blk.x",
                                        "blk.", "model.layers.-1.x"};
    struct inspect_layer layers[LIMIT_LAYERS + 1];
    struct gguf_tensor tensors[ROWS(names)] = {{.view = {.dim = {1, 1, 1, 1}}}};
    for (int i = 0; i < ROWS(names); i++)
        tensors[i].name = (struct gguf_string){names[i], strlen(names[i])};
    const struct gguf some = {.n_tensors = ROWS(names), .tensors = tensors};
    assert_number("layers", inspect_layers(layers, &some), 1);
    assert_number("of none", layers[0].layer, -1);
}
END_TEST

START_TEST(a_histogram_counts_every_value) {
    float values[] = {0, 1, 1, 1, 16, 16}, row[6];
    const struct gguf_tensor t = {
        .name = {"t",     1             },
          .view = { DTYPE_F32, 1, {6, 1, 1, 1}, values, sizeof(values)}
    };
    inspect_print_tensor(out, &t, row);
    assert_printed("\n  0             1            #############\n");
    assert_printed(
        "\n  1             3            ########################################\n");
    assert_printed("\n  2             0\n");
    assert_printed("\n  15            2            ###########################\n");
}
END_TEST

START_TEST(values_that_are_all_alike_or_odd_have_no_histogram) {
    float values[] = {2, 2, 2}, row[3];
    const struct gguf_tensor t = {
        .name = {"t",     1             },
          .view = { DTYPE_F32, 1, {3, 1, 1, 1}, values, sizeof(values)}
    };
    inspect_print_tensor(out, &t, row);
    values[1] = NAN;
    inspect_print_tensor(out, &t, row);
    assert_printed("not finite    1");
    ck_assert_ptr_null(strchr(text, '#'));
}
END_TEST

START_TEST(numbers_of_a_tensor_go_into_a_document) {
    float row[4096];
    parse();
    const struct gguf_tensor *t = gguf_find_tensor(&g, "output_norm.weight");
    json_t *json = inspect_tensor_json(&g, t, row);
    ck_assert_ptr_nonnull(json);
    json_int_t n = 0;
    const json_t *bins = json_object_get(json, "histogram");
    for (size_t i = 0; i < json_array_size(bins); i++)
        n += json_integer_value(json_array_get(bins, i));
    assert_number("values in bins", n, 64);
    assert_number("values", json_integer_value(json_object_get(json, "n_values")), 64);
    ck_assert(json_real_value(json_object_get(json, "low")) >= 0.5);
    ck_assert(json_real_value(json_object_get(json, "high")) <= 1.5);
    json_decref(json);
}
END_TEST

START_TEST(tokens_are_listed_with_their_kinds) {
    struct tokenizer_facts facts;
    struct error err;
    parse();
    ck_assert_int_eq(tokenizer_gguf_read(&facts, &g, NULL, "test.gguf", &arena, &err), OK);
    inspect_print_tokens(out, &facts);
    json_t *json = inspect_tokens_json(&facts);
    assert_number("tokens", (int64_t)json_array_size(json), facts.n_vocab);
    const json_t *token = json_array_get(json, 2);
    assert_text("text", json_string_value(json_object_get(token, "text")), "<|im_end|>");
    assert_text("kind", json_string_value(json_object_get(token, "kind")), "control");
    json_decref(json);
    assert_printed("         1  control       \"<|im_start|>\"\n");
    assert_printed("         3  normal        \"!\"\n");
}
END_TEST

START_TEST(metadata_shows_types_and_short_values) {
    parse();
    inspect_print_metadata(out, &g, false);
    assert_printed("\"llama\"");
    assert_printed("u32           64\n");
    assert_printed("f32           1e-05\n");
    assert_printed("f32           10000\n");
    assert_printed("bool          false\n");
    assert_printed("string[579]   \"<|endoftext|>\", \"<|im_start|>\", ");
    assert_printed("i32[579]      3, 3, 3, 1, 1, 1, ...\n");
    assert_printed(" ... 368 bytes\n"); // the chat template, cut
}
END_TEST

START_TEST(a_long_type_does_not_touch_its_value) {
    parse();
    for (uint64_t i = 0; i < g.n_keys; i++)
        if (g.keys[i].value.type == GGUF_ARRAY) g.keys[i].value.n_items = 262144; // Gemma's
    inspect_print_metadata(out, &g, false);
    assert_printed("string[262144] \"<|endoftext|>\", ");
    assert_printed("i32[262144]   3, 3, 3, ");
}
END_TEST

START_TEST(metadata_can_be_shown_in_full) {
    parse();
    inspect_print_metadata(out, &g, true);
    assert_printed("{{ '<|im_start|>assistant\\n' }}{% endif %}\"\n");
}
END_TEST

START_TEST(tensors_are_listed_with_shape_and_place) {
    char place[32];
    parse();
    inspect_print_tensors(out, &g);
    assert_printed("blk.2.ffn_down.weight");
    assert_printed("(64, 96)");
    snprintf(place, sizeof(place), "%u,%03u\n", (unsigned)g.data_offset / 1000,
             (unsigned)g.data_offset % 1000);
    assert_printed(place);
}
END_TEST

// A type that only its size is known of is listed like any other.
START_TEST(tensors_that_are_not_read_are_listed_too) {
    struct file_tensor *t = file_tensor(&file, "blk.0.ffn_down.weight");
    t->type = dtype_info(DTYPE_IQ4_NL)->gguf_type;
    parse();
    struct inspected in = inspected();
    inspect_print_summary(out, &in);
    inspect_print_tensors(out, &g);
    assert_printed("  IQ4_NL         1            6,144            3,456");
    assert_printed("blk.0.ffn_down.weight     IQ4_NL  (64, 96)               3,456");
    assert_printed("parameters    129,664");
}
END_TEST

START_TEST(raw_values_are_the_rows_as_floats) {
    float row[96], want[96];
    parse();
    const struct gguf_tensor *t = gguf_find_tensor(&g, "blk.0.ffn_down.weight");
    ck_assert(inspect_write_values(out, t, row));
    ck_assert_uint_eq(n_text, 96 * 64 * sizeof(float));
    rows_for(t->view.dtype)(want, (const char *)t->view.data + t->view.n_bytes / 64 * 63,
                            96);
    ck_assert_int_eq(memcmp(text + 63 * sizeof(row), want, sizeof(want)), 0);
}
END_TEST

START_TEST(one_tensor_shows_its_range) {
    struct file_tensor *t = file_tensor(&file, "output_norm.weight");
    float row[64];
    for (size_t i = 0; i < t->data.n; i += 4) memcpy(t->data.data + i, &(float){0.5f}, 4);
    memcpy(t->data.data, &(float){-2}, 4);
    parse();
    inspect_print_tensor(out, gguf_find_tensor(&g, "output_norm.weight"), row);
    assert_printed("smallest      -2\n");
    assert_printed("largest       0.5\n");
    assert_printed("first         -2, 0.5, 0.5, 0.5, 0.5, 0.5, ...\n");
}
END_TEST

START_TEST(the_document_holds_everything) {
    parse();
    struct inspected in = inspected();
    json_t *document = inspect_json(&in);
    ck_assert_ptr_nonnull(document);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "metadata")), 25);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "tensors")), 29);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "types")), 6);
    ck_assert_int_eq(json_integer_value(json_object_get(document, "n_parameters")), 129664);
    ck_assert_str_eq(json_string_value(json_object_get(document, "architecture")), "llama");
    json_decref(document);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

static bool speaks_to_the_terminal(void) {
    fflush(out);
    for (size_t i = 0; i < n_text; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\n') || c == 0x7f) return true;
        if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0) return true; // C1 controls
    }
    return false;
}

START_TEST(no_control_byte_of_the_file_is_printed) {
    struct inspected in;
    file_set_string(&file, "general.name", "a\x1b]0;owned\x07\r\xc2\x9b\xff");
    file_set_string(&file, "k\x1b[2J", "v");
    file_add_tensor(&file, "t\x1b[31m");
    file.tensors[file.n_tensors - 1].n_dims = 1;
    file.tensors[file.n_tensors - 1].dim[0] = 1;
    put_u32(&file.tensors[file.n_tensors - 1].data, 0);
    parse();
    in = inspected();
    inspect_print_summary(out, &in);
    inspect_print_metadata(out, &g, true);
    inspect_print_tensors(out, &g);
    ck_assert(!speaks_to_the_terminal());
    assert_printed("a\\x1b]0;owned\\x07\\r\\xc2\\x9b\\xff");
    assert_printed("k\\x1b[2J");
    assert_printed("t\\x1b[31m");

    json_t *document = inspect_json(&in);
    char *dumped = json_dumps(document, 0);
    ck_assert_ptr_nonnull(dumped);
    ck_assert_ptr_null(strchr(dumped, '\x1b'));
    free(dumped);
    json_decref(document);
}
END_TEST

START_TEST(an_empty_file_has_an_empty_summary) {
    file_free(&file);
    parse();
    struct inspected in = inspected();
    inspect_print_summary(out, &in);
    inspect_print_metadata(out, &g, false);
    inspect_print_tensors(out, &g);
    assert_printed("0 keys, 0 tensors");
    json_t *document = inspect_json(&in);
    ck_assert(json_is_null(json_object_get(document, "architecture")));
    json_decref(document);
}
END_TEST

static long allocs_left;

static void *failing_malloc(size_t n_bytes) {
    return allocs_left-- > 0 ? malloc(n_bytes) : NULL;
}

START_TEST(the_document_survives_a_failure_of_every_allocation) {
    parse();
    struct inspected in = inspected();
    json_t *document = NULL;
    for (long n = 0; !document; n += 1 + n / 16) {
        ck_assert_int_lt(n, 10000);
        json_set_alloc_funcs(failing_malloc, free);
        allocs_left = n;
        document = inspect_json(&in);
        json_set_alloc_funcs(malloc, free);
        ck_assert((document != NULL) == (allocs_left >= 0));
    }
    json_decref(document);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/inspect");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, the_summary_counts_parameters_and_bytes);
    tcase_add_test(reference, types_add_up_to_all_tensors_most_bytes_first);
    tcase_add_test(reference, layers_add_up_to_all_tensors);
    tcase_add_test(reference, a_layer_beyond_all_limits_is_none);
    tcase_add_test(reference, a_histogram_counts_every_value);
    tcase_add_test(reference, values_that_are_all_alike_or_odd_have_no_histogram);
    tcase_add_test(reference, numbers_of_a_tensor_go_into_a_document);
    tcase_add_test(reference, tokens_are_listed_with_their_kinds);
    tcase_add_test(reference, metadata_shows_types_and_short_values);
    tcase_add_test(reference, a_long_type_does_not_touch_its_value);
    tcase_add_test(reference, metadata_can_be_shown_in_full);
    tcase_add_test(reference, tensors_are_listed_with_shape_and_place);
    tcase_add_test(reference, tensors_that_are_not_read_are_listed_too);
    tcase_add_test(reference, raw_values_are_the_rows_as_floats);
    tcase_add_test(reference, one_tensor_shows_its_range);
    tcase_add_test(reference, the_document_holds_everything);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, no_control_byte_of_the_file_is_printed);
    tcase_add_test(failures, an_empty_file_has_an_empty_summary);
    tcase_add_test(failures, the_document_survives_a_failure_of_every_allocation);
    suite_add_tcase(s, failures);
    return s;
}
