// Money: sums at their edge, decimals in and out, worked by hand and there and back again.
#include "level1-user/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

// ---- adding -------------------------------------------------------------------------------------

static const struct {
    const char *name;
    int64_t sum, n, each;
    enum status want;
    int64_t after;
} sums[] = {
    {"a price times tokens",            7,             200,           550000,            OK,              110000007},
    {"nothing is added by no tokens",   7,             0,             550000,            OK,              7        },
    {"what is free adds nothing",       7,             200,           0,                 OK,              7        },
    {"no tokens need no price",         7,             0,             PRICE_UNKNOWN,     OK,              7        },
    {"a price that is not known",       7,             1,             PRICE_UNKNOWN,     ERR_UNSUPPORTED, 7        },
    {"fewer than no tokens",            7,             -1,            550000,            ERR_INPUT,       7        },
    {"up to the last unit",             7,             INT64_MAX - 7, 1,                 OK,              INT64_MAX},
    {"one unit more",                   8,             INT64_MAX - 7, 1,                 ERR_LIMIT,       8        },
    {"the same, the other way round",   8,             1,             INT64_MAX - 7,     ERR_LIMIT,       8        },
    {"a product beyond all types",      0,             INT64_MAX,     INT64_MAX,         ERR_LIMIT,       0        },
    {"a full sum and nothing",          INT64_MAX,     5,             0,                 OK,              INT64_MAX},
    {"a full sum and one",              INT64_MAX,     1,             1,                 ERR_LIMIT,       INT64_MAX},
    {"a quotient with a rest, fits",    INT64_MAX % 3, 3,             INT64_MAX / 3,     OK,              INT64_MAX},
    {"a quotient with a rest, too far", 0,             3,             INT64_MAX / 3 + 1, ERR_LIMIT,       0        },
};

START_TEST(sums_are_exact_or_refused) {
    int64_t sum = sums[_i].sum;
    struct error err = {0};
    enum status st = money_add(&sum, sums[_i].n, sums[_i].each, "input", &err);
    assert_text(sums[_i].name, status_name(st), status_name(sums[_i].want));
    assert_number(sums[_i].name, sum, sums[_i].after);
    assert_text(sums[_i].name, err.param, st == OK ? "" : "input");
}
END_TEST

// ---- printing -----------------------------------------------------------------------------------

static const struct {
    int64_t value;
    int n_places;
    const char *want;
} texts[] = {
    {0,               MONEY_PLACES, "0"                   },
    {1,               MONEY_PLACES, "0.000000000001"      },
    {2417000000000,   MONEY_PLACES, "2.417"               },
    {1187000000,      MONEY_PLACES, "0.001187"            },
    {12000000000000,  MONEY_PLACES, "12"                  },
    {100000000000000, MONEY_PLACES, "100"                 },
    {1000000000001,   MONEY_PLACES, "1.000000000001"      },
    {INT64_MAX,       MONEY_PLACES, "9223372.036854775807"},
    {550000,          PRICE_PLACES, "0.55"                },
    {2190000,         PRICE_PLACES, "2.19"                },
    {15000000,        PRICE_PLACES, "15"                  },
    {3000,            PRICE_PLACES, "0.003"               },
    {INT64_MAX,       PRICE_PLACES, "9223372036854.775807"},
};

START_TEST(texts_are_exact_and_short) {
    char text[MONEY_TEXT_BYTES];
    money_text(text, texts[_i].value, texts[_i].n_places);
    assert_text("money_text", text, texts[_i].want);
}
END_TEST

static const struct {
    int64_t amount;
    int n_shown;
    const char *want;
} rounded[] = {
    {2417000000000,       3,            "2.417"               },
    {2417000000000,       2,            "2.42"                },
    {2417000000000,       0,            "2"                   },
    {2417000000000,       5,            "2.41700"             },
    {2499999999999,       0,            "2"                   },
    {2500000000000,       0,            "3"                   }, // a half goes up
    {4999999999,          2,            "0.00"                },
    {5000000000,          2,            "0.01"                },
    {999995000000,        5,            "1.00000"             }, // the carry runs through
    {999994999999,        5,            "0.99999"             },
    {0,                   2,            "0.00"                },
    {INT64_MAX,           0,            "9223372"             },
    {INT64_MAX,           MONEY_PLACES, "9223372.036854775807"},
    {9223371999999999999, 2,            "9223372.00"          },
};

START_TEST(rounding_is_to_the_nearest) {
    char text[MONEY_TEXT_BYTES];
    money_rounded(text, rounded[_i].amount, rounded[_i].n_shown);
    assert_text("money_rounded", text, rounded[_i].want);
}
END_TEST

