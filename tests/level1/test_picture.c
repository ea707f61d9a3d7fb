// Rectangles at the edges, letters, bars, no memory, and files that cannot be written.
#include "level1-user/bars_picture.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static int count(const struct picture *p, colour_rgb colour) {
    int n = 0;
    for (int i = 0; i < p->width * p->height; i++) {
        const unsigned char *at = p->rgb + (size_t)i * 3;
        n += ((colour_rgb)at[0] << 16 | (colour_rgb)at[1] << 8 | at[2]) == colour;
    }
    return n;
}

static const struct {
    const char *name;
    int x, y, width, height, want;
} fills[] = {
    {"inside",             1,  1,  2,   3,   6 },
    {"all",                0,  0,  7,   5,   35},
    {"over each edge",     -9, -9, 100, 100, 35},
    {"left of it",         -3, 0,  3,   5,   0 },
    {"below it",           0,  5,  7,   1,   0 },
    {"over the left edge", -1, 0,  3,   1,   2 },
    {"nothing",            1,  1,  0,   3,   0 },
};
enum { N_FILLS = sizeof(fills) / sizeof(fills[0]) };

START_TEST(what_lies_outside_is_left_out) {
    struct picture p;
    assert_status("picture_init", picture_init(&p, 7, 5, NULL), OK);
    picture_fill(&p, fills[_i].x, fills[_i].y, fills[_i].width, fills[_i].height, 0x123456);
    assert_number(fills[_i].name, count(&p, 0x123456), fills[_i].want);
    assert_number("the rest is white", count(&p, 0xFFFFFF), 35 - fills[_i].want);
    picture_free(&p);
}
END_TEST

START_TEST(letters_grow_with_their_scale) {
    struct picture p;
    assert_status("picture_init", picture_init(&p, 40, 20, NULL), OK);
    picture_text(&p, 0, 0, 1, "1 ?", 0);
    assert_number("pixels of a 1", count(&p, 0), 10);
    picture_text(&p, 12, 0, 2, "1", 1);
    assert_number("of one twice as large", count(&p, 1), 40);
    picture_text(&p, -3, -3, 1, "8888888888", 2);
    picture_free(&p);
}
END_TEST

static struct picture bot_picture(void) {
    const struct price_entry entry = {
        .price = {550000, 140000, PRICE_UNKNOWN, 2190000},
          .model = "r1"
    };
    const struct workload work = {
        .used = {3200, 3000, 0, 300},
        .n_requests = 1000,
    };
    struct statement s;
    struct picture p;
    assert_status("statement_of", statement_of(&s, &entry, &work, NULL), OK);
    assert_status("bars_picture", bars_picture(&p, &s, NULL), OK);
    return p;
}

// 600 pixels for $2.417, 36 rows a bar, and a square of 14 by 14 in the legend.
START_TEST(amounts_are_lengths) {
    struct picture p = bot_picture();
    assert_number("input", count(&p, 0x4C78A8), (436 + 27) * 36 + 14 * 14);
    assert_number("cached", count(&p, 0x9ECAE9), 104 * 36 + 14 * 14);
    assert_number("output", count(&p, 0xE45756), (164 + 163) * 36 + 14 * 14);
    picture_free(&p);
}
END_TEST

START_TEST(a_file_is_written_or_refused) {
    struct picture p = bot_picture();
    struct error err = {0};
    char path[] = "/tmp/picture-XXXXXX";
    int fd = mkstemp(path);
    enum status want = picture_has_png() ? OK : ERR_UNSUPPORTED;
    assert_status("a new file", picture_write_png(&p, path, &err), want);
    if (picture_has_png()) {
        assert_status("no folder", picture_write_png(&p, "/no/such/folder", &err), ERR_IO);
        ck_assert_int_gt(lseek(fd, 0, SEEK_END), 500);
    }
    close(fd);
    unlink(path);
    picture_free(&p);
}
END_TEST

START_TEST(no_memory_is_said) {
    struct picture p;
    memory_fail_after(0);
    enum status st = picture_init(&p, 7, 5, NULL);
    memory_fail_after(-1);
    assert_status("picture_init", st, ERR_MEMORY);
    ck_assert_ptr_null(p.rgb);
    picture_free(&p);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/picture");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, what_lies_outside_is_left_out, 0, N_FILLS);
    tcase_add_test(reference, letters_grow_with_their_scale);
    tcase_add_test(reference, amounts_are_lengths);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_file_is_written_or_refused);
    tcase_add_test(failures, no_memory_is_said);
    suite_add_tcase(s, failures);
    return s;
}
