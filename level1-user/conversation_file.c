// Reading checks everything before it touches anything; writing replaces a file in one step.
#include "level1-user/conversation_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/data_record.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/utf8.h"

enum { VERSION = 1 };

static enum status no_memory(struct error *err) {
    return error_set(err, ERR_MEMORY, "no memory for the conversation");
}

static const char *bytes_of(const struct mapped_file *file) {
    return file->n_bytes > 0 ? (const char *)file->bytes : "";
}

// ---- reading ------------------------------------------------------------------------------------

// *root is the caller's to json_decref; NULL on failure.
static enum status parse_document(json_t **root, const char *bytes, size_t n_bytes,
                                  const char *name, struct error *err) {
    enum status st = data_document(root, bytes, n_bytes, LIMIT_BODY_BYTES, name, err);
    if (st != OK) return st;

    const json_t *version = json_object_get(*root, "version");
    if (!json_is_integer(version) || !json_is_array(json_object_get(*root, "messages"))) {
        st = error_set(err, ERR_FORMAT, "%s: not a conversation that ask has saved", name);
    } else if (json_integer_value(version) != VERSION) {
        st = error_set(err, ERR_UNSUPPORTED,
                       "%s: a conversation of version %" JSON_INTEGER_FORMAT
                       "; only %d is known here",
                       name, json_integer_value(version), VERSION);
    }
    if (st == OK) return OK;
    json_decref(*root);
    *root = NULL;
    return st;
}

// Roles are compared, and literals kept: the document's own go away with it.
static const char *known_role(const json_t *role) {
    static const char *const roles[] = {"user", "assistant", "system"};
    const char *name = json_string_value(role);
    for (int i = 0; name && i < 3; i++) {
        if (strcmp(roles[i], name) == 0) return roles[i];
    }
    return NULL;
}

// i: its place in the list; only the first may be the system's.
static enum status take_message(struct conversation *said, struct text *system,
                                const json_t *message, size_t i, const char *name,
                                struct error *err) {
    const char *role = known_role(json_object_get(message, "role"));
    const char *text = json_string_value(json_object_get(message, "content"));

    if (!role)
        return error_set(err, ERR_FORMAT,
                         "%s: messages[%zu].role is not system, user or assistant", name,
                         i);
    if (!text)
        return error_set(err, ERR_FORMAT, "%s: messages[%zu].content is no text", name, i);
    if (strcmp(role, "system") != 0) return conversation_add(said, role, text, err);
    if (i > 0)
        return error_set(err, ERR_FORMAT,
                         "%s: messages[%zu] is a system message, not the first", name, i);
    return text_append(system, text, strlen(text)) ? OK : no_memory(err);
}

enum status conversation_parse(struct conversation *said, struct text *system,
                               const char *bytes, size_t n_bytes, const char *name,
                               struct error *err) {
    struct conversation new_said = {0};
    struct text new_system = {0};
    json_t *root;

    enum status st = parse_document(&root, bytes, n_bytes, name, err);
    const json_t *messages = json_object_get(root, "messages");
    for (size_t i = 0; st == OK && i < json_array_size(messages); i++) {
        st =
            take_message(&new_said, &new_system, json_array_get(messages, i), i, name, err);
    }
    json_decref(root);
    if (st != OK) {
        conversation_free(&new_said);
        text_free(&new_system);
        return st;
    }
    conversation_free(said);
    text_free(system);
    *said = new_said;
    *system = new_system;
    return OK;
}

enum status conversation_load(struct conversation *said, struct text *system,
                              const char *path, struct error *err) {
    struct mapped_file file = {0};

    enum status st = mapped_file_open(&file, path, err);
    if (st != OK) return st;
    st = conversation_parse(said, system, bytes_of(&file), file.n_bytes, error_path(path),
                            err);
    mapped_file_close(&file);
    return st;
}

// ---- writing ------------------------------------------------------------------------------------

// Jansson passes a failure on, as in request.c.
static bool append(json_t *messages, const char *role, const char *text) {
    json_t *message = json_pack("{s:s, s:s}", "role", role, "content", text);
    return json_array_append_new(messages, message) == 0;
}

// NULL: no memory.
static char *document_of(const struct conversation *said, const char *system,
                         const char *model) {
    char *document = NULL;
    json_t *messages = json_array();
    bool is_whole = messages && (!*system || append(messages, "system", system));

    for (int i = 0; is_whole && i < said->n_messages; i++) {
        is_whole = append(messages, said->messages[i].role, said->messages[i].text);
    }
    json_t *root = is_whole ? json_pack("{s:i, s:s, s:O}", "version", VERSION, "model",
                                        model, "messages", messages)
                            : NULL;
    if (root) document = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    json_decref(messages);
    return document;
}

// A wrong name must not cost somebody a file. An empty one is nobody's loss.
static enum status check_target(const char *path, struct error *err) {
    struct mapped_file file = {0};
    struct error why = {0};
    struct stat there;
    json_t *root;

    if (stat(path, &there) != 0) return OK;
    enum status st = mapped_file_open(&file, path, &why);
    if (st == OK && file.n_bytes > 0) {
        st = parse_document(&root, bytes_of(&file), file.n_bytes, path, &why);
        json_decref(root);
    }
    mapped_file_close(&file);
    if (st == OK || st == ERR_UNSUPPORTED) return OK; // a later version of us wrote it
    if (st == ERR_MEMORY) return no_memory(err);
    return error_set(err, ERR_INPUT,
                     "%s: is there already, and no saved conversation; it stays as it is",
                     error_path(path));
}

// Closes descriptor in each case.
static bool write_all(int descriptor, const char *text) {
    size_t n = strlen(text), n_written = 0;
    while (n_written < n) {
        ssize_t k = write(descriptor, text + n_written, n - n_written);
        if (k < 0 && errno != EINTR) break;
        if (k > 0) n_written += (size_t)k;
    }
    bool is_written = n_written == n && fsync(descriptor) == 0;
    int why = errno;
    is_written &= close(descriptor) == 0;
    if (n_written < n) errno = why;
    return is_written;
}

// Under another name first: who is interrupted here still has the old file.
static enum status replace(const char *path, const char *text, struct error *err) {
    static const char tail[] = ".XXXXXX"; // mkstemp fills it in
    size_t n = strlen(path);
    char *beside = malloc(n + sizeof(tail));
    if (!beside) return no_memory(err);
    memcpy(beside, path, n);
    memcpy(beside + n, tail, sizeof(tail));

    int descriptor = mkstemp(beside);
    bool is_there =
        descriptor >= 0 && write_all(descriptor, text) && rename(beside, path) == 0;
    enum status st = OK;
    if (!is_there) st = error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    if (!is_there && descriptor >= 0) unlink(beside);
    free(beside);
    return st;
}

enum status conversation_save(const struct conversation *said, const char *system,
                              const char *model, const char *path, struct error *err) {
    if (!utf8_valid(system, strlen(system)) || !utf8_valid(model, strlen(model)))
        return error_set(err, ERR_INPUT, "the system message or the model is not UTF-8");
    enum status st = check_target(path, err);
    if (st != OK) return st;
    char *document = document_of(said, system, model);
    if (!document) return no_memory(err);
    st = replace(path, document, err);
    free(document);
    return st;
}
