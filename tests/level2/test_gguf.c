// The GGUF reader against files made by hand. Each stage of gguf_parse is called alone (gguf_rig.h);
// TCase whole is about all of them together. Longer trials: test_gguf_hostile.c.
#include "level2-operator/gguf/gguf.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "tests/support/gguf_rig.h"
#include "tests/support/gguf_written.h"
#include "tests/support/suite.h"

static struct gguf_rig rig;

static void setup(void) {
    rig_init(&rig);
}

static void teardown(void) {
    rig_free(&rig);
}

// ---- worked example -----------------------------------------------------------------------------

// The file of docs/level2/gguf.md: one key, one tensor, 104 bytes.
// clang-format off
static const unsigned char example[] =
    "GGUF" "\3\0\0\0" "\1\0\0\0\0\0\0\0" "\1\0\0\0\0\0\0\0" // version 3, 1 tensor, 1 key
    "\1\0\0\0\0\0\0\0" "n" "\4\0\0\0" "\7\0\0\0"            // 24: key n, a u32: 7
    "\1\0\0\0\0\0\0\0" "w" "\1\0\0\0" "\2\0\0\0\0\0\0\0"    // 41: tensor w, 1 dimension: 2
    "\0\0\0\0" "\0\0\0\0\0\0\0\0"                           // 62: type F32, offset 0
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"          // 74: padding
    "\0\0\x80\x3f" "\0\0\0\x40";                            // 96: 1.0, 2.0
// clang-format on
START_TEST(worked_example) {
    static const float want[] = {1, 2};
    const char *call = "gguf_parse(the example of 104 bytes)";
    float values[2];
    uint64_t n = 0;

    put_raw(&rig.file, example, sizeof(example) - 1);
    assert_read(call, &rig, rig_parse(&rig));
    gguf_get_u64(gguf_find(&rig.gguf, "n"), &n);
    assert_number("gguf_parse: key n", (int64_t)n, 7);
    assert_number("gguf_parse: data_offset", (int64_t)rig.gguf.data_offset, 96);

    const struct tensor_view *view = &rig.gguf.tensors[0].view;
    assert_number("gguf_parse: n_dims of w", view->n_dims, 1);
    assert_number("gguf_parse: n_bytes of w", (int64_t)view->n_bytes, 8);
    assert_number("gguf_parse: where the data of w begins",
                  (const unsigned char *)view->data - rig.file.data, 96);
    memcpy(values, view->data, sizeof(values));
    assert_close("gguf_parse: data of w", values, want, 2, 0);
}
END_TEST

// ---- keys ---------------------------------------------------------------------------------------

static const enum gguf_type numbers[] = {GGUF_U8,  GGUF_I8,  GGUF_U16, GGUF_I16,
                                         GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL,
                                         GGUF_U64, GGUF_I64, GGUF_F64};
enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static const struct {
    const char *name;
    enum gguf_type type, item_type;
} kinds[] = {
    {"a number of each type", GGUF_U8,     GGUF_U8    },
    {"strings",               GGUF_STRING, GGUF_U8    },
    {"arrays of numbers",     GGUF_ARRAY,  GGUF_U8    },
    {"arrays of strings",     GGUF_ARRAY,  GGUF_STRING},
    {"arrays of arrays",      GGUF_ARRAY,  GGUF_ARRAY },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), N_KEYS = 3 * N_NUMBERS };

// u8 stands for each type of number in turn; arrays have 0, 1 and more items.
START_TEST(reads_values_of_each_kind) {
    struct gguf_written w = written_start(&rig, kinds[_i].name, 0, N_KEYS);
    char call[80];

    for (int i = 0; i < N_KEYS; i++) {
        enum gguf_type type = kinds[_i].type, item_type = kinds[_i].item_type;
        if (type == GGUF_U8) type = numbers[i % N_NUMBERS];
        if (item_type == GGUF_U8) item_type = numbers[i % N_NUMBERS];
        written_add_key(&w, type, item_type, i < 2 ? i : draw_int(&w.draw, 0, 9));
    }
    snprintf(call, sizeof(call), "gguf_read_keys(%s)", kinds[_i].name);
    assert_read(call, &rig, rig_read_keys(&rig));
    assert_keys(call, &w);
}
END_TEST

