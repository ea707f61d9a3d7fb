// Filters by name.
#include "level2-operator/template/template_filter.h"

#include "level2-operator/template/template_render.h"

static const struct filter *find_in(const struct filter *table, struct text name) {
    for (; table->name; table++)
        if (text_is(name, table->name)) return table;
    return NULL;
}

const struct filter *filter_find(struct text name) {
    const struct filter *found = find_in(text_filters, name);
    return found ? found : find_in(list_filters, name);
}

struct value filter_run(struct render *r, const struct filter *filter, struct value in,
                        const struct arguments *a) {
    struct value arg[MAX_ARGUMENTS];
    if (r->st) return value_none();
    if (!filter->parameters) return filter->run(r, in, NULL, a);
    if (!arguments_bind(r, a, filter->name, filter->parameters, arg)) return value_none();
    return filter->run(r, in, arg, a);
}
