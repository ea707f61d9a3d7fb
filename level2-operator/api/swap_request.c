// From JSON to a path that may be opened.
#include "level2-operator/api/swap_request.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/service/model_id.h"
#include "level2-operator/service/model_path.h"
#include "level2-operator/text/json_input.h"

static enum status check_names(const struct json_input *in, struct error *err) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)in->object, name, value) {
        if (strcmp(name, "path") == 0 || strcmp(name, "id") == 0) continue;
        return error_set_param(err, ERR_INPUT, name,
                               "%.40s is not a field of this path; path and id are", name);
    }
    return OK;
}

static enum status read_fields(struct swap_request *r, const struct json_input *in,
                               const char *dir, struct error *err) {
    const char *path = NULL, *id = NULL;
    size_t n_path, n_id;
    char what[96];

    enum status st = check_names(in, err);
    if (!st) st = json_input_string(&path, &n_path, in, "path", err);
    if (!st) st = json_input_string(&id, &n_id, in, "id", err);
    if (!st && !path)
        st = json_input_refuse(in, "path", ERR_INPUT, "must be given: a file", err);
    if (!st) st = model_path_below(r->path, sizeof(r->path), dir, path, err);
    if (st || model_id_make(r->id, sizeof(r->id), path, id)) return st;
    snprintf(what, sizeof(what), "must be a text of 1 to %zu bytes", sizeof(r->id) - 1);
    return json_input_refuse(in, "id", ERR_INPUT, what, err);
}

enum status swap_request_parse(struct swap_request *r, const char *body, size_t n_body,
                               const char *dir, struct error *err) {
    json_t *value;

    memset(r, 0, sizeof(*r));
    if (n_body > LIMIT_ADMIN_BYTES)
        return error_set(err, ERR_LIMIT, "the body has %zu bytes; this path takes up to %d",
                         n_body, LIMIT_ADMIN_BYTES);
    enum status st = json_input_parse(&value, body, n_body, err);
    if (st) return st;
    const struct json_input in = {value, ""};
    st = read_fields(r, &in, dir, err);
    json_decref(value);
    return st;
}
