// Values from JSON, and JSON from values.
#ifndef LEVEL2_TEMPLATE_JSON_H
#define LEVEL2_TEMPLATE_JSON_H

#include <jansson.h>

#include "level2-operator/template/template_render.h"

// false: no memory. Texts are views into json, which must outlive the value, and are not the template's
// own. json may be NULL: none.
bool value_from_json(struct value *v, const json_t *json, struct pool *pool);

// What json.dumps of Python writes. slots: the filter's arguments ensure_ascii, indent, separators,
// sort_keys.
struct value json_filter(struct render *r, struct value v, const struct value *slots);

#endif