START_TEST(follows_arrays_in_arrays_up_to_the_limit) {
    for (int depth = 1; depth <= LIMIT_GGUF_ARRAY_DEPTH + 1; depth++) {
        char call[80];
        bytes_free(&rig.file);
        put_only_key(&rig.file, "nested", GGUF_ARRAY);
        for (int i = 1; i < depth; i++)
            put_u32(&rig.file, GGUF_ARRAY), put_u64(&rig.file, 1);
        put_u32(&rig.file, GGUF_U8), put_u64(&rig.file, 1), put_u8(&rig.file, 42);
        snprintf(call, sizeof(call), "gguf_read_keys(array, %d deep)", depth);
        enum status st = rig_read_keys(&rig);
        if (depth <= LIMIT_GGUF_ARRAY_DEPTH)
            assert_read(call, &rig, st);
        else
            assert_refused(call, &rig, st, ERR_LIMIT, "key nested at byte 24");
    }
}
END_TEST

START_TEST(reads_no_keys) {
    put_header(&rig.file, 3, 0, 0);
    assert_read("gguf_read_keys(0 keys)", &rig, rig_read_keys(&rig));
}
END_TEST

START_TEST(refuses_wrong_keys) {
    assert_refuses_wrong("gguf_read_keys", &rig, rig_read_keys, WRONG_KEYS, _i);
}
END_TEST

static void put_keys_of_each_kind(uint64_t n_tensors) {
    struct gguf_written w = written_start(&rig, "each kind", n_tensors, N_KINDS);
    for (int i = 0; i < N_KINDS; i++)
        written_add_key(&w, kinds[i].type, kinds[i].item_type, 3);
}

START_TEST(refuses_keys_cut_anywhere) {
    put_keys_of_each_kind(0);
    assert_refuses_cuts("gguf_read_keys(5 keys)", &rig, rig_read_keys, HEADER_BYTES);
}
END_TEST

START_TEST(says_when_there_is_no_memory_for_keys) {
    put_keys_of_each_kind(0);
    assert_asks_for_memory("gguf_read_keys(5 keys)", &rig, rig_read_keys);
}
END_TEST

// ---- tensors ------------------------------------------------------------------------------------

START_TEST(reads_tensors_of_each_type) {
    struct gguf_written w = written_start(&rig, "tensors", WRITTEN_TENSORS, 0);
    char call[80];

    written_add_tensors(&w, _i);
    snprintf(call, sizeof(call), "gguf_read_tensors(%d types, n_dims %d)", WRITTEN_TENSORS,
             _i);
    assert_read(call, &rig, rig_read_tensors(&rig));
    assert_tensors(call, &w);
}
END_TEST

START_TEST(reads_no_tensors) {
    put_header(&rig.file, 3, 0, 0);
    assert_read("gguf_read_tensors(0 tensors)", &rig, rig_read_tensors(&rig));
}
END_TEST

START_TEST(refuses_wrong_tensors) {
    assert_refuses_wrong("gguf_read_tensors", &rig, rig_read_tensors, WRONG_TENSORS, _i);
}
END_TEST

START_TEST(refuses_tensors_cut_anywhere) {
    struct gguf_written w = written_start(&rig, "cut tensors", WRITTEN_TENSORS, 0);
    written_add_tensors(&w, 2);
    assert_refuses_cuts("gguf_read_tensors(tensors of each type)", &rig, rig_read_tensors,
                        HEADER_BYTES);
}
END_TEST

START_TEST(says_when_there_is_no_memory_for_tensors) {
    struct gguf_written w = written_start(&rig, "memory", WRITTEN_TENSORS, 0);
    written_add_tensors(&w, 3);
    assert_asks_for_memory("gguf_read_tensors(tensors of each type)", &rig,
                           rig_read_tensors);
}
END_TEST

// ---- place --------------------------------------------------------------------------------------

// Tables that end at byte n_tables of a file of n_bytes, and two tensors.
struct placed {
    const char *name;
    uint32_t alignment;
    size_t n_tables, n_bytes;
    struct {
        uint64_t offset, n_bytes;
    } tensor[2];
};

static enum status place(const struct placed *p, int n_tensors) {
    static const unsigned char zeros[1024];
    static struct gguf_tensor two[2];

    bytes_free(&rig.file);
    put_header(&rig.file, 3, 2, 0);
    put_string(&rig.file, "t0"), put_string(&rig.file, "t1"); // at bytes 24 and 34
    put_raw(&rig.file, zeros, p->n_bytes - rig.file.n);
    rig_stand_at(&rig, p->n_tables);
    for (int i = 0; i < n_tensors; i++) {
        uint64_t n = p->tensor[i].n_bytes;
        struct gguf_string name = {(char *)rig.file.data + 32 + 10 * i, 2};
        two[i] = (struct gguf_tensor){
            .name = name,
            .offset = p->tensor[i].offset,
            .view = {DTYPE_I8, 1, {n, 1, 1, 1}, NULL, n}
        };
    }
    rig.gguf.tensors = two;
    rig.gguf.n_tensors = (uint64_t)n_tensors;
    rig.gguf.alignment = p->alignment;
    return gguf_place_tensors(&rig.reader, &rig.gguf);
}

