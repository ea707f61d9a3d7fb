// Each probe isolates one wall: the reader does next to no arithmetic, the product reads next to no
// memory. What a model needs of both is common/cost.h's business.
#include "level3-optimizer/probe.h"

#include "common/read_words.h"
#include "level2-operator/kernels/matmul.h"

enum { PAGE_BYTES = 4096, PAGE_WORDS = PAGE_BYTES / 8 }; // pages of 8 TB fit an int
enum { PROBE_OPS = 400 << 20 }; // of one run: long beside the start of a team
enum { LINE = ARENA_ALIGN / sizeof(float) };

static void read_share(void *arg, struct worker *me) {
    struct read_probe *p = arg;
    const uint64_t *words = (const uint64_t *)(const void *)p->file->bytes;
    struct range mine = team_split(me, (int)(p->file->n_bytes / PAGE_BYTES), 1);
    size_t n_words = (size_t)(mine.end - mine.begin) * PAGE_WORDS;
    p->checksum += read_words(words + (size_t)mine.begin * PAGE_WORDS, n_words);
}

double read_probe_run(void *probe) {
    struct read_probe *p = probe;
    team_run(p->team, read_share, p);
    return (double)(p->file->n_bytes / PAGE_BYTES * PAGE_BYTES);
}

enum status matmul_probe_init(struct matmul_probe *p, const struct weight *w, int n_rows,
                              struct team *team, struct arena *arena, struct error *err) {
    *p = (struct matmul_probe){.weight = *w, .n_rows = n_rows, .team = team};
    if (p->weight.n_out > PROBE_OUT) p->weight.n_out = PROBE_OUT;

    size_t n_in = (size_t)w->n_in, n_out = (size_t)p->weight.n_out, rows = (size_t)n_rows;
    p->x = ARENA_NEW(arena, float, rows *n_in);
    p->y = ARENA_NEW(arena, float, rows *n_out);
    p->row = ARENA_NEW(arena, float, (size_t)team->n_workers *n_in);
    if (!p->x || !p->y || !p->row)
        return error_set(err, ERR_MEMORY, "no memory to measure a product of %d x %d",
                         p->weight.n_out, w->n_in);
    for (size_t i = 0; i < rows * n_in; i++) p->x[i] = 1.0f / (float)(i % 7 + 1);
    return OK;
}

static double ops_of_one(const struct matmul_probe *p) {
    return 2.0 * p->n_rows * p->weight.n_out * p->weight.n_in;
}

static int n_repeats(const struct matmul_probe *p) {
    return 1 + (int)(PROBE_OPS / ops_of_one(p));
}

static void multiply_share(void *arg, struct worker *me) {
    const struct matmul_probe *p = arg;
    struct range mine = team_split(me, p->weight.n_out, LINE);
    float *row = p->row + (long)me->rank * p->weight.n_in;
    for (int i = 0; i < n_repeats(p); i++)
        matmul(p->y, p->x, &p->weight, p->n_rows, mine.begin, mine.end, row);
}

double matmul_probe_run(void *probe) {
    struct matmul_probe *p = probe;
    team_run(p->team, multiply_share, p);
    return n_repeats(p) * ops_of_one(p);
}
