// Writes the logits of every position of a token sequence to standard output, as raw f32, so that a
// reference in another language can judge them.
//
//   logits [--rows N] MODEL id id id ...    ──▶    (n_tokens, n_vocab) f32
//
// N tokens are fed in a step, else as many as a step may have.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/engine/sequence.h"

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

struct prompt {
    const token_id *tokens; // (n_tokens)
    int n_tokens, n_rows;   // n_rows at most in a step
};

static enum status logits_write(struct sequence *s, const struct prompt *p, int n_vocab,
                                struct error *err) {
    for (int done = 0; done < p->n_tokens;) {
        int n = p->n_tokens - done < p->n_rows ? p->n_tokens - done : p->n_rows;
        sequence_feed(s, p->tokens + done, n, n);
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

static enum status run(const char *file, char **words, int n_tokens, int n_rows,
                       struct error *err) {
    struct arena arena;
    struct team team = {0};
    struct model model = {0};
    struct sequence sequence;
    struct run_limits limits = {n_rows, n_rows, N_WORKERS, n_tokens};
    enum status st;

    arena_init(&arena, SIZE_MAX);
    token_id *tokens = ARENA_NEW(&arena, token_id, n_tokens);
    st = tokens ? OK : error_set(err, ERR_MEMORY, "no memory for %d tokens", n_tokens);
    struct prompt prompt = {tokens, n_tokens, n_rows};
    if (st == OK) st = model_open(&model, file, NULL, err);
    if (st == OK) st = tokens_read(tokens, words, n_tokens, model.config.n_vocab, err);
    if (st == OK) st = team_open(&team, &arena, N_WORKERS, err);
    if (st == OK)
        st = sequence_init(&sequence, &ops_plain, &model, limits, &team, &arena, err);
    if (st == OK) st = logits_write(&sequence, &prompt, model.config.n_vocab, err);
    team_close(&team);
    model_close(&model);
    arena_free(&arena);
    return st;
}

int main(int argc, char **argv) {
    struct error err;
    int i_file = 1, n_rows = LIMIT_STEP_ROWS;

    if (argc > 3 && strcmp(argv[1], "--rows") == 0) {
        n_rows = atoi(argv[2]);
        i_file = 3;
    }
    if (argc < i_file + 2 || n_rows < 1 || n_rows > LIMIT_STEP_ROWS) {
        fprintf(stderr, "usage: logits [--rows N] MODEL id id id ...\n");
        return 2;
    }
    if (run(argv[i_file], argv + i_file + 1, argc - i_file - 1, n_rows, &err) == OK)
        return 0;
    fprintf(stderr, "logits: %s\n", err.text);
    return 1;
}
