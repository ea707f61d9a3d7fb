#include "tests/support/prompt_rig.h"

#include <stdio.h>
#include <string.h>

static const char *const changes[] = {"never", "per user", "per conversation", "per turn"};
static const char *const troubles[] = {"PROMPT_FINE", "PROMPT_CHANGED", "PROMPT_SHUFFLED"};

enum { ARENA_BYTES = 32 << 20, NAME_BYTES = 400 };
static char name[NAME_BYTES]; // what an assertion judges

// ---- what a failing test says -------------------------------------------------------------------

static const char *quoted(char *out, size_t n_out, const char *text) {
    snprintf(out, n_out, strlen(text) > 24 ? "'%.24s...'" : "'%.24s'", text);
    return out;
}

const char *built_from(const struct prompt_input *in, const char *field) {
    int n = snprintf(name, sizeof(name), "prompt_build(");
    for (int i = 0; i < in->n_parts && n < NAME_BYTES / 2; i++) {
        const struct prompt_part *part = &in->parts[i];
        bool is_change = (unsigned)part->change < PROMPT_CHANGE_COUNT;
        n += snprintf(name + n, NAME_BYTES - (size_t)n, "%s%.20s %.10s %s",
                      i > 0 ? ", " : "", part->name, part->role,
                      is_change ? changes[part->change] : "?");
    }
    snprintf(name + n, NAME_BYTES - (size_t)n, "; %d turns): %s", in->n_history, field);
    return name;
}

static const char *compared(const struct pair *p, const char *field) {
    char was[40], is[40];
    int n = snprintf(name, sizeof(name), "prompt_compare(");
    for (int i = 0; i < p->now.n_parts && n < NAME_BYTES / 2; i++) {
        const struct prompt_part *a = &p->before.parts[i], *b = &p->now.parts[i];
        if (strcmp(a->text, b->text) == 0) continue;
        n += snprintf(name + n, NAME_BYTES - (size_t)n, "%.20s %s %s -> %s, ", b->name,
                      changes[b->change], quoted(was, sizeof(was), a->text),
                      quoted(is, sizeof(is), b->text));
    }
    snprintf(name + n, NAME_BYTES - (size_t)n, "%d turns -> %d; shared %s): %s",
             p->before.n_history, p->now.n_history, changes[p->shared], field);
    return name;
}

// ---- judging ------------------------------------------------------------------------------------

static void assert_messages(const struct prompt_input *in, const struct prompt *p,
                            const struct chat_message *want, int n_want) {
    char field[40];
    for (int i = 0; i < n_want && i < p->n_messages; i++) {
        snprintf(field, sizeof(field), "messages[%d].role", i);
        assert_text(built_from(in, field), p->messages[i].role, want[i].role);
        snprintf(field, sizeof(field), "messages[%d].text", i);
        assert_text(built_from(in, field), p->messages[i].text, want[i].text);
    }
    assert_number(built_from(in, "n_messages"), p->n_messages, n_want);
}

void assert_built(const struct prompt_input *in, const struct chat_message *want,
                  int n_want) {
    struct arena arena;
    struct prompt p = {.n_messages = 7}; // what was there before does not matter
    arena_init(&arena, ARENA_BYTES);
    enum status st = prompt_build(&p, in, &arena, NULL);
    assert_text(built_from(in, "status"), status_name(st), status_name(OK));
    assert_messages(in, &p, want, n_want);
    arena_free(&arena);
}

void assert_build_refused(const struct prompt_input *in, enum status want,
                          const char *param) {
    struct arena arena;
    struct prompt p;
    struct error err = {0};
    arena_init(&arena, ARENA_BYTES);
    enum status st = prompt_build(&p, in, &arena, &err);
    assert_text(built_from(in, "status"), status_name(st), status_name(want));
    assert_text(built_from(in, "err.param"), err.param, param);
    arena_free(&arena);
}

void assert_warning(const struct pair *p, const struct prompt_warning *want) {
    static char rubbish[] = "rubbish";
    struct prompt_warning w = {PROMPT_SHUFFLED, rubbish, rubbish, 3, 5};
    enum status st = prompt_compare(&w, &p->before, &p->now, p->shared, NULL);
    assert_text(compared(p, "status"), status_name(st), status_name(OK));
    assert_number(compared(p, "trouble is one of three"), w.trouble < PROMPT_TROUBLE_COUNT,
                  1);
    assert_text(compared(p, "part"), w.part, want->part);
    assert_text(compared(p, "trouble"), troubles[w.trouble], troubles[want->trouble]);
    assert_number(compared(p, "at"), (int64_t)w.at, (int64_t)want->at);
    assert_number(compared(p, "n_spoiled"), (int64_t)w.n_spoiled, (int64_t)want->n_spoiled);
    assert_text(compared(p, "text"), w.text, want->text);
}
