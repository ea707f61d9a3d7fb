// Chat templates under a fuzzer: a template, a zero byte, and its variables as JSON (without them, a
// conversation of ours). It may be refused; it may not crash, hang, or claim as its own what a message
// brought: each text of ours holds a byte that no template here writes.
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "level2-operator/template/template.h"
#include "level2-operator/template/template_json.h"

enum { ARENA_BYTES = 32 << 20, FOREIGN = 0x01 };

static const char talk[] =
    "{\"messages\":[{\"role\":\"system\",\"content\":\"\\u0001s\"},{\"role\":\"user\","
    "\"content\":[{\"type\":\"text\",\"text\":\" \\u0001\\u00e9 "
    "\"}]},{\"role\":\"assistant\","
    "\"content\":null,\"tool_calls\":[{\"id\":\"\\u00011\",\"function\":{\"name\":"
    "\"f\\u0001\","
    "\"arguments\":{\"x\":[1,2.5,true]}}}]}],\"tools\":null,\"s\":\"\\u0001a,b\\u0001\","
    "\"add_generation_prompt\":true}";

static void check(bool claim) {
    if (!claim) abort();
}

// Without escapes in it, a template has no other way to write the byte than to hold it.
static bool can_write_foreign(const char *source, size_t n_bytes) {
    return n_bytes > 0 &&
           (memchr(source, FOREIGN, n_bytes) || memchr(source, '\\', n_bytes));
}

static void check_text(const struct text *t, bool has_marker) {
    check(utf8_valid(t->bytes, t->n_bytes));
    for (size_t i = 0; i < t->n_bytes; i++) {
        bool is_own = t->own ? t->own[i] : t->is_own;
        check(!is_own || !has_marker || t->bytes[i] != FOREIGN);
    }
}

static void check_refusal(enum status st, const struct error *err) {
    check(err->code == st && err->text[0] != '\0' && strchr(err->text, '\n') == NULL);
    check(st == ERR_INPUT || st == ERR_FORMAT || st == ERR_LIMIT || st == ERR_UNSUPPORTED);
}

static void run(const char *source, size_t n_source, const json_t *variables) {
    struct arena arena;
    struct error err = {0};
    struct template t;
    struct value names;
    struct pool pool;
    struct text text;

    arena_init(&arena, ARENA_BYTES);
    pool_init(&pool, &arena);
    enum status st = template_parse(&t, source, n_source, &arena, &err);
    if (!st && value_from_json(&names, variables, &pool)) {
        st = template_render(&text, &t, names.dict, 0, &pool, &err);
        if (!st) check_text(&text, !can_write_foreign(source, n_source));
    }
    if (st) check_refusal(st, &err);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    const char *source = (const char *)bytes;
    const char *end = n_bytes ? memchr(source, '\0', n_bytes) : NULL;
    size_t n_source = end ? (size_t)(end - source) : n_bytes;
    json_t *own = end ? json_loadb(end + 1, n_bytes - n_source - 1, 0, NULL) : NULL;
    json_t *variables = json_is_object(own) ? json_incref(own) : json_loads(talk, 0, NULL);

    check(variables != NULL);
    run(source, n_source, variables);
    json_decref(variables);
    json_decref(own);
    return 0;
}
