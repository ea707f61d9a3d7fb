// Amounts as lengths: shares, rounding, and sums near the largest number.
#include "level1-user/bars.h"

#include <stdlib.h>

#include "tests/support/suite.h"

static const struct {
    const char *name;
    struct invoice bill;
    int64_t scale;
    int n_cells;
    int want[BAR_PARTS];
} bars[] = {
    {"all of it",           {1, 1, 1, 1, 4},                      4,    8,    {2, 4, 6, 8} },
    {"half of the longest", {1, 1, 1, 1, 4},                      8,    8,    {1, 2, 3, 4} },
    {"rounded down",        {1, 1, 0, 1, 3},                      3,    10,   {3, 6, 6, 10}},
    {"nothing",             {0, 0, 0, 0, 0},                      0,    10,   {0, 0, 0, 0} },
    {"less than a cell",    {1, 0, 0, 0, 1},                      1000, 10,   {0, 0, 0, 0} },
    {"one cell",            {1, 0, 0, 1, 2},                      2,    1,    {0, 0, 0, 1} },
    {"the largest amount",
     {INT64_MAX / 2, 0, 0, INT64_MAX - INT64_MAX / 2, INT64_MAX},
     INT64_MAX,                                                         1000,
     {499, 499, 499, 1000}                                                                 },
};
enum { N_BARS = sizeof(bars) / sizeof(bars[0]) };

START_TEST(each_part_ends_at_its_share) {
    int ends[BAR_PARTS];
    bar_ends(ends, &bars[_i].bill, bars[_i].scale, bars[_i].n_cells);
    for (int i = 0; i < BAR_PARTS; i++)
        assert_number(bars[_i].name, ends[i], bars[_i].want[i]);
}
END_TEST

START_TEST(ends_are_shares_rounded_down) {
    struct draw d = draw_start("ends_are_shares_rounded_down");
    for (int round = 0; round < 200; round++) {
        struct invoice bill = {draw_int(&d, 0, 1000), draw_int(&d, 0, 1000),
                               draw_int(&d, 0, 1000), draw_int(&d, 1, 1000), 0};
        int64_t sums[BAR_PARTS] = {bill.input, bill.input + bill.cached, 0, 0};
        sums[2] = sums[1] + bill.cache_write;
        sums[3] = bill.total = sums[2] + bill.output;
        int64_t scale = bill.total + draw_int(&d, 0, 1000);
        int n_cells = draw_int(&d, 1, 1000), ends[BAR_PARTS];
        bar_ends(ends, &bill, scale, n_cells);
        for (int i = 0; i < BAR_PARTS; i++)
            assert_number("end", ends[i], sums[i] * n_cells / scale);
    }
}
END_TEST

START_TEST(the_support_bot_is_drawn) {
    const struct price_entry entry = {
        .price = {550000, 140000, PRICE_UNKNOWN, 2190000},
          .model = "r1"
    };
    const struct workload work = {
        .used = {3200, 3000, 0, 300},
        .n_requests = 1000,
    };
    struct statement s;
    char *text = NULL;
    size_t n_text = 0;
    assert_status("statement_of", statement_of(&s, &entry, &work, NULL), OK);
    FILE *out = open_memstream(&text, &n_text);
    bars_print(out, &s);
    fclose(out);
    // clang-format off
    assert_text("bars_print", text,
        "without cache  iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiioooooooooooooo  $2.417\n"
        "with cache     iiccccccccooooooooooooo                           $1.187\n"
        "               i input, c cached input, o output\n");
    // clang-format on
    free(text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/bars");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, each_part_ends_at_its_share, 0, N_BARS);
    tcase_add_test(reference, ends_are_shares_rounded_down);
    tcase_add_test(reference, the_support_bot_is_drawn);
    suite_add_tcase(s, reference);
    return s;
}
