#include "tests/support/template_rig.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/template/template_json.h"
#include "tests/support/suite.h"

void rendering_make(struct rendering *r, const char *source, const char *variables,
                    long fail_after) {
    struct template t;
    struct value names;
    struct pool pool;

    memset(r, 0, sizeof(*r));
    arena_init(&r->arena, RENDERING_BYTES);
    arena_fail_after(&r->arena, fail_after);
    r->variables = json_loads(variables ? variables : "{}", 0, NULL);
    ck_assert_msg(json_is_object(r->variables), "not JSON: %s", variables);
    r->st = template_parse(&t, source, strlen(source), &r->arena, &r->err);
    if (r->st) return;
    pool_init(&pool, &r->arena);
    if (value_from_json(&names, r->variables, &pool))
        r->st = template_render(&r->text, &t, names.dict, 0, &pool, &r->err);
    else
        r->st = error_set(&r->err, ERR_MEMORY, "no memory for the variables");
}

void rendering_free(struct rendering *r) {
    json_decref(r->variables);
    arena_free(&r->arena);
}

void assert_renders(const char *source, const char *variables, const char *want) {
    struct rendering r;
    rendering_make(&r, source, variables, -1);
    ck_assert_msg(r.st == OK, "%s: %s", source, r.err.text);
    ck_assert_msg(text_is(r.text, want), "%s\n  got  \"%.*s\"\n  want \"%s\"", source,
                  (int)r.text.n_bytes, r.text.bytes, want);
    rendering_free(&r);
}

void assert_not_rendered(const char *source, const char *variables, enum status want,
                         int line, const char *words) {
    struct rendering r;
    char place[32];
    rendering_make(&r, source, variables, -1);
    snprintf(place, sizeof(place), "line %d:", line);
    ck_assert_msg(r.st == want && r.err.code == want, "%.80s: got status %s (%s), want %s",
                  source, status_name(r.st), r.err.text, status_name(want));
    ck_assert_msg(strstr(r.err.text, words) && strstr(r.err.text, place),
                  "%.80s: got \"%s\", want \"%s\" at %s", source, r.err.text, words, place);
    rendering_free(&r);
}

void assert_own(const char *source, const char *variables, const char *want) {
    struct rendering r;
    rendering_make(&r, source, variables, -1);
    ck_assert_msg(r.st == OK, "%s: %s", source, r.err.text);
    ck_assert_uint_eq(r.text.n_bytes, strlen(want));
    for (size_t i = 0; i < r.text.n_bytes; i++) {
        bool is_own = r.text.own ? r.text.own[i] : r.text.is_own;
        ck_assert_msg(is_own == (want[i] == '1'), "%s: byte %zu of \"%.*s\": want %c",
                      source, i, (int)r.text.n_bytes, r.text.bytes, want[i]);
    }
    rendering_free(&r);
}
