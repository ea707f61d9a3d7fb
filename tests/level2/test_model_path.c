// Which files an administrator may name: everything below the folder, nothing beside it.
#include "level2-operator/service/model_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os.h"
#include "tests/support/suite.h"

// ROOT/secret.gguf, ROOT/models/{a.gguf, in.gguf -> sub/b.gguf, out.gguf -> ../secret.gguf, sub/b.gguf},
// and ROOT/models-2/c.gguf, whose name only begins like the folder's.
static char root[512], models[600];

static void at(char *out, size_t out_bytes, const char *name) {
    snprintf(out, out_bytes, "%s/%s", root, name);
}

static void make_file(const char *name) {
    char path[700];
    at(path, sizeof(path), name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
}

static void make_link(const char *name, const char *to) {
    char path[700];
    at(path, sizeof(path), name);
    ck_assert_int_eq(symlink(to, path), 0);
}

static void make_folder(const char *name) {
    char path[700];
    at(path, sizeof(path), name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void setup(void) {
    char made[] = "/tmp/model-path-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(made));
    ck_assert_int_eq(os_real_path(root, sizeof(root), made, NULL), OK);
    at(models, sizeof(models), "models");
    make_folder("models");
    make_folder("models/sub");
    make_folder("models-2");
    make_file("secret.gguf");
    make_file("models/a.gguf");
    make_file("models/sub/b.gguf");
    make_file("models-2/c.gguf");
    make_link("models/in.gguf", "sub/b.gguf");
    make_link("models/out.gguf", "../secret.gguf");
    make_link("models/up", "..");
}

static void teardown(void) {
    static const char *const names[] = {"models/up",
                                        "models/out.gguf",
                                        "models/in.gguf",
                                        "models-2/c.gguf",
                                        "models/sub/b.gguf",
                                        "models/a.gguf",
                                        "secret.gguf",
                                        "models-2",
                                        "models/sub",
                                        "models",
                                        ""};
    char path[700];
    for (int i = 0; i < ROWS(names); i++) {
        at(path, sizeof(path), names[i]);
        remove(path);
    }
}

static const struct {
    const char *path, *want; // below ROOT; NULL: refused
    enum status status;
} rows[] = {
    {"a.gguf",         "models/a.gguf",     OK       },
    {"sub/b.gguf",     "models/sub/b.gguf", OK       },
    {"./sub//b.gguf",  "models/sub/b.gguf", OK       },
    {"in.gguf",        "models/sub/b.gguf", OK       },
    {"sub",            "models/sub",        OK       },
    {"none.gguf",      NULL,                ERR_IO   },
    {"a.gguf/x",       NULL,                ERR_IO   },
    {"out.gguf",       NULL,                ERR_INPUT},
    {"up/secret.gguf", NULL,                ERR_INPUT},
    {"up",             NULL,                ERR_INPUT},
    {"../secret.gguf", NULL,                ERR_INPUT},
    {"sub/../a.gguf",  NULL,                ERR_INPUT},
    {"..",             NULL,                ERR_INPUT},
    {".",              NULL,                ERR_INPUT},
    {"",               NULL,                ERR_INPUT},
    {"/",              NULL,                ERR_INPUT},
    {"/etc/passwd",    NULL,                ERR_INPUT},
    {"/no/such/file",  NULL,                ERR_INPUT},
};

START_TEST(takes_what_lies_below_and_nothing_else) {
    char out[4096], want[700], what[128];
    struct error err = {0};
    snprintf(what, sizeof(what), "model_path_below(\"%s\")", rows[_i].path);
    assert_status(what, model_path_below(out, sizeof(out), models, rows[_i].path, &err),
                  rows[_i].status);
    if (rows[_i].want) {
        at(want, sizeof(want), rows[_i].want);
        assert_text(what, out, want);
    } else {
        ck_assert_msg(err.text[0] && !strchr(err.text, '\n'), "no reason: '%s'", err.text);
    }
}
END_TEST

// The words are the same: nobody can ask what there is outside.
START_TEST(does_not_tell_what_there_is_outside) {
    char out[4096];
    struct error there = {0}, not_there = {0};
    model_path_below(out, sizeof(out), models, "/etc/passwd", &there);
    model_path_below(out, sizeof(out), models, "/no/such/file", &not_there);
    assert_text("the refusal of a file that is not there", not_there.text, there.text);
    model_path_below(out, sizeof(out), models, "out.gguf", &not_there);
    assert_text("the refusal of a link that leads out", not_there.text, there.text);
}
END_TEST

START_TEST(a_whole_path_may_begin_with_the_folder) {
    char out[4096], path[700], slashes[700];
    at(path, sizeof(path), "models/a.gguf");
    assert_status("ROOT/models/a.gguf",
                  model_path_below(out, sizeof(out), models, path, NULL), OK);
    snprintf(slashes, sizeof(slashes), "%s//", models);
    assert_status("ROOT/models/a.gguf, folder ROOT/models//",
                  model_path_below(out, sizeof(out), slashes, path, NULL), OK);
    at(path, sizeof(path), "models-2/c.gguf");
    assert_status("ROOT/models-2/c.gguf",
                  model_path_below(out, sizeof(out), models, path, NULL), ERR_INPUT);
}
END_TEST

START_TEST(long_paths_are_refused) {
    char out[4096], path[5000];
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_ne(model_path_below(out, sizeof(out), models, path, NULL), OK);
    ck_assert_int_ne(model_path_below(out, 8, models, "a.gguf", NULL), OK);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/model_path");
    TCase *paths = tcase_in(s, "paths");
    tcase_add_checked_fixture(paths, setup, teardown);
    tcase_add_loop_test(paths, takes_what_lies_below_and_nothing_else, 0, ROWS(rows));
    tcase_add_test(paths, does_not_tell_what_there_is_outside);
    tcase_add_test(paths, a_whole_path_may_begin_with_the_folder);
    tcase_add_test(paths, long_paths_are_refused);
    return s;
}