START_TEST(places_are_those_of_the_exact_text) {
    static const struct {
        int64_t amount;
        int want;
    } places[] = {
        {0,             0 },
        {1,             12},
        {10,            11},
        {2417000000000, 3 },
        {2417000000,    6 },
        {5000000000000, 0 }
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char what[64];
        snprintf(what, sizeof(what), "money_places(%" PRId64 ")", places[i].amount);
        assert_number(what, money_places(places[i].amount), places[i].want);
    }
}
END_TEST

// ---- reading ------------------------------------------------------------------------------------

static const struct {
    const char *text;
    int64_t want; // -1: refused
} prices[] = {
    {"0.55",                   550000   },
    {"2.19",                   2190000  },
    {"0.014",                  14000    },
    {"15",                     15000000 },
    {"0",                      0        },
    {"0.0",                    0        },
    {"007.50",                 7500000  },
    {"0.000001",               1        },
    {"0.123456",               123456   },
    {"9223372036854.775807",   INT64_MAX},
    {"9223372036854.775808",   -1       },
    {"9223372036855",          -1       },
    {"0.0000001",              -1       }, // not rounded in silence
    {"0.5500000",              -1       },
    {"99999999999999999999",   -1       },
    {"1.99999999999999999999", -1       },
    {"",                       -1       },
    {".",                      -1       },
    {".5",                     -1       },
    {"5.",                     -1       },
    {"1.2.3",                  -1       },
    {"-1",                     -1       },
    {"+1",                     -1       },
    {" 1",                     -1       },
    {"1 ",                     -1       },
    {"1e3",                    -1       },
    {"0x10",                   -1       },
    {"0,55",                   -1       },
    {"$1",                     -1       },
    {"nan",                    -1       },
};

START_TEST(prices_are_read_exactly_or_not_at_all) {
    int64_t price = -1;
    bool is_read = money_parse_price(prices[_i].text, &price);
    assert_number(prices[_i].text, price, prices[_i].want);
    assert_number(prices[_i].text, is_read, prices[_i].want >= 0);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// As large as it comes, so that both short and long numbers are drawn.
static int64_t drawn_amount(struct draw *d) {
    return (int64_t)(draw_u64(d) >> draw_int(d, 1, 63));
}

START_TEST(a_printed_price_reads_back_as_itself) {
    struct draw d = draw_start("price texts");
    for (int round = 0; round < 200; round++) {
        char text[MONEY_TEXT_BYTES];
        int64_t price = drawn_amount(&d), back = -1;
        money_text(text, price, PRICE_PLACES);
        assert_number(text, money_parse_price(text, &back), true);
        assert_number(text, back, price);
    }
}
END_TEST

// Exact, and no shorter text would do: read as a whole number of units, it is the amount.
START_TEST(an_exact_text_holds_every_digit_and_no_zero_more) {
    struct draw d = draw_start("amount texts");
    for (int round = 0; round < 200; round++) {
        char text[MONEY_TEXT_BYTES], digits[MONEY_TEXT_BYTES + MONEY_PLACES] = "";
        int64_t amount = drawn_amount(&d);
        money_text(text, amount, MONEY_PLACES);
        const char *point = strchr(text, '.');
        int n_behind = point ? (int)strlen(point + 1) : 0;
        snprintf(digits, sizeof(digits), "%.*s%s%.*s", (int)strcspn(text, "."), text,
                 point ? point + 1 : "", MONEY_PLACES - n_behind, "000000000000");
        assert_number(text, strtoll(digits, NULL, 10), amount);
        assert_number(text, money_places(amount), n_behind);
        if (point) ck_assert_msg(text[strlen(text) - 1] != '0', "%s ends in 0", text);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/money");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, sums_are_exact_or_refused, 0,
                        sizeof(sums) / sizeof(sums[0]));
    tcase_add_loop_test(reference, texts_are_exact_and_short, 0,
                        sizeof(texts) / sizeof(texts[0]));
    tcase_add_loop_test(reference, rounding_is_to_the_nearest, 0,
                        sizeof(rounded) / sizeof(rounded[0]));
    tcase_add_test(reference, places_are_those_of_the_exact_text);
    tcase_add_loop_test(reference, prices_are_read_exactly_or_not_at_all, 0,
                        sizeof(prices) / sizeof(prices[0]));
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_test(property, a_printed_price_reads_back_as_itself);
    tcase_add_test(property, an_exact_text_holds_every_digit_and_no_zero_more);
    suite_add_tcase(s, property);
    return s;
}