static uint64_t aligned(uint64_t n, uint64_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
}

// With gaps and without; tables that end anywhere, each second time where data may begin.
static struct placed draw_placed(struct draw *d, int i) {
    struct placed p = {.alignment = 1u << draw_int(d, 0, 7)};
    uint64_t a = p.alignment, end = 0;

    p.n_tables = (size_t)draw_int(d, 50, 300);
    if (i % 2) p.n_tables = (size_t)aligned(p.n_tables, a);
    for (int j = 0; j < 2; j++) {
        p.tensor[j].offset = aligned(end, a) + a * (uint64_t)draw_int(d, 0, 1);
        p.tensor[j].n_bytes = (uint64_t)draw_int(d, 1, 70);
        end = p.tensor[j].offset + p.tensor[j].n_bytes;
    }
    p.n_bytes = (size_t)(aligned(p.n_tables, a) + end);
    return p;
}

START_TEST(places_data_behind_the_padding) {
    struct draw d = draw_start("place");
    for (int i = 0; i < 64; i++) {
        struct placed p = draw_placed(&d, i);
        uint64_t begin = aligned(p.n_tables, p.alignment);
        char call[100];
        snprintf(call, sizeof(call), "gguf_place_tensors(alignment %u, tables end at %zu)",
                 p.alignment, p.n_tables);
        assert_read(call, &rig, place(&p, 2));
        assert_number("data_offset", (int64_t)rig.gguf.data_offset, (int64_t)begin);
        for (int j = 0; j < 2; j++) {
            const unsigned char *data = rig.gguf.tensors[j].view.data;
            assert_field(call, j, "view.data - file", (uint64_t)(data - rig.file.data),
                         begin + p.tensor[j].offset);
        }
    }
}
END_TEST

START_TEST(names_the_tensor_whose_data_is_cut) {
    struct draw d = draw_start("cut data");
    struct placed p = draw_placed(&d, 0), whole = p;
    uint64_t begin = aligned(p.n_tables, p.alignment);
    while (p.n_bytes-- > whole.n_tables) {
        char call[100];
        bool has_first = begin + p.tensor[0].offset + p.tensor[0].n_bytes <= p.n_bytes;
        snprintf(call, sizeof(call), "gguf_place_tensors(file of %zu bytes cut to %zu)",
                 whole.n_bytes, p.n_bytes);
        assert_refused(call, &rig, place(&p, 2), ERR_FORMAT,
                       has_first ? "tensor t1 at byte 34" : "tensor t0 at byte 24");
    }
}
END_TEST

// Data begins at 128 and ends at 224.
static const struct placed misplaced[] = {
    {"LOAD-15 offset plus 1",   32, 100, 224, {{0, 32}, {33, 32}}             },
    {"offset of alignment 32",  64, 100, 224, {{0, 32}, {32, 32}}             },
    {"overlap by all",          32, 100, 224, {{0, 32}, {0, 32}}              },
    {"overlap by one byte",     32, 100, 224, {{0, 33}, {32, 32}}             },
    {"begins before the first", 32, 100, 224, {{32, 32}, {0, 32}}             },
    {"begins at the end",       32, 100, 224, {{0, 32}, {96, 1}}              },
    {"one byte too many",       32, 100, 224, {{0, 32}, {32, 65}}             },
    {"offset beyond belief",    32, 100, 224, {{0, 32}, {UINT64_MAX - 31, 32}}},
    {"size beyond belief",      32, 100, 224, {{0, 32}, {32, UINT64_MAX}}     },
};
enum { N_MISPLACED = sizeof(misplaced) / sizeof(misplaced[0]) };

START_TEST(refuses_misplaced_data) {
    char call[100];
    snprintf(call, sizeof(call), "gguf_place_tensors(%s)", misplaced[_i].name);
    assert_refused(call, &rig, place(&misplaced[_i], 2), ERR_FORMAT,
                   "tensor t1 at byte 34");
}
END_TEST

START_TEST(places_no_tensors) {
    struct placed p = {.alignment = 32, .n_tables = 70, .n_bytes = 70};
    assert_read("gguf_place_tensors(0 tensors, no padding)", &rig, place(&p, 0));
    assert_number("data_offset", (int64_t)rig.gguf.data_offset, 96);
}
END_TEST

// ---- whole --------------------------------------------------------------------------------------

