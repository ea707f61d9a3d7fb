// Chat templates for tests/reference/templates.py: a line of JSON in, a line of JSON out, in one process.
//
//   {"template": text, "variables": {...}, "now": seconds}  ->  {"text": text, "own": [begin, end, ...]}
//                                                           or  {"error": text}
// own: the stretches of bytes that the template wrote itself. With --builtins it prints the built-in
// templates as one JSON object instead.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/template/chat_builtin.h"
#include "level2-operator/template/template.h"
#include "level2-operator/template/template_json.h"

enum { ARENA_BYTES = 256 << 20 };

static bool is_own(const struct text *t, size_t i) {
    return t->own ? t->own[i] : t->is_own;
}

static json_t *own_stretches(const struct text *t) {
    json_t *list = json_array();
    for (size_t i = 0; i <= t->n_bytes; i++) {
        bool before = i > 0 && is_own(t, i - 1), here = i < t->n_bytes && is_own(t, i);
        if (before != here) json_array_append_new(list, json_integer((json_int_t)i));
    }
    return list;
}

static enum status render(struct text *out, const json_t *line, struct arena *arena,
                          struct error *err) {
    const json_t *source = json_object_get(line, "template");
    const json_t *now = json_object_get(line, "now");
    struct template t;
    struct pool pool;
    struct value names;

    enum status st = template_parse(&t, json_string_value(source),
                                    json_string_length(source), arena, err);
    if (st) return st;
    pool_init(&pool, arena);
    if (!value_from_json(&names, json_object_get(line, "variables"), &pool))
        return error_set(err, ERR_MEMORY, "no memory for the variables");
    return template_render(out, &t, names.dict, json_integer_value(now), &pool, err);
}

static void answer(const char *bytes, size_t n_bytes) {
    json_t *line = json_loadb(bytes, n_bytes, JSON_ALLOW_NUL, NULL), *reply;
    struct arena arena;
    struct text text;
    struct error err = {0};

    arena_init(&arena, ARENA_BYTES);
    if (!line) error_set(&err, ERR_FORMAT, "the line is not JSON");
    if (line && render(&text, line, &arena, &err) == OK)
        reply = json_pack("{s:o, s:o}", "text", json_stringn(text.bytes, text.n_bytes),
                          "own", own_stretches(&text));
    else
        reply = json_pack("{s:s}", "error", err.text);
    json_dumpf(reply, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(reply);
    json_decref(line);
    arena_free(&arena);
}

static void print_builtins(void) {
    json_t *all = json_object();
    for (const struct chat_builtin *b = chat_builtins; b->name; b++)
        json_object_set_new(all, b->name, json_string(b->source));
    json_dumpf(all, stdout, JSON_COMPACT);
    json_decref(all);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--builtins") == 0) {
        print_builtins();
        return 0;
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t n; (n = getline(&line, &capacity, stdin)) >= 0;) answer(line, (size_t)n);
    free(line);
    return 0;
}
