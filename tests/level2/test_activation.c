// The two curves at points whose values are known from elsewhere, and far out, where they must be flat.
#include "level2-operator/kernels/activation.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/suite.h"

// x, silu(x), gelu_tanh(x): from Python's math in double, the formulas of the header.
static const struct {
    float x, silu, gelu;
} values[] = {
    {0.0f,   0.0f,             0.0f            },
    {1.0f,   0.731058578630f,  0.841191990608f },
    {-1.0f,  -0.268941421370f, -0.158808009392f},
    {0.5f,   0.311229665601f,  0.345714009825f },
    {-0.75f, -0.240615975618f, -0.170039444834f},
    {3.0f,   2.857722380467f,  2.996362607918f },
    {-3.0f,  -0.142277619533f, -0.003637392082f},
    {20.0f,  19.999999958777f, 20.0f           },
    {-20.0f, -0.000000041223f, 0.0f            },
    {88.0f,  88.0f,            88.0f           },
    {-88.0f, 0.0f,             0.0f            },
};

START_TEST(the_curve_scales_up) {
    enum activation f = (enum activation)_i;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        float gate = values[i].x, up = -2.5f;
        float want = (f == ACTIVATION_SILU ? values[i].silu : values[i].gelu) * up;
        char what[64];
        snprintf(what, sizeof(what), "curve %d at %g, times -2.5", _i, (double)gate);
        activation_gate(&gate, &up, 1, f);
        assert_close(what, &gate, &want, 1, 1e-6);
    }
}
END_TEST

// The tanh formula is not the exact one: at 2.25 they differ by 3.0e-4, more than any rounding.
START_TEST(gelu_is_the_tanh_formula) {
    float gate = 2.25f, up = 1;
    double exact = 2.25 * 0.5 * (1 + erf(2.25 / sqrt(2)));
    activation_gate(&gate, &up, 1, ACTIVATION_GELU_TANH);
    double difference = fabs((double)gate - exact);
    ck_assert_msg(difference > 2.9e-4 && difference < 3.2e-4, "%g from the exact curve",
                  difference);
}
END_TEST

START_TEST(each_column_for_itself) {
    float gate[9], up[9], alone;
    struct draw d = draw_start("activation columns");
    for (int i = 0; i < 9; i++)
        gate[i] = draw_float(&d, -4, 4), up[i] = draw_float(&d, -4, 4);
    float last = gate[8], seventh = gate[7];
    activation_gate(gate, up, 8, (enum activation)_i); // the ninth is another worker's
    ck_assert(gate[8] == last);
    alone = seventh;
    activation_gate(&alone, &up[7], 1, (enum activation)_i);
    ck_assert(gate[7] == alone);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/activation");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, the_curve_scales_up, 0, 2);
    tcase_add_test(reference, gelu_is_the_tanh_formula);
    suite_add_tcase(s, reference);
    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, each_column_for_itself, 0, 2);
    suite_add_tcase(s, property);
    return s;
}
