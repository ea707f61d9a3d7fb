// Numbers of strangers: the whole text or nothing.
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *text;
    bool is_u64, is_int, is_double, is_bytes;
    uint64_t u64, bytes;
    int whole;
    double real;
} rows[] = {
    {"0",                    1, 1, 1, 1, 0,          0,                     0,          0            },
    {"007",                  1, 1, 1, 1, 7,          7,                     7,          7            },
    {"2147483647",           1, 1, 1, 1, 2147483647, 2147483647,            2147483647, 2147483647   },
    {"2147483648",           1, 0, 1, 1, 2147483648, 2147483648,            0,          2147483648   },
    {"-2147483648",          0, 1, 1, 0, 0,          0,                     INT32_MIN,  -2147483648.0},
    {"-2147483649",          0, 0, 1, 0, 0,          0,                     0,          -2147483649.0},
    {"-0",                   0, 1, 1, 0, 0,          0,                     0,          0            },
    {"18446744073709551615", 1, 0, 1, 1, UINT64_MAX, UINT64_MAX,            0,          0x1p64       },
    {"18446744073709551616", 0, 0, 1, 0, 0,          0,                     0,          0x1p64       },
    {"0.5",                  0, 0, 1, 0, 0,          0,                     0,          0.5          },
    {"-1e3",                 0, 0, 1, 0, 0,          0,                     0,          -1000        },
    {".5",                   0, 0, 1, 0, 0,          0,                     0,          0.5          },
    {"+5",                   0, 0, 1, 0, 0,          0,                     0,          5            },
    {"64K",                  0, 0, 0, 1, 0,          65536,                 0,          0            },
    {"2G",                   0, 0, 0, 1, 0,          2147483648,            0,          0            },
    {"1T",                   0, 0, 0, 1, 0,          1099511627776,         0,          0            },
    {"16777215T",            0, 0, 0, 1, 0,          16777215ull << 40,     0,          0            },
    {"16777216T",            0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2GiB",                 0, 0, 0, 1, 0,          2147483648,            0,          0            },
    {"1KiB",                 0, 0, 0, 1, 0,          1024,                  0,          0            },
    {"512MB",                0, 0, 0, 1, 0,          512000000,             0,          0            },
    {"2GB",                  0, 0, 0, 1, 0,          2000000000,            0,          0            },
    {"18446744TB",           0, 0, 0, 1, 0,          18446744000000000000u, 0,          0            },
    {"18446745TB",           0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2gb",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2Gi",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2GBs",                 0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2B",                   0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2iB",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"2g",                   0, 0, 0, 0, 0,          0,                     0,          0            },
    {"",                     0, 0, 0, 0, 0,          0,                     0,          0            },
    {" 1",                   0, 0, 0, 0, 0,          0,                     0,          0            },
    {"1 ",                   0, 0, 0, 0, 0,          0,                     0,          0            },
    {"-",                    0, 0, 0, 0, 0,          0,                     0,          0            },
    {"--1",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"0x10",                 0, 0, 0, 0, 0,          0,                     0,          0            },
    {"1e",                   0, 0, 0, 0, 0,          0,                     0,          0            },
    {".",                    0, 0, 0, 0, 0,          0,                     0,          0            },
    {"nan",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"inf",                  0, 0, 0, 0, 0,          0,                     0,          0            },
    {"1e999",                0, 0, 0, 0, 0,          0,                     0,          0            },
    {"K",                    0, 0, 0, 0, 0,          0,                     0,          0            },
};

START_TEST(each_reader_takes_what_it_should) {
    const char *text = rows[_i].text;
    uint64_t u64 = 77, bytes = 77;
    int whole = 77;
    double real = 77;
    ck_assert_msg(number_u64(text, &u64) == rows[_i].is_u64, "u64 of \"%s\"", text);
    ck_assert_msg(number_int(text, &whole) == rows[_i].is_int, "int of \"%s\"", text);
    ck_assert_msg(number_double(text, &real) == rows[_i].is_double, "double of \"%s\"",
                  text);
    ck_assert_msg(number_bytes(text, &bytes) == rows[_i].is_bytes, "bytes of \"%s\"", text);
    ck_assert_uint_eq(u64, rows[_i].is_u64 ? rows[_i].u64 : 77);
    ck_assert_int_eq(whole, rows[_i].is_int ? rows[_i].whole : 77);
    ck_assert(real == (rows[_i].is_double ? rows[_i].real : 77));
    ck_assert_uint_eq(bytes, rows[_i].is_bytes ? rows[_i].bytes : 77);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(what_is_printed_is_read_back) {
    struct draw d = draw_start("printed");
    for (int round = 0; round < 10000; round++) {
        char text[64];
        uint64_t big = draw_u64(&d) >> draw_int(&d, 0, 63), u64 = 0;
        int whole = (int)(uint32_t)draw_u64(&d), i = 0;
        double x = ldexp((double)(int64_t)draw_u64(&d), draw_int(&d, -200, 200)), real = 0;
        snprintf(text, sizeof(text), "%" PRIu64, big);
        ck_assert_msg(number_u64(text, &u64) && u64 == big, "%s", text);
        snprintf(text, sizeof(text), "%d", whole);
        ck_assert_msg(number_int(text, &i) && i == whole, "%s", text);
        snprintf(text, sizeof(text), "%.17g", x);
        ck_assert_msg(number_double(text, &real) && real == x, "%s", text);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/number");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, each_reader_takes_what_it_should, 0,
                        sizeof(rows) / sizeof(rows[0]));
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_test(property, what_is_printed_is_read_back);
    suite_add_tcase(s, property);
    return s;
}
