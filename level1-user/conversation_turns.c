// Bytes to tokens, messages to turns.
#include "level1-user/conversation_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_SCALE = 16;

static bool begins_turn(const struct conversation *said, int i) {
    return i == 0 || strcmp(said->messages[i].role, "user") == 0;
}

static int64_t estimate(const char *text, const struct token_estimate *by) {
    return *text ? (int64_t)strlen(text) / by->bytes_per_token + by->tokens_per_message : 0;
}

static double factor_of(const struct turn_scale *scale) {
    if (scale->n_estimated <= 0 || scale->n_told <= 0) return 1;
    double factor = (double)scale->n_told / (double)scale->n_estimated;
    return factor > MAX_SCALE ? MAX_SCALE : factor < 1 / MAX_SCALE ? 1 / MAX_SCALE : factor;
}

static void set_right(struct conversation_turns *t, double factor) {
    for (int i = 0; i < t->n_turns; i++) {
        struct budget_turn *turn = &t->turns[i];
        t->n_estimated += turn->n_tokens;
        turn->n_tokens = (int64_t)ceil((double)turn->n_tokens * factor);
        t->n_tokens += turn->n_tokens;
    }
}

enum status conversation_turns_init(struct conversation_turns *t, const char *system,
                                    const struct conversation *said, const char *question,
                                    const struct turn_scale *scale, struct error *err) {
    const struct token_estimate *by = &scale->estimate;
    int n = 0;

    *t = (struct conversation_turns){0};
    t->turns = calloc((size_t)said->n_messages + 2, sizeof(*t->turns));
    if (!t->turns) return error_set(err, ERR_MEMORY, "no memory to count the conversation");
    t->turns[0] = (struct budget_turn){estimate(system, by), true};
    for (int i = 0; i < said->n_messages; i++) {
        if (begins_turn(said, i)) n++;
        t->turns[n].n_tokens += estimate(said->messages[i].text, by);
    }
    t->turns[n + 1].n_tokens = estimate(question, by);
    t->n_turns = n + 2;
    set_right(t, factor_of(scale));
    return OK;
}

void conversation_turns_free(struct conversation_turns *t) {
    free(t->turns);
    *t = (struct conversation_turns){0};
}

int conversation_turn_begin(const struct conversation *said, int turn) {
    int i = 0;
    for (int n = 0; i < said->n_messages; i++) {
        if (begins_turn(said, i) && ++n == turn) break;
    }
    return i;
}
