// What may not be a prompt is refused here, once, so that whoever builds one can trust it.
#include "level1-user/prompt_input.h"

#include <stdbool.h>
#include <string.h>

#include "common/limits.h"

static enum status check_role(const char *role, const char *whose, struct error *err) {
    static const char *const roles[] = {"system", "user", "assistant"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(role, roles[i]) == 0) return OK;
    }
    return error_set_param(err, ERR_INPUT, whose,
                           "%s: the role %s is not system, user or assistant", whose, role);
}

static enum status check_part(const struct prompt_part *part, struct error *err) {
    // Whatever type the compiler gave the enum, a negative one is no change either.
    if ((unsigned)part->change >= PROMPT_CHANGE_COUNT) {
        return error_set_param(err, ERR_INPUT, part->name,
                               "%s: %d does not say how often it changes", part->name,
                               (int)part->change);
    }
    return check_role(part->role, part->name, err);
}

static enum status check_size(const struct prompt_input *in, struct error *err) {
    if (in->n_parts > LIMIT_PROMPT_PARTS) {
        return error_set_param(err, ERR_LIMIT, "parts", "the prompt has %d parts, above %d",
                               in->n_parts, LIMIT_PROMPT_PARTS);
    }
    if (prompt_input_texts(in) > LIMIT_MESSAGES) {
        return error_set_param(err, ERR_LIMIT, "history",
                               "parts, history and question are %zu texts, above %d",
                               prompt_input_texts(in), LIMIT_MESSAGES);
    }
    size_t n_bytes = prompt_input_bytes(in) - 3 * prompt_input_texts(in);
    if (n_bytes > LIMIT_BODY_BYTES) {
        return error_set(err, ERR_LIMIT, "the prompt has %zu bytes, above %d", n_bytes,
                         LIMIT_BODY_BYTES);
    }
    return OK;
}

enum status prompt_input_check(const struct prompt_input *in, struct error *err) {
    MUST(in->n_parts >= 0 && in->n_history >= 0);
    enum status st = check_size(in, err);
    for (int i = 0; st == OK && i < in->n_parts; i++) st = check_part(&in->parts[i], err);
    for (int t = 0; st == OK && t < in->n_history; t++) {
        st = check_role(in->history[t].role, "history", err);
    }
    if (st == OK && *in->question == '\0') {
        st = error_set_param(err, ERR_INPUT, "question", "the question is empty");
    }
    return st;
}

static bool is_same_part(const struct prompt_part *a, const struct prompt_part *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->role, b->role) == 0 &&
           a->change == b->change;
}

enum status prompt_input_check_pair(const struct prompt_input *before,
                                    const struct prompt_input *now,
                                    enum prompt_change shared, struct error *err) {
    enum status st = prompt_input_check(before, err);
    if (st == OK) st = prompt_input_check(now, err);
    if (st != OK) return st;
    if ((unsigned)shared >= PROMPT_PER_TURN) {
        return error_set_param(err, ERR_INPUT, "shared",
                               "two requests can share what changes never, per user or per "
                               "conversation");
    }
    if (before->n_parts != now->n_parts) {
        return error_set_param(err, ERR_INPUT, "parts", "%d parts before, and now %d",
                               before->n_parts, now->n_parts);
    }
    for (int i = 0; i < now->n_parts; i++) {
        if (is_same_part(&before->parts[i], &now->parts[i])) continue;
        return error_set_param(err, ERR_INPUT, now->parts[i].name,
                               "part %d is %s now and was %s, or its role or its change is "
                               "another",
                               i, now->parts[i].name, before->parts[i].name);
    }
    return OK;
}

size_t prompt_input_texts(const struct prompt_input *in) {
    return (size_t)in->n_parts + (size_t)in->n_history + 1;
}

size_t prompt_input_bytes(const struct prompt_input *in) {
    size_t n = 3 * prompt_input_texts(in); // an empty line in front and the NUL behind
    for (int i = 0; i < in->n_parts; i++) n += strlen(in->parts[i].text);
    for (int t = 0; t < in->n_history; t++) n += strlen(in->history[t].text);
    return n + strlen(in->question);
}
