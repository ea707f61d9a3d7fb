// Encodes a text again and again and prints how long each time took, in nanoseconds of this thread on a
// core, one per line: who else uses the machine does not count. Each time starts cold: nothing is
// remembered between two texts.
//
//   encode_speed MODEL TEXT N    ──▶    n_ids, then N times
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/mapped_file.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

static const size_t arena_limit = (size_t)4 << 30; // bytes

struct session {
    struct mapped_file model, text;
    struct arena arena, scratch;
    struct gguf gguf;
    struct tokenizer tokenizer;
};

static enum status session_open(struct session *s, const char *model, const char *text,
                                struct error *err) {
    enum status st;
    arena_init(&s->arena, arena_limit);
    arena_init(&s->scratch, arena_limit);
    if ((st = mapped_file_open(&s->model, model, err)) != OK) return st;
    if ((st = mapped_file_open(&s->text, text, err)) != OK) return st;
    st = gguf_parse(&s->gguf, s->model.bytes, s->model.n_bytes, model, &s->arena, err);
    if (st != OK) return st;
    return tokenizer_from_gguf(&s->tokenizer, &s->gguf, NULL, model, &s->arena, err);
}

static long long core_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static enum status measure(struct session *s, int n_times, struct error *err) {
    const struct tokenizer *t = &s->tokenizer;
    size_t n_bytes = s->text.n_bytes;
    token_id *ids = ARENA_NEW(&s->arena, token_id, tokenizer_max_ids(t, n_bytes));
    if (!ids)
        return error_set(err, ERR_MEMORY, "no memory for the ids of %zu bytes", n_bytes);
    for (int i = 0; i < n_times; i++) {
        int n_ids;
        arena_reset(&s->scratch);
        long long start = core_ns();
        enum status st = tokenizer_encode(t, (const char *)s->text.bytes, n_bytes, NULL, 0,
                                          0, ids, &n_ids, &s->scratch, err);
        if (st != OK) return st;
        long long end = core_ns();
        if (i == 0) printf("%d\n", n_ids);
        printf("%lld\n", end - start);
    }
    return OK;
}

int main(int argc, char **argv) {
    struct session s = {0};
    struct error err = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: encode_speed MODEL TEXT N\n");
        return 2;
    }
    enum status st = session_open(&s, argv[1], argv[2], &err);
    if (st == OK) st = measure(&s, atoi(argv[3]), &err);
    if (st != OK) fprintf(stderr, "encode_speed: %s\n", err.text);
    arena_free(&s.scratch);
    arena_free(&s.arena);
    mapped_file_close(&s.text);
    mapped_file_close(&s.model);
    return st == OK ? 0 : 1;
}
