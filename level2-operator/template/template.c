// From a source to a tree, and from a tree to a text.
#include "level2-operator/template/template.h"

#include "common/limits.h"
#include "common/utf8.h"
#include "level2-operator/template/template_lexer.h"
#include "level2-operator/template/template_parser.h"
#include "level2-operator/template/template_render.h"

// Line ends become \n, and one at the very end is dropped, as jinja2 does.
static size_t unify_line_ends(char *out, const char *source, size_t n_bytes) {
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        if (source[i] == '\r' && i + 1 < n_bytes && source[i + 1] == '\n') continue;
        out[n++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (n > 0 && out[n - 1] == '\n') n--;
    out[n] = '\0';
    return n;
}

enum status template_parse(struct template *t, const char *source, size_t n_bytes,
                           struct arena *arena, struct error *err) {
    struct pool pool;
    struct parser parser;

    *t = (struct template){0};
    if (n_bytes > LIMIT_TEMPLATE_BYTES)
        return template_refuse(err, ERR_LIMIT, 1, "longer than %d bytes",
                               LIMIT_TEMPLATE_BYTES);
    if (!utf8_valid(source, n_bytes))
        return template_refuse(err, ERR_FORMAT, 1, "the file's text is not UTF-8");
    char *copy = arena_copy(arena, source, n_bytes);
    if (!copy) return template_refuse(err, ERR_MEMORY, 1, "no memory for its text");

    pool_init(&pool, arena);
    size_t n = unify_line_ends(copy, source, n_bytes);
    const struct node *tree = parse_template(&parser, copy, n, &pool, err);
    if (!parser.st) *t = (struct template){copy, n, tree};
    return parser.st;
}

enum status template_render(struct text *out, const struct template *t,
                            const struct dict *names, int64_t now_s, struct pool *pool,
                            struct error *err) {
    struct scope given = {.names = *names}, top = {.parent = &given};
    struct render r = {.pool = pool, .err = err, .now_s = now_s, .line = 1};

    struct value text = exec_captured(&r, t->tree, &top);
    *out = r.st ? text_own("") : text.text;
    return r.st;
}
