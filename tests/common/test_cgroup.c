// Control group files: what they say, on texts from real machines and on nonsense.
#include "common/cgroup.h"

#include <string.h>

#include "tests/support/suite.h"

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name, *text;
    int64_t want;
} cpu_texts[] = {
    {"no limit",              "max 100000\n",                CGROUP_NO_LIMIT},
    {"two CPUs",              "200000 100000\n",             2              },
    {"one and a half is two", "150000 100000\n",             2              },
    {"a tenth is one",        "10000 100000",                1              },
    {"another period",        "250000 50000\n",              5              },
    {"file is not there",     "",                            CGROUP_NO_LIMIT},
    {"no period",             "100000\n",                    CGROUP_NO_LIMIT},
    {"period of nothing",     "100000 0\n",                  CGROUP_NO_LIMIT},
    {"nothing at all",        "0 100000\n",                  CGROUP_NO_LIMIT},
    {"negative",              "-1 100000\n",                 CGROUP_NO_LIMIT},
    {"words",                 "many few\n",                  CGROUP_NO_LIMIT},
    {"too large a number",    "99999999999999999999 100000", CGROUP_NO_LIMIT},
    {"largest number",        "9223372036854775807 1\n",     INT64_MAX      },
};

START_TEST(the_cpus_of_cpu_max) {
    int64_t got = cgroup_cpus(cpu_texts[_i].text);
    ck_assert_msg(got == cpu_texts[_i].want, "%s: %lld", cpu_texts[_i].name,
                  (long long)got);
}
END_TEST

static const struct {
    const char *name, *quota, *period;
    int64_t want;
} quota_texts[] = {
    {"no limit",          "-1\n",     "100000\n", CGROUP_NO_LIMIT},
    {"four CPUs",         "400000\n", "100000\n", 4              },
    {"a bit above two",   "200001\n", "100000\n", 3              },
    {"no period",         "200000\n", "",         CGROUP_NO_LIMIT},
    {"file is not there", "",         "",         CGROUP_NO_LIMIT},
};

START_TEST(the_cpus_of_quota_and_period) {
    int64_t got = cgroup_cpus_v1(quota_texts[_i].quota, quota_texts[_i].period);
    ck_assert_msg(got == quota_texts[_i].want, "%s: %lld", quota_texts[_i].name,
                  (long long)got);
}
END_TEST

static const struct {
    const char *name, *text;
    int64_t want;
} memory_texts[] = {
    {"no limit",            "max\n",                 CGROUP_NO_LIMIT},
    {"one gigabyte",        "1073741824\n",          1073741824     },
    {"nothing at all",      "0\n",                   0              },
    {"version 1, no limit", "9223372036854771712\n", CGROUP_NO_LIMIT},
    {"too large a number",  "18446744073709551615",  CGROUP_NO_LIMIT},
    {"file is not there",   "",                      CGROUP_NO_LIMIT},
};

START_TEST(the_bytes_of_a_memory_limit) {
    int64_t got = cgroup_bytes(memory_texts[_i].text);
    ck_assert_msg(got == memory_texts[_i].want, "%s: %lld", memory_texts[_i].name,
                  (long long)got);
}
END_TEST

static const char hybrid[] = "9:name=systemd:/\n"
                             "4:memory:/docker/1f2e\n"
                             "2:cpu,cpuacct:/slice:with:colons\n"
                             "1:cpuset:/set\n"
                             "0::/unified\n";

static const struct {
    const char *name, *text, *controller, *want; // want NULL: none
} path_texts[] = {
    {"version 2",             "0::/user.slice/a.scope\n", "",        "/user.slice/a.scope"},
    {"the root",              "0::/\n",                   "",        "/"                  },
    {"last line without end", "0::/x",                    "",        "/x"                 },
    {"both versions: 2",      hybrid,                     "",        "/unified"           },
    {"both versions: memory", hybrid,                     "memory",  "/docker/1f2e"       },
    {"one of a list",         hybrid,                     "cpu",     "/slice:with:colons" },
    {"the other of it",       hybrid,                     "cpuacct", "/slice:with:colons" },
    {"not the start of one",  hybrid,                     "mem",     NULL                 },
    {"not a longer one",      "1:cpuset:/set\n",          "cpu",     NULL                 },
    {"version 1 only",        "1:cpu:/a\n",               "",        NULL                 },
    {"empty",                 "",                         "",        NULL                 },
    {"no colons",             "nonsense\n\n",             "",        NULL                 },
    {"one colon",             "0:\n0::/here\n",           "",        "/here"              },
};

START_TEST(the_path_of_a_group) {
    char path[64] = "untouched";
    bool found =
        cgroup_path(path, sizeof(path), path_texts[_i].text, path_texts[_i].controller);
    const char *want = path_texts[_i].want ? path_texts[_i].want : "untouched";
    ck_assert_msg(found == (path_texts[_i].want != NULL), "%s", path_texts[_i].name);
    ck_assert_msg(strcmp(path, want) == 0, "%s: %s", path_texts[_i].name, path);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_path_fits_exactly_or_not_at_all) {
    char path[6];
    ck_assert(cgroup_path(path, sizeof(path), "0::/1234\n", ""));
    ck_assert_str_eq(path, "/1234");
    ck_assert(!cgroup_path(path, sizeof(path), "0::/12345\n", ""));
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(no_text_breaks_the_readers) {
    static const char letters[] = "0:,/\n9 -mxcpu";
    struct draw d = draw_start("letters");
    for (int round = 0; round < 20000; round++) {
        char text[25], path[8];
        int n = draw_int(&d, 0, 24);
        for (int i = 0; i < n; i++) text[i] = letters[draw_int(&d, 0, sizeof(letters) - 2)];
        text[n] = '\0';
        cgroup_path(path, sizeof(path), text, draw_int(&d, 0, 1) ? "cpu" : "");
        if (cgroup_cpus(text) < CGROUP_NO_LIMIT || cgroup_bytes(text) < CGROUP_NO_LIMIT ||
            cgroup_cpus_v1(text, text) < CGROUP_NO_LIMIT)
            ck_abort_msg("%s", text);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/cgroup");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, the_cpus_of_cpu_max, 0,
                        sizeof(cpu_texts) / sizeof(cpu_texts[0]));
    tcase_add_loop_test(reference, the_cpus_of_quota_and_period, 0,
                        sizeof(quota_texts) / sizeof(quota_texts[0]));
    tcase_add_loop_test(reference, the_bytes_of_a_memory_limit, 0,
                        sizeof(memory_texts) / sizeof(memory_texts[0]));
    tcase_add_loop_test(reference, the_path_of_a_group, 0,
                        sizeof(path_texts) / sizeof(path_texts[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_path_fits_exactly_or_not_at_all);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, no_text_breaks_the_readers);
    suite_add_tcase(s, property);
    return s;
}
