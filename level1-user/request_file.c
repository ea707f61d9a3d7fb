// Each text of a body becomes a message of its own, so that a mark can stand behind it.
#include "level1-user/request_file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/data_record.h"
#include "common/limits.h"
#include "common/mapped_file.h"

// Where the reader stands.
struct place {
    const char *file;
    char where[40]; // "messages[3].content"
    const char *role;
};

static enum status refuse(enum status st, const struct place *at, const char *what,
                          struct error *err) {
    return error_set(err, st, "%s: %s %s", at->file, at->where, what);
}

static bool is_told(const json_t *value) {
    return value && !json_is_null(value);
}

static enum status add(struct request_file *f, const struct place *at, const json_t *text,
                       int i_part, struct error *err) {
    struct audit_request *r = &f->request;
    if (!json_is_string(text))
        return refuse(ERR_UNSUPPORTED, at, "is not text: only texts can be compared", err);
    if (r->n_messages == LIMIT_AUDIT_BLOCKS)
        return error_set(err, ERR_LIMIT, "%s: more than %d texts", at->file,
                         LIMIT_AUDIT_BLOCKS);

    struct text_place *place = &f->places[r->n_messages];
    if (i_part < 0)
        snprintf(place->name, sizeof(place->name), "%s", at->where);
    else
        snprintf(place->name, sizeof(place->name), "%s[%d]", at->where, i_part);
    f->messages[r->n_messages++] = (struct chat_message){at->role, json_string_value(text)};
    return OK;
}

static enum status add_part(struct request_file *f, const struct place *at,
                            const json_t *part, int i_part, struct error *err) {
    struct audit_request *r = &f->request;
    const json_t *type = json_object_get(part, "type");
    bool is_text = json_is_string(type) && strcmp(json_string_value(type), "text") == 0;
    enum status st =
        add(f, at, is_text ? json_object_get(part, "text") : NULL, i_part, err);
    if (st == OK && is_told(json_object_get(part, "cache_control")))
        f->marks[r->n_marks++] = r->n_messages;
    return st;
}

// A string, or a list of parts.
static enum status add_content(struct request_file *f, const struct place *at,
                               const json_t *content, struct error *err) {
    size_t i;
    const json_t *part;
    if (!json_is_array(content)) return add(f, at, content, -1, err);
    json_array_foreach((json_t *)content, i, part) {
        enum status st = add_part(f, at, part, (int)i, err);
        if (st != OK) return st;
    }
    return OK;
}

static enum status add_message(struct request_file *f, const char *file,
                               const json_t *message, size_t i, struct error *err) {
    struct place at = {.file = file};
    const json_t *role = json_object_get(message, "role");
    snprintf(at.where, sizeof(at.where), "messages[%zu]", i);
    if (!json_is_object(message)) return refuse(ERR_FORMAT, &at, "is not an object", err);
    if (!json_is_string(role)) return refuse(ERR_FORMAT, &at, "has no role", err);
    if (json_array_size(json_object_get(message, "tool_calls")) > 0)
        return refuse(ERR_UNSUPPORTED, &at, "has tool calls: only texts can be compared",
                      err);
    at.role = json_string_value(role);
    snprintf(at.where, sizeof(at.where), "messages[%zu].content", i);
    return add_content(f, &at, json_object_get(message, "content"), err);
}

static enum status read_body(struct request_file *f, const char *file, struct error *err) {
    const json_t *root = f->document, *messages = json_object_get(root, "messages");
    const json_t *system = json_object_get(root, "system");
    const struct place at = {file, "system", "system"};
    enum status st = OK;
    if (!json_is_array(messages))
        return error_set(err, ERR_FORMAT, "%s: has no list \"messages\"", file);
    if (json_array_size(json_object_get(root, "tools")) > 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: has tools, which stand in front of all messages; only texts "
                         "can be compared",
                         file);

    if (is_told(system)) st = add_content(f, &at, system, err);
    for (size_t i = 0; i < json_array_size(messages) && st == OK; i++) {
        st = add_message(f, file, json_array_get(messages, i), i, err);
    }
    strcpy(f->places[f->request.n_messages].name, "the end");
    return st;
}

enum status request_file_parse(struct request_file *f, const char *bytes, size_t n_bytes,
                               const char *name, struct error *err) {
    json_t *root;
    *f = (struct request_file){0};
    enum status st = data_document(&root, bytes, n_bytes, LIMIT_BODY_BYTES, name, err);
    if (st != OK) return st;

    f->document = root;
    f->messages = calloc(LIMIT_AUDIT_BLOCKS, sizeof(*f->messages));
    f->marks = calloc(LIMIT_AUDIT_BLOCKS, sizeof(*f->marks));
    f->places = calloc(LIMIT_AUDIT_BLOCKS + 1, sizeof(*f->places));
    if (!f->messages || !f->marks || !f->places) {
        st = error_set(err, ERR_MEMORY, "%s: no memory for it", name);
    } else {
        f->request = (struct audit_request){.messages = f->messages, .marks = f->marks};
        st = read_body(f, name, err);
    }
    if (st != OK) request_file_close(f);
    return st;
}

enum status request_file_open(struct request_file *f, const char *path, struct error *err) {
    struct mapped_file file;
    *f = (struct request_file){0};
    enum status st = mapped_file_open(&file, path, err);
    if (st != OK) return st;
    st = request_file_parse(f, file.bytes ? (const char *)file.bytes : "", file.n_bytes,
                            error_path(path), err);
    mapped_file_close(&file);
    return st;
}

void request_file_close(struct request_file *f) {
    free(f->messages);
    free(f->marks);
    free(f->places);
    json_decref(f->document);
    *f = (struct request_file){0};
}
