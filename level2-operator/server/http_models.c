// Model objects in JSON. max_model_len is an addition that many clients of local servers read.
#include "level2-operator/server/http_models.h"

#include <jansson.h>
#include <string.h>

static json_t *model_object(const struct served *served) {
    return json_pack("{s:s, s:s, s:I, s:s, s:i}", "id", served->id, "object", "model",
                     "created", (json_int_t)served->created_s, "owned_by", "local",
                     "max_model_len", engine_context(served->engine));
}

static char *dump(json_t *value, size_t *n_bytes) {
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (text) *n_bytes = strlen(text);
    return text;
}

char *http_models_list(const struct served *served, size_t *n_bytes) {
    return dump(json_pack("{s:s, s:[o]}", "object", "list", "data", model_object(served)),
                n_bytes);
}

char *http_models_one(const struct served *served, size_t *n_bytes) {
    return dump(model_object(served), n_bytes);
}

static json_t *row_object(const struct http_model_row *row) {
    json_t *object = row->served
                         ? model_object(row->served)
                         : json_pack("{s:s?, s:s}", "id", row->id, "object", "model");
    if (!object) return NULL;
    json_t *more = json_pack("{s:s, s:i}", "state", row->state, "requests", row->n_holders);
    int failed = more ? json_object_update(object, more) : -1;
    json_decref(more);
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

char *http_models_states(const struct http_model_row *rows, int n_rows, size_t *n_bytes) {
    json_t *data = json_array();
    for (int i = 0; data && i < n_rows; i++) {
        if (json_array_append_new(data, row_object(&rows[i])) == 0) continue;
        json_decref(data);
        data = NULL;
    }
    return dump(data ? json_pack("{s:s, s:o}", "object", "list", "data", data) : NULL,
                n_bytes);
}
