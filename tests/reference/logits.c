// Writes the logits of every position of a token sequence to standard output, as raw f32, so that a
// reference in another language can judge them.
//
//   logits MODEL id id id ...    ──▶    (n_tokens, n_vocab) f32
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/limits.h"
#include "level2-operator/sequence.h"

enum { N_WORKERS = 2 };

static enum status tokens_read(token_id *tokens, char **words, int n, int n_vocab,
                               struct error *err) {
    for (int i = 0; i < n; i++) {
        char *end;
        errno = 0;
        long id = strtol(words[i], &end, 10);
        if (errno || end == words[i] || *end || id < 0 || id >= n_vocab)
            return error_set(err, ERR_INPUT, "%s: not a token id below %d", words[i],
                             n_vocab);
        tokens[i] = (token_id)id;
    }
    return OK;
}

static enum status logits_write(struct sequence *s, const token_id *tokens, int n_tokens,
                                int n_vocab, struct error *err) {
    for (int done = 0; done < n_tokens;) {
        int n = n_tokens - done < LIMIT_STEP_ROWS ? n_tokens - done : LIMIT_STEP_ROWS;
        sequence_feed(s, tokens + done, n, n);
        for (int i = 0; i < n; i++) {
            size_t n_written =
                fwrite(sequence_logits(s, i), sizeof(float), (size_t)n_vocab, stdout);
            if (n_written != (size_t)n_vocab)
                return error_set(err, ERR_IO, "standard output: write failed");
        }
        done += n;
    }
    return OK;
}

static enum status run(int argc, char **argv, struct error *err) {
    struct arena arena;
    struct team team = {0};
    struct model model = {0};
    struct sequence sequence;
    int n_tokens = argc - 2;
    struct run_limits limits = {LIMIT_STEP_ROWS, LIMIT_STEP_ROWS, N_WORKERS, n_tokens};
    enum status st;

    arena_init(&arena, SIZE_MAX);
    token_id *tokens = ARENA_NEW(&arena, token_id, n_tokens);
    st = tokens ? OK : error_set(err, ERR_MEMORY, "no memory for %d tokens", n_tokens);
    if (st == OK) st = model_open(&model, argv[1], NULL, err);
    if (st == OK) st = tokens_read(tokens, argv + 2, n_tokens, model.config.n_vocab, err);
    if (st == OK) st = team_open(&team, &arena, N_WORKERS, err);
    if (st == OK)
        st = sequence_init(&sequence, &ops_plain, &model, limits, &team, &arena, err);
    if (st == OK) st = logits_write(&sequence, tokens, n_tokens, model.config.n_vocab, err);
    team_close(&team);
    model_close(&model);
    arena_free(&arena);
    return st;
}

int main(int argc, char **argv) {
    struct error err;
    if (argc < 3) {
        fprintf(stderr, "usage: logits MODEL id id id ...\n");
        return 2;
    }
    if (run(argc, argv, &err) == OK) return 0;
    fprintf(stderr, "logits: %s\n", err.text);
    return 1;
}
