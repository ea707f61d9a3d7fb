// What may stand behind `is`.
#ifndef LEVEL2_TEMPLATE_TEST_H
#define LEVEL2_TEMPLATE_TEST_H

#include "level2-operator/template/template_text.h"
#include "level2-operator/template/template_value.h"

struct render;
struct arguments;
struct test;

// NULL: there is none of that name.
const struct test *test_find(struct text name);

bool test_holds(struct render *r, const struct test *test, struct value v,
                const struct arguments *a);

#endif
