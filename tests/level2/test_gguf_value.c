// Values of a parsed GGUF file as C numbers: kind, range, items of arrays.
#include "level2-operator/gguf/gguf_value.h"

#include <string.h>

#include "tests/support/suite.h"

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum gguf_type type;
    unsigned char bytes[8];
    bool has_u64, has_f64;
    uint64_t u64;
    double f64;
} numbers[] = {
    {"u8, largest",         GGUF_U8,   {255},                       true,  true,  255,               255       },
    {"i8, largest",         GGUF_I8,   {127},                       true,  true,  127,               127       },
    {"i8, smallest",        GGUF_I8,   {128},                       false, true,  0,                 -128      },
    {"u16, low byte first", GGUF_U16,  {1, 2},                      true,  true,  513,               513       },
    {"i16, minus two",      GGUF_I16,  {254, 255},                  false, true,  0,                 -2        },
    {"u32, largest",        GGUF_U32,  {255, 255, 255, 255},        true,  true,  UINT32_MAX,        UINT32_MAX},
    {"i32, minus one",      GGUF_I32,  {255, 255, 255, 255},        false, true,  0,                 -1        },
    {"u64, 2^40",           GGUF_U64,  {0, 0, 0, 0, 0, 1},          true,  true,  UINT64_C(1) << 40, 0x1p40    },
    {"i64, smallest",       GGUF_I64,  {0, 0, 0, 0, 0, 0, 0, 128},  false, true,  0,                 -0x1p63   },
    {"f32, one and a half", GGUF_F32,  {0, 0, 0xc0, 0x3f},          false, true,  0,                 1.5       },
    {"f64, minus two",      GGUF_F64,  {0, 0, 0, 0, 0, 0, 0, 0xc0}, false, true,  0,                 -2        },
    {"bool is no number",   GGUF_BOOL, {1},                         false, false, 0,                 0         },
};

START_TEST(numbers_convert_only_where_they_fit) {
    struct gguf_value v = {.type = numbers[_i].type,
                           .n_items = 1,
                           .bytes = numbers[_i].bytes,
                           .n_bytes = (uint64_t)gguf_type_bytes(numbers[_i].type)};
    uint64_t u64 = 0;
    double f64 = 0;
    bool b;
    struct gguf_string s;

    ck_assert_msg(gguf_get_u64(&v, &u64) == numbers[_i].has_u64, "%s", numbers[_i].name);
    ck_assert_msg(gguf_get_f64(&v, &f64) == numbers[_i].has_f64, "%s", numbers[_i].name);
    ck_assert_msg(u64 == numbers[_i].u64, "%s", numbers[_i].name);
    ck_assert_msg(f64 == numbers[_i].f64, "%s: %g", numbers[_i].name, f64);
    ck_assert(gguf_get_bool(&v, &b) == (v.type == GGUF_BOOL));
    ck_assert(!gguf_get_string(&v, &s));
}
END_TEST

// An array as gguf_parse leaves it.
static struct gguf_value array_of(enum gguf_type item_type, uint64_t n_items,
                                  const void *bytes, size_t n_bytes) {
    return (struct gguf_value){.type = GGUF_ARRAY,
                               .item_type = item_type,
                               .n_items = n_items,
                               .bytes = bytes,
                               .n_bytes = n_bytes};
}

START_TEST(walks_numbers_item_by_item) {
    static const unsigned char bytes[] = {7, 0, 0, 0, 8, 0, 0, 0};
    struct gguf_value v = array_of(GGUF_U32, 2, bytes, sizeof(bytes)), item;
    struct gguf_string s;
    uint64_t n, pos = 0;

    ck_assert(gguf_item(&v, 1, &item) && gguf_get_u64(&item, &n));
    ck_assert_uint_eq(n, 8);
    ck_assert(!gguf_item(&v, 2, &item));
    ck_assert(!gguf_next_string(&v, &pos, &s));
}
END_TEST

START_TEST(walks_strings_one_by_one) {
    static const unsigned char bytes[] = {0, 0, 0, 0, 0, 0, 0,   0,   3,  0,
                                          0, 0, 0, 0, 0, 0, 't', 'w', 'o'};
    struct gguf_value v = array_of(GGUF_STRING, 2, bytes, sizeof(bytes)), item;
    struct gguf_string s;
    uint64_t pos = 0;

    ck_assert(gguf_next_string(&v, &pos, &s) && s.n_bytes == 0);
    ck_assert(gguf_next_string(&v, &pos, &s) && s.n_bytes == 3);
    ck_assert_int_eq(memcmp(s.bytes, "two", 3), 0);
    ck_assert(!gguf_next_string(&v, &pos, &s));
    ck_assert(!gguf_item(&v, 0, &item)); // strings have no fixed width

    struct gguf_value empty = array_of(GGUF_STRING, 0, bytes, 0);
    pos = 0;
    ck_assert(!gguf_next_string(&empty, &pos, &s));
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_bool_that_is_neither_0_nor_1_has_no_value) {
    struct gguf_value v = {.type = GGUF_BOOL, .bytes = (const unsigned char *)"\x02"};
    bool b;
    ck_assert(!gguf_get_bool(&v, &b));
}
END_TEST

START_TEST(a_value_that_is_not_there_converts_to_nothing) {
    uint64_t u64, pos = 0;
    double f64;
    bool b;
    struct gguf_string s;
    struct gguf_value item;
    ck_assert(!gguf_get_u64(NULL, &u64) && !gguf_get_f64(NULL, &f64));
    ck_assert(!gguf_get_bool(NULL, &b) && !gguf_get_string(NULL, &s));
    ck_assert(!gguf_item(NULL, 0, &item) && !gguf_next_string(NULL, &pos, &s));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/gguf_value");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, numbers_convert_only_where_they_fit, 0,
                        (int)(sizeof(numbers) / sizeof(numbers[0])));
    tcase_add_test(reference, walks_numbers_item_by_item);
    tcase_add_test(reference, walks_strings_one_by_one);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_bool_that_is_neither_0_nor_1_has_no_value);
    tcase_add_test(edges, a_value_that_is_not_there_converts_to_nothing);
    suite_add_tcase(s, edges);
    return s;
}
