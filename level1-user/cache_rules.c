// Rules from a file that anyone may have edited: each field is checked, each error says where.
#include "level1-user/cache_rules.h"

#include <jansson.h>
#include <stdlib.h>

#include "common/data_record.h"
#include "common/limits.h"
#include "level1-user/money.h"

enum { MILLIONTHS_PER_MILLE = 1000, MILLIONTHS = 1000000 };

static const char known_fields[] =
    " provider valid_from valid_to min_tokens step_tokens look_back "
    "write_factor read_factor tag source notes ";

// "1.25" to 1250, exactly.
static enum status read_factor(int64_t *per_mille, const struct data_record *at,
                               const char *field, struct error *err) {
    const char *text;
    int64_t millionths = 0;
    enum status st = data_text(&text, at, field, err);
    *per_mille = AUDIT_UNKNOWN;
    if (st != OK || !*text) return st;
    if (!money_parse_price(text, &millionths) || millionths % MILLIONTHS_PER_MILLE != 0 ||
        millionths > (int64_t)LIMIT_CACHE_FACTOR * MILLIONTHS)
        return data_refuse(at, field,
                           "must be a decimal up to 100, such as \"1.25\", with at most 3 "
                           "digits behind the point",
                           err);
    *per_mille = millionths / MILLIONTHS_PER_MILLE;
    return OK;
}

static enum status read_counts(struct audit_rule *rule, const struct data_record *at,
                               struct error *err) {
    static const int64_t not_told = -1;
    int64_t look_back = not_told;
    rule->min_tokens = rule->step_tokens = not_told;
    enum status st =
        data_number(&rule->min_tokens, at, "min_tokens", 0, LIMIT_CONTEXT, err);
    if (st == OK)
        st = data_number(&rule->step_tokens, at, "step_tokens", 1, LIMIT_CONTEXT, err);
    if (st == OK) st = data_number(&look_back, at, "look_back", 0, LIMIT_MESSAGES, err);
    if (st != OK) return st;

    if (rule->min_tokens == not_told)
        return data_refuse(at, "min_tokens", "is missing", err);
    if (rule->step_tokens == not_told)
        return data_refuse(at, "step_tokens", "is missing", err);
    rule->needs_marks = look_back != not_told;
    rule->look_back = rule->needs_marks ? (int)look_back : 0;
    return OK;
}

static enum status read_entry(struct cache_rule *e, const struct data_record *at,
                              struct error *err) {
    enum status st = data_check_fields(at, known_fields, "is not a field of a rule", err);
    if (st == OK) st = data_text(&e->provider, at, "provider", err);
    if (st == OK) st = data_date(&e->valid_from, at, "valid_from", err);
    if (st == OK) st = data_date(&e->valid_to, at, "valid_to", err);
    if (st == OK) st = read_counts(&e->rule, at, err);
    if (st == OK) st = read_factor(&e->rule.write_per_mille, at, "write_factor", err);
    if (st == OK) st = read_factor(&e->rule.read_per_mille, at, "read_factor", err);
    if (st == OK) st = data_text(&e->tag, at, "tag", err);
    if (st == OK) st = data_text(&e->source, at, "source", err);
    if (st == OK) st = data_text(&e->notes, at, "notes", err);
    if (st == OK && !*e->provider) st = data_refuse(at, "provider", "is missing", err);
    return st;
}

static enum status read_entries(struct cache_rules *list, const char *name,
                                struct error *err) {
    const json_t *rules;
    size_t n;
    enum status st =
        data_list(&rules, &n, list->document, "rules", LIMIT_CACHE_RULES, name, err);
    if (st != OK) return st;
    list->entries = calloc(n, sizeof(*list->entries));
    if (!list->entries) return error_set(err, ERR_MEMORY, "%s: no memory for it", name);

    for (size_t i = 0; i < n; i++) {
        const struct data_record at = {name, "rules", i, json_array_get(rules, i)};
        st = read_entry(&list->entries[i], &at, err);
        if (st != OK) return st;
    }
    list->n_entries = (int)n;
    return OK;
}

// Takes the document over. After a failure the list is closed.
static enum status take(struct cache_rules *list, json_t *root, const char *name,
                        struct error *err) {
    list->document = root;
    enum status st = read_entries(list, name, err);
    if (st != OK) cache_rules_close(list);
    return st;
}

enum status cache_rules_parse(struct cache_rules *list, const char *bytes, size_t n_bytes,
                              const char *name, struct error *err) {
    json_t *root;
    *list = (struct cache_rules){0};
    enum status st = data_document(&root, bytes, n_bytes, LIMIT_RULE_BYTES, name, err);
    return st == OK ? take(list, root, name, err) : st;
}

enum status cache_rules_open(struct cache_rules *list, const char *path,
                             struct error *err) {
    json_t *root;
    *list = (struct cache_rules){0};
    enum status st = data_document_open(&root, path, LIMIT_RULE_BYTES, err);
    return st == OK ? take(list, root, error_path(path), err) : st;
}

void cache_rules_close(struct cache_rules *list) {
    free(list->entries);
    json_decref(list->document);
    *list = (struct cache_rules){0};
}
