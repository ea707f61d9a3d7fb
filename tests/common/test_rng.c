// The generator: the published test vectors, and the statistics that sampling relies on.
#include "common/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/suite.h"

// ---- reference: known answers of the Random123 library, philox4x32-10 ---------------------------

static const struct {
    const char *name;
    uint32_t counter[4], key[2], want[4];
} vectors[] = {
    {"zeroes",       {0, 0, 0, 0},                     {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {"ones",
     {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}                                                          },
    {"digits of pi",
     {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}                                                          },
};

START_TEST(the_published_vectors_come_out) {
    uint32_t out[4];
    rng_philox(out, vectors[_i].counter, vectors[_i].key);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(out[i] == vectors[_i].want[i], "%s: out[%d] = %08x, want %08x",
                      vectors[_i].name, i, out[i], vectors[_i].want[i]);
}
END_TEST

// The first two words of the vectors above, cut to 53 bits: where each argument goes is part of
// what a seed means, and must never change.
START_TEST(a_unit_is_the_upper_53_bits_of_two_words) {
    double zeroes = ldexp((double)(0xe169c58d6627e8d5u >> 11), -53);
    ck_assert(rng_unit(0, 0, 0, 0) == zeroes);

    uint32_t out[4];
    rng_philox(out, (uint32_t[]){3, 4, 2, 0}, (uint32_t[]){0x55667788, 0x11223344});
    uint64_t bits = (uint64_t)out[1] << 32 | out[0];
    double want = ldexp((double)(bits >> 11), -53);
    ck_assert(rng_unit(0x1122334455667788u, 2, 3, 4) == want);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(output_may_overwrite_the_counter) {
    uint32_t both[4] = {0, 0, 0, 0};
    rng_philox(both, both, (uint32_t[]){0, 0});
    ck_assert_uint_eq(both[0], 0x6627e8d5);
    ck_assert_uint_eq(both[3], 0x9b00dbd8);
}
END_TEST

START_TEST(each_argument_matters_in_every_bit) {
    double base = rng_unit(0, 0, 0, 0);
    for (int bit = 0; bit < 64; bit++) ck_assert(rng_unit(1ull << bit, 0, 0, 0) != base);
    for (int bit = 0; bit < 32; bit++) {
        ck_assert(rng_unit(0, 1u << bit, 0, 0) != base);
        ck_assert(rng_unit(0, 0, 1u << bit, 0) != base);
        ck_assert(rng_unit(0, 0, 0, 1u << bit) != base);
    }
}
END_TEST

START_TEST(arguments_are_not_interchangeable) {
    double units[] = {rng_unit(1, 0, 0, 0), rng_unit(0, 1, 0, 0), rng_unit(0, 0, 1, 0),
                      rng_unit(0, 0, 0, 1), rng_unit(1ull << 32, 0, 0, 0)};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++) ck_assert(units[a] != units[b]);
}
END_TEST

// ---- property: chi-square at a level of about one in a million ----------------------------------

enum { N_BINS = 256, N_DRAWS = 1 << 18 };

// How draw i is numbered: along positions, draws, choices or seeds.
static double unit_along(int axis, uint32_t i) {
    switch (axis) {
    case 0:
        return rng_unit(42, 0, i, 0);
    case 1:
        return rng_unit(42, 0, 7, i);
    case 2:
        return rng_unit(42, i, 7, 0);
    default:
        return rng_unit(i, 0, 7, 0);
    }
}

// With 255 degrees of freedom the sum has mean 255 and deviation 22.6; 5 deviations off is 368.
START_TEST(units_fill_the_interval_evenly_along_each_axis) {
    int bins[N_BINS] = {0};
    double sum = 0;
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        double u = unit_along(_i, i);
        if (!(u >= 0 && u < 1)) ck_abort_msg("%.17g is outside [0, 1)", u);
        bins[(int)(u * N_BINS)]++;
        sum += u;
    }
    double chi = 0, want = (double)N_DRAWS / N_BINS;
    for (int b = 0; b < N_BINS; b++) chi += (bins[b] - want) * (bins[b] - want) / want;
    ck_assert_msg(chi > 142 && chi < 368, "chi-square %g", chi);
    double deviation = sqrt(1.0 / 12 / N_DRAWS);
    ck_assert_msg(fabs(sum / N_DRAWS - 0.5) < 5 * deviation, "mean %g", sum / N_DRAWS);
}
END_TEST

START_TEST(neighbours_are_independent) {
    int bins[16][16] = {0};
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        int a = (int)(unit_along(_i, i) * 16), b = (int)(unit_along(_i, i + 1) * 16);
        bins[a][b]++;
    }
    double chi = 0, want = N_DRAWS / 256.0;
    for (int a = 0; a < 16; a++)
        for (int b = 0; b < 16; b++)
            chi += (bins[a][b] - want) * (bins[a][b] - want) / want;
    ck_assert_msg(chi > 142 && chi < 368, "chi-square %g", chi);
}
END_TEST

START_TEST(one_changed_bit_changes_half_of_the_output) {
    long n_changed = 0;
    enum { N_ROUNDS = 1000 };
    struct draw d = draw_start("avalanche");
    for (int round = 0; round < N_ROUNDS; round++) {
        uint32_t counter[4], key[2], a[4], b[4];
        for (int i = 0; i < 4; i++) counter[i] = (uint32_t)draw_u64(&d);
        for (int i = 0; i < 2; i++) key[i] = (uint32_t)draw_u64(&d);
        rng_philox(a, counter, key);
        int bit = draw_int(&d, 0, 191);
        if (bit < 128)
            counter[bit / 32] ^= 1u << bit % 32;
        else
            key[bit / 32 - 4] ^= 1u << bit % 32;
        rng_philox(b, counter, key);
        for (int i = 0; i < 4; i++)
            for (uint32_t x = a[i] ^ b[i]; x; x &= x - 1) n_changed++;
    }
    double mean = (double)n_changed / N_ROUNDS; // of 128 bits; deviation 0.18
    ck_assert_msg(fabs(mean - 64) < 1, "%g bits change", mean);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/rng");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, the_published_vectors_come_out, 0,
                        sizeof(vectors) / sizeof(vectors[0]));
    tcase_add_test(reference, a_unit_is_the_upper_53_bits_of_two_words);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, output_may_overwrite_the_counter);
    tcase_add_test(edges, each_argument_matters_in_every_bit);
    tcase_add_test(edges, arguments_are_not_interchangeable);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 30);
    tcase_add_loop_test(property, units_fill_the_interval_evenly_along_each_axis, 0, 4);
    tcase_add_loop_test(property, neighbours_are_independent, 0, 4);
    tcase_add_test(property, one_changed_bit_changes_half_of_the_output);
    suite_add_tcase(s, property);
    return s;
}
