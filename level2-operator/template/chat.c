// A model's template, and what is put into it: messages, tools, tokens.
#include "level2-operator/template/chat.h"

#include <string.h>

#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/utf8.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/template/chat_builtin.h"
#include "level2-operator/template/template_json.h"

// ---- which template -----------------------------------------------------------------------------

// A token as the file spells it. Views into pieces, which live as long as the tokenizer.
static struct text token_text(const struct tokenizer *t, token_id id) {
    struct text none = {.bytes = "", .is_own = true};
    if (id < 0 || id >= t->n_vocab) return none;
    struct token_piece piece = tokenizer_piece(t, id, true);
    if (!utf8_valid(piece.bytes, piece.n_bytes)) return none;
    return (struct text){.bytes = piece.bytes, .n_bytes = piece.n_bytes, .is_own = true};
}

static enum status parse(struct chat_template *t, const char *source, size_t n_bytes,
                         const struct tokenizer *tokenizer, struct arena *arena) {
    *t = (struct chat_template){.bos = token_text(tokenizer, tokenizer->bos),
                                .eos = token_text(tokenizer, tokenizer->eos),
                                .unknown = token_text(tokenizer, tokenizer->unknown),
                                .is_there = n_bytes > 0};
    if (n_bytes > 0) t->st = template_parse(&t->program, source, n_bytes, arena, &t->why);
    return t->st;
}

enum status chat_template_init(struct chat_template *t, const char *source, size_t n_bytes,
                               const struct tokenizer *tokenizer, struct arena *arena,
                               struct error *err) {
    if (parse(t, source, n_bytes, tokenizer, arena) != ERR_MEMORY) return OK;
    return error_set(err, ERR_MEMORY, "%s", t->why.text);
}

static const char *find_builtin(const char *name) {
    for (const struct chat_builtin *b = chat_builtins; b->name; b++)
        if (strcmp(b->name, name) == 0) return b->source;
    return NULL;
}

static enum status read_file(struct chat_template *t, const char *path,
                             const struct tokenizer *tokenizer, struct arena *arena,
                             struct error *err) {
    struct mapped_file file = {0};
    if (mapped_file_open(&file, path, err) != OK)
        return error_set(err, ERR_INPUT,
                         "--chat-template %s: neither a file nor " CHAT_BUILTIN_NAMES,
                         error_path(path));
    if (file.n_bytes == 0)
        return error_set(err, ERR_INPUT, "--chat-template %s: the file is empty",
                         error_path(path));
    parse(t, (const char *)file.bytes, file.n_bytes, tokenizer, arena);
    mapped_file_close(&file);
    return t->st ? error_set(err, t->st, "%s: %s", error_path(path), t->why.text) : OK;
}

enum status chat_template_read(struct chat_template *t, const struct gguf *g,
                               const char *choice, const struct tokenizer *tokenizer,
                               struct arena *arena, struct error *err) {
    const char *builtin = choice ? find_builtin(choice) : NULL;
    struct gguf_string own = {0};

    if (choice && !builtin) return read_file(t, choice, tokenizer, arena, err);
    if (builtin)
        return chat_template_init(t, builtin, strlen(builtin), tokenizer, arena, err);
    bool has_own = gguf_get_string(gguf_find(g, "tokenizer.chat_template"), &own);
    return chat_template_init(t, has_own ? own.bytes : NULL, (size_t)own.n_bytes, tokenizer,
                              arena, err);
}

enum status chat_template_check(const struct chat_template *t, struct error *err) {
    if (t->is_there && t->st)
        return error_set_param(err, t->st, t->why.param, "%s", t->why.text);
    if (t->is_there) return OK;
    return error_set(err, ERR_UNSUPPORTED,
                     "the model file has no chat template: it is a base model; use "
                     "/v1/completions, or give --chat-template " CHAT_BUILTIN_NAMES);
}

// ---- what it is given ---------------------------------------------------------------------------

struct variables {
    struct dict names;
    struct pool *pool;
    bool has_memory;
};

static void set(struct variables *v, const char *name, struct value value) {
    v->has_memory = v->has_memory && dict_set(&v->names, text_own(name), value, v->pool);
}

static void set_json(struct variables *v, const char *name, const json_t *json) {
    struct value value;
    v->has_memory = v->has_memory && value_from_json(&value, json, v->pool);
    if (v->has_memory) set(v, name, value);
}

static void set_token(struct variables *v, const char *name, struct text token) {
    if (token.n_bytes > 0) set(v, name, value_text(token));
}

