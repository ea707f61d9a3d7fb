// The queue between threads: first in, first out, nothing lost, nothing twice.
#include "common/ring.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/suite.h"

static struct arena arena;
static struct ring ring;

static void setup(void) {
    arena_init(&arena, 64 << 20);
    memset(&ring, 0, sizeof(ring));
}

static void teardown(void) {
    ring_free(&ring);
    arena_free(&arena);
}

static void init(int capacity, size_t item_bytes) {
    struct error err = {0};
    ck_assert_msg(ring_init(&ring, capacity, item_bytes, &arena, &err) == OK, "%s",
                  err.text);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(what_goes_in_first_comes_out_first) {
    int item;
    init(3, sizeof(item));
    for (int i = 1; i <= 3; i++) ck_assert(ring_put(&ring, &i));
    ck_assert_int_eq(ring_space(&ring), 0);
    for (int i = 1; i <= 3; i++) {
        ck_assert(ring_take(&ring, &item));
        ck_assert_int_eq(item, i);
    }
    ck_assert_int_eq(ring_space(&ring), 3);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_full_ring_refuses_and_keeps_what_it_has) {
    int first = 1, second = 2, item = 0;
    init(1, sizeof(item));
    ck_assert(ring_put(&ring, &first));
    ck_assert(!ring_put(&ring, &second));
    ck_assert(ring_take(&ring, &item));
    ck_assert_int_eq(item, 1);
}
END_TEST

START_TEST(an_empty_ring_leaves_the_item_alone) {
    int item = 42;
    init(1, sizeof(item));
    ck_assert(!ring_take(&ring, &item));
    ck_assert_int_eq(item, 42);
}
END_TEST

START_TEST(a_zeroed_ring_may_be_freed_twice) {
    ring_free(&ring);
    ring_free(&ring);
    init(1, 1);
    ring_free(&ring);
    ring_free(&ring);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(no_memory_is_an_error_and_leaves_the_ring_closed) {
    struct error err = {0};
    arena_fail_after(&arena, 0);
    ck_assert_int_eq(ring_init(&ring, 5, 8, &arena, &err), ERR_MEMORY);
    ck_assert_int_eq(err.code, ERR_MEMORY);
    ck_assert(err.text[0] != '\0');
    ring_free(&ring);
    arena_fail_after(&arena, 1);
    ck_assert_int_eq(ring_init(&ring, 5, 8, &arena, &err), OK);
}
END_TEST

START_TEST(an_absurd_size_is_refused) {
    ck_assert_int_eq(ring_init(&ring, INT32_MAX, SIZE_MAX / 2, &arena, NULL), ERR_MEMORY);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

static const struct {
    int capacity;
    size_t item_bytes;
} shapes[] = {
    {1,  1 },
    {7,  3 },
    {8,  4 },
    {9,  33},
    {33, 64},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), MAX_ITEM = 64 };

static void make_item(unsigned char item[MAX_ITEM], int number) {
    for (int i = 0; i < MAX_ITEM; i++) item[i] = (unsigned char)(number * 31 + i);
}

START_TEST(any_mix_of_puts_and_takes_behaves_like_a_queue) {
    struct draw d = draw_start("mix");
    int capacity = shapes[_i].capacity, n_put = 0, n_taken = 0;
    init(capacity, shapes[_i].item_bytes);

    for (int round = 0; round < 5000; round++) {
        unsigned char item[MAX_ITEM], want[MAX_ITEM];
        if (draw_int(&d, 0, 1)) {
            make_item(item, n_put);
            bool has_room = n_put - n_taken < capacity;
            ck_assert(ring_put(&ring, item) == has_room);
            n_put += has_room;
        } else {
            make_item(want, n_taken);
            bool has_item = n_put > n_taken;
            ck_assert(ring_take(&ring, item) == has_item);
            if (has_item) ck_assert(memcmp(item, want, shapes[_i].item_bytes) == 0);
            n_taken += has_item;
        }
        ck_assert_int_eq(ring_space(&ring), capacity - (n_put - n_taken));
    }
}
END_TEST

enum { N_PRODUCERS = 2, N_EACH = 20000 };

struct message {
    int producer, number;
    int copy[14]; // of number: a torn item shows
};

static void *produce(void *arg) {
    struct message m = {.producer = *(int *)arg};
    for (int i = 0; i < N_EACH; i++) {
        m.number = i;
        for (int c = 0; c < 14; c++) m.copy[c] = i;
        while (!ring_put(&ring, &m)) sched_yield();
    }
    return NULL;
}

START_TEST(two_threads_put_and_one_takes_all_in_order) {
    pthread_t threads[N_PRODUCERS];
    int ranks[N_PRODUCERS], next[N_PRODUCERS] = {0};
    init(16, sizeof(struct message));
    for (int i = 0; i < N_PRODUCERS; i++) {
        ranks[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, produce, &ranks[i]), 0);
    }
    for (int n_taken = 0; n_taken < N_PRODUCERS * N_EACH;) {
        struct message m;
        if (!ring_take(&ring, &m)) {
            sched_yield();
            continue;
        }
        bool is_right = m.producer < N_PRODUCERS && m.number == next[m.producer];
        for (int c = 0; c < 14; c++) is_right &= m.copy[c] == m.number;
        if (!is_right) ck_abort_msg("producer %d, number %d", m.producer, m.number);
        next[m.producer]++;
        n_taken++;
    }
    for (int i = 0; i < N_PRODUCERS; i++) pthread_join(threads[i], NULL);
    ck_assert_int_eq(ring_space(&ring), 16);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/ring");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, what_goes_in_first_comes_out_first);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_full_ring_refuses_and_keeps_what_it_has);
    tcase_add_test(edges, an_empty_ring_leaves_the_item_alone);
    tcase_add_test(edges, a_zeroed_ring_may_be_freed_twice);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, no_memory_is_an_error_and_leaves_the_ring_closed);
    tcase_add_test(failures, an_absurd_size_is_refused);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_set_timeout(property, 60);
    tcase_add_loop_test(property, any_mix_of_puts_and_takes_behaves_like_a_queue, 0,
                        N_SHAPES);
    tcase_add_test(property, two_threads_put_and_one_takes_all_in_order);
    suite_add_tcase(s, property);
    return s;
}
