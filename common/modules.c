// One walk along the list, and what is printed of it.
#include "common/modules.h"

#include <stdbool.h>
#include <string.h>

#ifndef MODULES
#define MODULES "" // built without a course around it
#endif

enum { COLUMNS = 80 };

struct module {
    const char *id; // n_id bytes of the list
    int n_id;
    bool is_yours;
};

// Takes the next module off the list; false at its end.
static bool next_module(const char **list, struct module *m) {
    const char *word = *list + strspn(*list, " ");
    int n = (int)strcspn(word, " ");

    *list = word + n;
    m->is_yours = n > 0 && word[n - 1] == '*';
    m->id = word;
    m->n_id = n - m->is_yours;
    return n > 0;
}

const char *modules_linked(void) {
    return MODULES;
}

struct modules_count modules_count(const char *list) {
    struct modules_count count = {0};
    struct module m;

    while (next_module(&list, &m)) {
        count.n_yours += m.is_yours;
        count.n_reference += !m.is_yours;
    }
    return count;
}

void modules_print_count(FILE *out, const char *list) {
    struct modules_count n = modules_count(list);

    if (n.n_yours + n.n_reference == 0) return;
    fprintf(out, "modules: %d yours, %d reference\n", n.n_yours, n.n_reference);
}

void modules_print_yours(FILE *out, const char *list) {
    static const char title[] = "yours:";
    int indent = (int)strlen(title), column = 0;
    struct module m;

    while (next_module(&list, &m)) {
        if (!m.is_yours) continue;
        if (column == 0) {
            column = fprintf(out, "%s", title);
        } else if (column + (int)strlen(", ") + m.n_id < COLUMNS) { // and the next comma
            column += fprintf(out, ",");
        } else {
            column = fprintf(out, ",\n%*s", indent, "") - (int)strlen(",\n");
        }
        column += fprintf(out, " %.*s", m.n_id, m.id);
    }
    if (column > 0) fprintf(out, "\n");
}