static bool message_value(struct value *value, const struct chat_message *m,
                          struct pool *pool) {
    struct dict *fields = pool_take(pool, 1, sizeof(*fields));
    bool has_content = m->content || !json_object_get(m->fields, "content");
    struct text content = text_foreign(m->content ? m->content : "", m->n_content);

    *value = (struct value){.kind = VALUE_DICT, .dict = fields};
    if (!fields || (m->fields && !value_from_json(value, m->fields, pool))) return false;
    if (m->role) {
        struct text role = text_foreign(m->role, strlen(m->role));
        if (!dict_set(value->dict, text_own("role"), value_text(role), pool)) return false;
    }
    if (m->role && has_content)
        return dict_set(value->dict, text_own("content"), value_text(content), pool);
    return true;
}

static void set_messages(struct variables *v, const struct chat_request *request) {
    struct value *items = pool_take(v->pool, (size_t)request->n_messages, sizeof(*items));
    v->has_memory = v->has_memory && items;
    for (int i = 0; i < request->n_messages && v->has_memory; i++)
        v->has_memory = message_value(&items[i], &request->messages[i], v->pool);
    if (v->has_memory) set(v, "messages", value_list(items, (size_t)request->n_messages));
}

// A client's own variables come first: it cannot say what bos_token is. An object has no name twice, so
// that none is looked for: there may be hundreds of thousands.
static bool set_all(struct variables *v, const struct chat_template *t,
                    const struct chat_request *request) {
    const char *name;
    json_t *json;
    json_object_foreach((json_t *)request->variables, name, json) { // only reads
        struct value value;
        v->has_memory = v->has_memory && value_from_json(&value, json, v->pool) &&
                        dict_append(&v->names, value_text(text_own(name)), value, v->pool);
    }
    set_messages(v, request);
    set_json(v, "tools", request->tools);
    set_json(v, "documents", NULL);
    set(v, "add_generation_prompt", value_bool(request->add_generation_prompt));
    set_token(v, "bos_token", t->bos);
    set_token(v, "eos_token", t->eos);
    set_token(v, "unk_token", t->unknown);
    return v->has_memory;
}

// ---- what comes out -----------------------------------------------------------------------------

static bool is_own(const struct text *t, size_t i) {
    return t->own ? t->own[i] : t->is_own;
}

// Fills markup, or only counts if it is NULL.
static int find_markup(struct markup *markup, const struct text *t) {
    int n = 0;
    for (size_t begin = 0, end; begin < t->n_bytes; begin = end) {
        for (end = begin + 1; end < t->n_bytes && is_own(t, end) == is_own(t, begin);)
            end++;
        if (!is_own(t, begin)) continue;
        if (markup) markup[n] = (struct markup){begin, end};
        n++;
    }
    return n;
}

static enum status keep(struct chat_text *out, const struct text *t, struct arena *arena,
                        struct error *err) {
    int n_markup = find_markup(NULL, t);
    char *text = arena_copy(arena, t->bytes, t->n_bytes);
    struct markup *markup = ARENA_NEW(arena, struct markup, n_markup);
    if (!text || !markup)
        return error_set(err, ERR_MEMORY, "no memory for a chat text of %zu bytes",
                         t->n_bytes);
    find_markup(markup, t);
    *out = (struct chat_text){text, t->n_bytes, markup, n_markup};
    return OK;
}

static enum status check(const struct chat_template *t, const struct chat_request *request,
                         struct error *err) {
    enum status st = chat_template_check(t, err);
    if (st) return st;
    if (request->n_messages < 1)
        return error_set_param(err, ERR_INPUT, "messages",
                               "messages is empty; send at least one message");
    if (request->n_messages > LIMIT_MESSAGES)
        return error_set_param(err, ERR_LIMIT, "messages",
                               "%d messages, at most %d are allowed", request->n_messages,
                               LIMIT_MESSAGES);
    return OK;
}

enum status chat_render(struct chat_text *out, const struct chat_template *t,
                        const struct chat_request *request, struct arena *arena,
                        struct error *err) {
    struct arena work;
    struct pool pool;
    struct text text;

    *out = (struct chat_text){0};
    enum status st = check(t, request, err);
    if (st) return st;

    // a value of about 100 bytes for a field of 10, and a few copies of each text
    arena_init(&work, LIMIT_TEMPLATE_WORK_BYTES);
    arena_allow(&work, request->n_bytes, LIMIT_TEMPLATE_WORK_PER_BYTE);
    pool_init(&pool, &work);
    struct variables v = {.pool = &pool, .has_memory = true};
    if (!set_all(&v, t, request))
        st = error_set_param(err, pool.why, "messages", "no memory for the messages");
    if (!st) st = template_render(&text, &t->program, &v.names, request->now_s, &pool, err);
    if (!st) st = keep(out, &text, arena, err);
    arena_free(&work);
    return st;
}
