// Which modules of this program the learner wrote. The build decides: it links a learner's module that
// has passed its suite, else the reference, and leaves the list of what it linked behind when it
// compiles modules.c:
//
//   -DMODULES='"invoice events* reply"'     in the order of the course; a star: the learner's
//
// Without it the list is empty, and an empty list is never printed.
#ifndef COMMON_MODULES_H
#define COMMON_MODULES_H

#include <stdio.h>

struct modules_count {
    int n_yours, n_reference;
};

// The list of this program. The functions below take any other as well.
const char *modules_linked(void);

struct modules_count modules_count(const char *list);

// "modules: 3 yours, 8 reference" and a line end; nothing for an empty list.
void modules_print_count(FILE *out, const char *list);

// "yours: events, rope, rows" and a line end, broken before it gets wider than 80 columns; nothing
// when none is the learner's.
void modules_print_yours(FILE *out, const char *list);

#endif
