// One small function for each command.
#include "level1-user/session_command.h"

#include <stdio.h>
#include <string.h>

#include "level1-user/audit_report.h"
#include "level1-user/conversation_file.h"
#include "level1-user/question.h"
#include "level1-user/slash_command.h"

static enum status take_system(struct session *s, const char *path, struct error *err) {
    enum status st = text_from_file(&s->system, path, err);
    if (st != OK) return st;
    if (s->system.n == 0)
        fputs("no system message from now on\n", stderr);
    else
        fprintf(stderr, "a system message of %zu bytes from now on\n", s->system.n);
    prompt_watch_system(stderr, text_string(&s->system));
    s->budget.n_found = 0;
    return OK;
}

static enum status save(const struct session *s, const char *path, struct error *err) {
    enum status st = conversation_save(&s->conversation, text_string(&s->system),
                                       s->request.model, path, err);
    if (st == OK) fprintf(stderr, "saved %d messages\n", s->conversation.n_messages);
    return st;
}

static enum status load(struct session *s, const char *path, struct error *err) {
    enum status st = conversation_load(&s->conversation, &s->system, path, err);
    if (st != OK) return st;
    fprintf(stderr, "loaded %d messages%s\n", s->conversation.n_messages,
            s->system.n > 0 ? " and a system message" : "");
    prompt_watch_forget(&s->watch);
    s->budget.n_found = 0;
    return OK;
}

static enum status audit(const struct session *s, struct error *err) {
    struct request_file first = {0}, second = {0};
    struct cache_rules rules = {0};

    if (!s->bodies[0])
        return error_set(err, ERR_STATE, "an audit needs two questions that were answered");
    enum status st = request_file_parse(&first, s->bodies[0], strlen(s->bodies[0]),
                                        "the request before the last", err);
    if (st == OK)
        st = request_file_parse(&second, s->bodies[1], strlen(s->bodies[1]),
                                "the last request", err);
    if (st == OK) st = cache_rules_open(&rules, s->rules, err);
    if (st == OK) audit_report_print(stderr, &first, &second, &rules, &s->estimate);
    cache_rules_close(&rules);
    request_file_close(&second);
    request_file_close(&first);
    return st;
}

static enum status obey(struct session *s, const struct slash_command *c,
                        struct error *err) {
    switch (c->kind) {
    case SLASH_SYSTEM:
        return take_system(s, c->file, err);
    case SLASH_SAVE:
        return save(s, c->file, err);
    case SLASH_LOAD:
        return load(s, c->file, err);
    case SLASH_AUDIT:
        return audit(s, err);
    case SLASH_NEW:
        conversation_cut(&s->conversation, 0);
        return OK;
    case SLASH_STATS:
        account_print_stats(stderr, &s->account);
        return OK;
    case SLASH_COST:
        account_print_cost(stderr, &s->account);
        return OK;
    default:
        slash_print_help(stderr);
        return OK;
    }
}

bool session_command(struct session *s, const char *line) {
    struct slash_command command;
    struct error err = {0};

    enum status st = slash_parse(&command, line, &err);
    bool is_known = st == OK;
    if (is_known && command.kind == SLASH_QUIT) return false;
    if (is_known) st = obey(s, &command, &err);
    if (st != OK) fprintf(stderr, "ask: %s\n", err.text);
    if (!is_known) slash_print_help(stderr);
    return true;
}
