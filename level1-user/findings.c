// One section after the other.
#include "level1-user/findings.h"

#include <stdlib.h>

#include "level1-user/bars.h"
#include "level1-user/bars_picture.h"

void findings_print(FILE *out, const struct findings *f) {
    if (f->has_statement) {
        statement_print(out, &f->statement);
        fputs("\n", out);
        bars_print(out, &f->statement);
    } else {
        workload_print(out, &f->work);
    }
    if (f->has_offers) {
        fputs("\n", out);
        offers_print(out, &f->offers);
    }
    if (f->has_what_if) {
        fputs("\n", out);
        what_if_print(out, &f->what_if);
    }
    if (f->has_own) {
        fputs("\n", out);
        own_machine_print(out, &f->own);
    }
}

// NULL: no memory.
static json_t *document_of(const struct findings *f) {
    json_t *root = f->has_statement ? statement_json(&f->statement) : json_object();
    bool is_whole = root != NULL;
    if (is_whole && f->has_offers)
        is_whole = json_object_set_new(root, "models", offers_json(&f->offers)) == 0;
    if (is_whole && f->has_what_if)
        is_whole = json_object_set_new(root, "what_if", what_if_json(&f->what_if)) == 0;
    if (is_whole && f->has_own)
        is_whole = json_object_set_new(root, "own", own_machine_json(&f->own)) == 0;
    if (is_whole) return root;
    json_decref(root);
    return NULL;
}

enum status findings_print_json(FILE *out, const struct findings *f, struct error *err) {
    json_t *root = document_of(f);
    char *document = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!document) return error_set(err, ERR_MEMORY, "no memory for the JSON output");
    fprintf(out, "%s\n", document);
    free(document);
    return OK;
}

enum status findings_draw(const struct findings *f, const char *path, struct error *err) {
    struct picture picture;
    enum status st = bars_picture(&picture, &f->statement, err);
    if (st != OK) return st;
    st = picture_write_png(&picture, path, err);
    picture_free(&picture);
    return st;
}

void findings_close(struct findings *f) {
    offers_close(&f->offers);
    gpu_hours_close(&f->rents);
    *f = (struct findings){0};
}
