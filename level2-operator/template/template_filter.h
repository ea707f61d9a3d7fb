// What may stand behind a bar: x | trim, x | join(', ').
#ifndef LEVEL2_TEMPLATE_FILTER_H
#define LEVEL2_TEMPLATE_FILTER_H

#include "level2-operator/template/template_text.h"
#include "level2-operator/template/template_value.h"

struct render;
struct arguments;

// arg: the arguments by the parameters' names, see arguments_bind; all: as they were given.
typedef struct value filter_fn(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all);

struct filter {
    const char *name;
    filter_fn *run;
    const char *parameters; // names, a space between; NULL: it reads `all` by itself
};

// The two tables; each ends with a NULL name.
extern const struct filter text_filters[]; // template_filter_text.c: of one value
extern const struct filter list_filters[]; // template_filter_list.c: of many

// NULL: there is none of that name.
const struct filter *filter_find(struct text name);

struct value filter_run(struct render *r, const struct filter *filter, struct value in,
                        const struct arguments *a);

#endif
