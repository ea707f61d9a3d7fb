#include "tests/support/parsed_request.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

enum status parse_body(struct parsed *f, enum route route, const char *body) {
    static const struct log silent;
    memset(f, 0, sizeof(*f));
    f->model.n_vocab = N_VOCAB;
    arena_init(&f->arena, ARENA_BYTES);
    return api_request_parse(&f->r, route, body, strlen(body), &f->model, &silent,
                             &f->arena, &f->err);
}

enum status parse_fields(struct parsed *f, enum route route, const char *fields) {
    static const char chat[] = "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]";
    static const char legacy[] = "\"prompt\":\"hi\"";
    char body[4096];
    const char *rest = route == ROUTE_CHAT ? chat : legacy;
    snprintf(body, sizeof(body), "{\"model\":\"m\",%s%s%s}", rest, *fields ? "," : "",
             fields);
    return parse_body(f, route, body);
}

void close_parsed(struct parsed *f) {
    api_request_free(&f->r);
    arena_free(&f->arena);
}

void check_refusal(const struct refusal *refusal) {
    struct parsed f;
    enum status st = parse_fields(&f, refusal->route, refusal->fields);
    ck_assert_msg(st == refusal->want, "%s: %s", refusal->fields, status_name(st));
    ck_assert_str_eq(f.err.param, refusal->param);
    ck_assert_ptr_nonnull(strstr(f.err.text, refusal->param));
    ck_assert_ptr_null(f.r.body);
    close_parsed(&f);
}
