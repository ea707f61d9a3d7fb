// A chat template: a small program in the language of jinja2 that comes with a model and turns messages
// into the text that the model was trained on. This is an interpreter for the part of the language that
// templates of models use. For that part it gives the bytes that jinja2 gives, set up as the
// transformers library does (sandbox, trim_blocks, lstrip_blocks, loop controls).
//
//   source ──template_lexer──▶ lexemes ──template_parser──▶ nodes      once, when the model is loaded
//   messages ──template_json──▶ values ─┐
//   nodes ──template_exec (statements)──┴─template_eval (expressions)──▶ text      for each request
//
// Not here: files of templates that include each other, recursive loops, HTML escaping, and whatever
// would change a list or a dict. A template that asks for more fails with a message that says the line.
//
// do:    parse once; render from as many threads as you like
// don't: trust it: a template comes with a file from a stranger, so its depth, its steps, its memory and
//        its output have limits (common/limits.h)
#ifndef LEVEL2_TEMPLATE_H
#define LEVEL2_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/status.h"
#include "level2-operator/template/template_value.h"

struct node;

struct template { // all-zero: an empty one
    const char *source;
    size_t n_bytes;
    const struct node *tree; // both in the arena of template_parse
};

// ERR_FORMAT: not UTF-8, or not in the language; ERR_UNSUPPORTED: a part of it that is not here;
// ERR_LIMIT: too long or too deep; ERR_MEMORY. err says the line.
enum status template_parse(struct template *t, const char *source, size_t n_bytes,
                           struct arena *arena, struct error *err);

// names: the variables. The text lies in the pool, as all that was made on the way. now_s: what
// strftime_now shows, in local time.
// ERR_INPUT: the template refused (raise_exception), or did what its values do not allow;
// ERR_UNSUPPORTED, ERR_LIMIT, ERR_MEMORY. err says the line; err->param is "messages".
enum status template_render(struct text *out, const struct template *t,
                            const struct dict *names, int64_t now_s, struct pool *pool,
                            struct error *err);

#endif