// Two tensors, one of 16 bytes that are 1, one of 16 bytes that are 2.
static struct bytes two_tensors(size_t alignment, int n_filler) {
    struct gguf_file f = {.alignment = alignment};
    char filler[65];

    snprintf(filler, sizeof(filler), "%0*d", n_filler, 0);
    file_set_string(&f, "filler", filler);
    for (unsigned i = 1; i <= 2; i++) {
        struct file_tensor *t = file_add_tensor(&f, i == 1 ? "one" : "two");
        t->n_dims = 1;
        t->dim[0] = 4;
        for (int j = 0; j < 16; j++) put_u8(&t->data, i);
    }
    struct bytes b = file_bytes(&f);
    file_free(&f);
    return b;
}

START_TEST(finds_data_at_each_alignment) {                      // LOAD-10
    static const size_t alignments[] = {0, 8, 16, 32, 64, 128}; // 0: no key says so
    struct draw d = draw_start("alignments");
    char call[80];

    for (int i = 0; i < 6 * 8; i++) {
        bytes_free(&rig.file);
        rig.file = two_tensors(alignments[i % 6], draw_int(&d, 1, 64));
        snprintf(call, sizeof(call), "gguf_parse(alignment %zu)", alignments[i % 6]);
        assert_read(call, &rig, rig_parse(&rig));
        for (int j = 0; j < 2; j++) {
            const unsigned char *data = rig.gguf.tensors[j].view.data;
            assert_field(call, j, "view.data, first byte", data[0], (uint64_t)j + 1);
            assert_field(call, j, "view.data, last byte", data[15], (uint64_t)j + 1);
        }
    }
}
END_TEST

START_TEST(refuses_the_example_cut_anywhere) {
    put_raw(&rig.file, example, sizeof(example) - 1);
    assert_refuses_cuts("gguf_parse(the example)", &rig, rig_parse, 1);
}
END_TEST

START_TEST(changed_bytes_are_refused_or_harmless) {
    static const unsigned char changes[] = {0, 1, 0x7f, 0x80, 0xff};
    char call[80];

    put_keys_of_each_kind(1);
    put_tensor(&rig.file, "w", 1, (uint64_t[]){8}, 0, 0);
    put_padding(&rig.file, 32);
    for (int i = 0; i < 8; i++) put_f32(&rig.file, 1);
    for (size_t i = 0; i < 5 * (rig.file.n - 32); i++) {
        unsigned char *byte = rig.file.data + i / 5, kept = *byte;
        *byte = changes[i % 5];
        snprintf(call, sizeof(call), "gguf_parse(byte %zu is %d)", i / 5, *byte);
        if (rig_parse(&rig) == OK) assert_views_inside(call, &rig);
        *byte = kept;
    }
}
END_TEST

static TCase *part(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, setup, teardown);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/gguf");

    tcase_add_test(part(s, "worked example"), worked_example);

    TCase *keys_case = part(s, "keys");
    tcase_add_loop_test(keys_case, reads_values_of_each_kind, 0, N_KINDS);
    tcase_add_test(keys_case, follows_arrays_in_arrays_up_to_the_limit);
    tcase_add_test(keys_case, reads_no_keys);
    tcase_add_loop_test(keys_case, refuses_wrong_keys, 0, wrong_ggufs_in(WRONG_KEYS));
    tcase_add_test(keys_case, refuses_keys_cut_anywhere);
    tcase_add_test(keys_case, says_when_there_is_no_memory_for_keys);

    TCase *tensors_case = part(s, "tensors");
    tcase_add_loop_test(tensors_case, reads_tensors_of_each_type, 1, LIMIT_TENSOR_DIMS + 1);
    tcase_add_test(tensors_case, reads_no_tensors);
    tcase_add_loop_test(tensors_case, refuses_wrong_tensors, 0,
                        wrong_ggufs_in(WRONG_TENSORS));
    tcase_add_test(tensors_case, refuses_tensors_cut_anywhere);
    tcase_add_test(tensors_case, says_when_there_is_no_memory_for_tensors);

    TCase *place_case = part(s, "place");
    tcase_add_test(place_case, places_data_behind_the_padding);
    tcase_add_test(place_case, names_the_tensor_whose_data_is_cut);
    tcase_add_loop_test(place_case, refuses_misplaced_data, 0, N_MISPLACED);
    tcase_add_test(place_case, places_no_tensors);

    TCase *whole = part(s, "whole");
    tcase_add_test(whole, finds_data_at_each_alignment);
    tcase_add_test(whole, refuses_the_example_cut_anywhere);
    tcase_add_test(whole, changed_bytes_are_refused_or_harmless);
    return s;
}
