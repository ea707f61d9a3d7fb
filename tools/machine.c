// Measures the machine for `make doctor`: read bandwidth of one thread and of all, and how much
// slower it runs a fixed piece of integer work than the reference machine. Nothing of the project
// is linked, so that it works before anything else does.
//
//   machine THREADS [FACTOR_FILE]
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/read_words.h"

enum {
    MAX_THREADS = 64,
    WORKING_SET = 96 << 20, // bytes: a small model's size
    N_REPEATS = 7,
};

// Seconds of work_integer on the reference machine: a 2-core virtual Intel Xeon (model 207) at
// 2.3 GHz, gcc 12 -O3, median of 7 (printed by this program as "integer work").
static const double REFERENCE_S = 0.0270;

struct slice {
    const uint64_t *words;
    size_t n;
    uint64_t sum;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *slice_read(void *arg) {
    struct slice *s = arg;
    s->sum += read_words(s->words, s->n);
    return NULL;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Median bytes per second of n_threads reading their parts of the working set; 0: no thread.
static double read_bandwidth(const uint64_t *words, int n_threads) {
    double rate[N_REPEATS];
    for (int r = 0; r < N_REPEATS; r++) {
        pthread_t threads[MAX_THREADS];
        struct slice slices[MAX_THREADS];
        size_t n = WORKING_SET / sizeof(uint64_t) / (size_t)n_threads;
        double begin = now_s();
        for (int i = 0; i < n_threads; i++) {
            slices[i] = (struct slice){.words = words + n * (size_t)i, .n = n};
            if (pthread_create(&threads[i], NULL, slice_read, &slices[i])) return 0;
        }
        for (int i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
        rate[r] = (double)n * sizeof(uint64_t) * n_threads / (now_s() - begin);
    }
    qsort(rate, N_REPEATS, sizeof(double), compare_doubles);
    return rate[N_REPEATS / 2];
}

// A dependent chain of multiplications: no cache, no vector unit, no second core helps.
static double work_integer(uint64_t *keep) {
    double seconds[N_REPEATS];
    for (int r = 0; r < N_REPEATS; r++) {
        double begin = now_s();
        uint64_t x = 88172645463325252u + (uint64_t)r;
        for (long i = 0; i < 20 * 1000 * 1000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
        *keep += x;
        seconds[r] = now_s() - begin;
    }
    qsort(seconds, N_REPEATS, sizeof(double), compare_doubles);
    return seconds[N_REPEATS / 2];
}

int main(int argc, char **argv) {
    int n_threads = argc > 1 ? atoi(argv[1]) : 1;
    if (n_threads < 1) n_threads = 1;
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;

    uint64_t keep = 0;
    uint64_t *words = malloc(WORKING_SET);
    if (!words) {
        fprintf(stderr, "machine: no %d MiB of memory to measure with\n",
                WORKING_SET >> 20);
        return 1;
    }
    memset(words, 1, WORKING_SET); // every page is there before the clock starts
    double one = read_bandwidth(words, 1), all = read_bandwidth(words, n_threads);
    keep += words[7];
    free(words);
    double work = work_integer(&keep);
    double factor = work / REFERENCE_S;

    printf("read bandwidth     %.1f GB/s with 1 thread, %.1f GB/s with %d (%d MiB, median "
           "of %d)\n",
           one / 1e9, all / 1e9, n_threads, WORKING_SET >> 20, N_REPEATS);
    printf(
        "integer work       %.0f ms, machine factor %.2f (timeouts are multiplied by it)\n",
        work * 1e3, factor);
    if (keep == 1) printf("\n"); // the sums are used: no compiler may drop the work
    if (argc > 2) {
        FILE *f = fopen(argv[2], "w");
        if (!f || fprintf(f, "%.2f\n", factor) < 0 || fclose(f)) {
            fprintf(stderr, "machine: cannot write %s\n", argv[2]);
            return 1;
        }
    }
    return 0;
}
