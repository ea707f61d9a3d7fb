// Question, answer, figures; and again.
#include "level1-user/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/utf8.h"
#include "level1-user/hidden.h"
#include "level1-user/line_editor.h"
#include "level1-user/session_body.h"
#include "level1-user/session_budget.h"
#include "level1-user/session_command.h"
#include "level1-user/slash_command.h"
#include "level1-user/summary.h"

// A model's text could move the cursor or rename the window; on a terminal only lines and tabs may.
static void show_text(void *ctx, const char *bytes, size_t n_bytes) {
    struct session *session = ctx;
    bool is_terminal = isatty(STDOUT_FILENO);
    for (size_t n_used; n_bytes > 0; bytes += n_used, n_bytes -= n_used) {
        int32_t c = utf8_next(bytes, n_bytes, &n_used);
        bool is_harmless = !utf8_is_control(c) || c == '\n' || c == '\t';
        if (is_terminal && !is_harmless)
            putchar('?');
        else
            fwrite(bytes, 1, n_used, stdout);
    }
    if (fflush(stdout) != 0)
        *session->interrupted = 1; // nobody reads on: let the server stop too
}

// The option that ended the answer, if it was that.
static const char *bound_of(const struct session *session, const struct reply *r) {
    const struct chat_request *asked = &session->request;
    bool is_ours = r->n_choices > 0 && strcmp(r->choices[0].finish_reason, "length") == 0 &&
                   r->usage.completion_tokens == asked->max_tokens;
    if (!is_ours) return "";
    return asked->is_completion_bound ? " (--max-completion-tokens)" : " (--max-tokens)";
}

static void print_status(const struct session *session, const struct summary *s,
                         const struct reply *r) {
    char line[256], cost[256];
    bool is_dim = cli_wants_colour(stderr);

    summary_line(line, sizeof(line), s, r);
    account_line(cost, sizeof(cost), &session->account);
    if (!*line && !*cost) return;
    fprintf(stderr, "%s%s%s%s%s%s\n", is_dim ? "\033[2m" : "", line, bound_of(session, r),
            *line && *cost ? ", " : "", cost, is_dim ? "\033[0m" : "");
}

static void print_wait(void *ctx, const struct attempts_wait *w) {
    (void)ctx;
    fprintf(stderr, "ask: %s (again in %.1f s%s: try %d of %d)\n", w->failure,
            (double)w->wait_ns / 1e9, w->is_told ? ", as the server asks" : "", w->next_try,
            w->max_tries);
}

static enum status print_json(const struct session *session, struct summary *s,
                              const struct reply *r, const char *failure,
                              struct error *err) {
    const struct account *a = &session->account;
    char cost[MONEY_TEXT_BYTES];

    s->has_price = a->price != NULL;
    if (a->n_answers > 0 && a->cost_is_known) {
        money_text(cost, a->bill.total, MONEY_PLACES);
        s->cost_usd = cost;
    }
    char *document = summary_json(s, r, failure);
    if (!document) return error_set(err, ERR_MEMORY, "no memory for the JSON document");
    puts(document);
    free(document);
    return OK;
}

// Prints what there is to print after the text itself.
static enum status end_answer(struct session *session, const struct client_call *call,
                              enum status st, struct error *err) {
    const struct reply *r = call->reply;
    struct summary s = summary_of(r, call->start_ns);
    const char *text = reply_text(r);
    size_t n_text = r->n_choices > 0 ? r->choices[0].text.n : 0;

    bool is_paid = st == OK || n_text > 0; // a refusal, too

    if (is_paid) {
        account_add(&session->account, &s, &r->usage);
        session_budget_learn(session, &r->usage);
    }
    if (st == OK && n_text == 0 && r->n_choices > 0 && r->choices[0].refusal.n > 0) {
        st = error_set(err, ERR_INPUT, "the model refuses: %s",
                       text_string(&r->choices[0].refusal));
        hide_secret(err->text, session->attempts.client->api_key);
    }
    if (session->wants_json) {
        enum status printed = print_json(session, &s, r, st == OK ? NULL : err->text, err);
        if (st == OK) st = printed;
    } else {
        if (n_text > 0 && text[n_text - 1] != '\n') putchar('\n');
        fflush(stdout);
        if (is_paid) print_status(session, &s, r);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        st = error_set(err, ERR_IO, "standard output: cannot write the answer");
    }
    return st;
}

// Everything in front of sending: what has to go, what is said of the prompt, and its bytes.
static enum status prepare(char **body, struct session *s, const char *question,
                           struct error *err) {
    const struct conversation *said = &s->conversation;
    enum status st = session_budget_fit(s, question, err);
    if (st == OK)
        st = prompt_watch_request(&s->watch, stderr, text_string(&s->system),
                                  said->messages, said->n_messages, question, err);
    if (st == OK) st = session_body(body, s, &s->request, said->n_messages, question, err);
    return st;
}

// A question and its answer join the history together, or not at all.
static enum status remember(struct conversation *said, const char *question,
                            const char *answer, struct error *err) {
    int n_before = said->n_messages;
    enum status st = conversation_add(said, "user", question, err);
    if (st == OK) st = conversation_add(said, "assistant", answer, err);
    if (st != OK) conversation_cut(said, n_before);
    return st;
}

// The two requests that /audit compares.
static void keep_body(struct session *session, char *body) {
    free(session->bodies[0]);
    session->bodies[0] = session->bodies[1];
    session->bodies[1] = body;
}

enum status session_ask(struct session *session, const char *question, struct error *err) {
    struct reply reply;
    struct client_call call = {.reply = &reply, .cancelled = session->interrupted};
    char *body = NULL;

    reply_init(&reply);
    *session->interrupted = 0;
    session->attempts.on_wait = print_wait;
    enum status st = prepare(&body, session, question, err);
    if (st == OK) {
        call.body = body;
        call.on_text = session->wants_json ? NULL : show_text;
        call.ctx = session;
        st = attempts_chat(&session->attempts, &call, err);
        st = end_answer(session, &call, st, err);
    }
    if (*reply_text(&reply)) {
        enum status kept =
            remember(&session->conversation, question, reply_text(&reply), err);
        if (st == OK) st = kept;
        keep_body(session, body);
        body = NULL;
    }
    free(body);
    reply_free(&reply);
    return st;
}

enum status session_converse(struct session *session, struct error *err) {
    struct line_editor editor = {0};
    enum line_end end;
    const char *line;

    enum status st = line_editor_open(&editor, err);
    if (st != OK) return st;
    fprintf(stderr, "talking to %s at %s (/help lists the commands)\n",
            session->request.model, session->attempts.client->where);

    while ((end = line_editor_read(&editor, &line)) != LINE_CLOSED) {
        if (end == LINE_INTERRUPTED || *line == '\0') continue;
        if (slash_is_command(line)) {
            if (!session_command(session, line)) break;
        } else if (session_ask(session, line, err) != OK) {
            fprintf(stderr, "ask: %s\n", err->text); // and the conversation goes on
        }
    }
    line_editor_close(&editor);
    return OK;
}

void session_free(struct session *session) {
    conversation_free(&session->conversation);
    text_free(&session->system);
    prompt_watch_free(&session->watch);
    for (int i = 0; i < 2; i++) {
        free(session->bodies[i]);
        session->bodies[i] = NULL;
    }
}
