// All that `bill` has to say of one workload, and the three ways to say it. main_bill.c finds it.
#ifndef LEVEL1_FINDINGS_H
#define LEVEL1_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "level1-user/gpu_hours.h"
#include "level1-user/offers.h"
#include "level1-user/own_machine.h"
#include "level1-user/statement.h"
#include "level1-user/what_if.h"

// Zeroed is empty.
struct findings {
    struct workload work;
    // what was asked for; the others are not shown, though what_if may need them
    bool has_statement, has_offers, has_what_if, has_own;
    // owned
    struct offers offers;
    struct gpu_hours rents;
    // borrowed: from the price list, and own from rents
    struct statement statement;
    struct what_if what_if;
    struct own_machine own;
};

// Tables of at most 80 columns, unless amounts are very long.
void findings_print(FILE *out, const struct findings *f);

// One JSON document. ERR_MEMORY: nothing is printed.
enum status findings_print_json(FILE *out, const struct findings *f, struct error *err);

// The statement's bars as a PNG file at path. Errors as in bars_picture and picture_write_png.
enum status findings_draw(const struct findings *f, const char *path, struct error *err);

void findings_close(struct findings *f); // safe on zeroed ones

#endif
