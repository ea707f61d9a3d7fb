// Model objects in JSON. max_model_len is an addition that many clients of local servers read;
// default_sampling is ours.
#include "level2-operator/server/http_models.h"

#include <jansson.h>
#include <string.h>

// What holds where a request does not say, and which of it the model's file says.
static json_t *sampling_object(const struct sampling_defaults *d) {
    json_t *object = json_object(), *from = json_object();
    int failed = 0;
    for (int i = 0; i < SAMPLING_FIELDS; i++) {
        const char *name = sampling_field_name((enum sampling_field)i);
        double x = d->value[i];
        failed |= json_object_set_new(
            object, name, i == SAMPLING_TOP_K ? json_integer((json_int_t)x) : json_real(x));
        if (d->from[i]) failed |= json_object_set_new(from, name, json_string(d->from[i]));
    }
    failed |= json_object_set_new(object, "from", from);
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

static json_t *model_object(const struct served *served) {
    return json_pack("{s:s, s:s, s:I, s:s, s:i, s:o}", "id", served->id, "object", "model",
                     "created", (json_int_t)served->created_s, "owned_by", "local",
                     "max_model_len", engine_context(served->engine), "default_sampling",
                     sampling_object(&served->model->sampling));
}

static char *dump(json_t *value, size_t *n_bytes) {
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(7)) : NULL;
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
