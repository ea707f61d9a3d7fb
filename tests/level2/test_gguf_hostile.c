// The GGUF reader, the long way: each file that is wrong in one way, each place where the tiny model can
// be cut, thousands of changed copies. What a learner's reader must do in the first second is in
// test_gguf.c.
#include "level2-operator/gguf/gguf.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "tests/support/gguf_file.h"
#include "tests/support/suite.h"
#include "tests/support/wrong_gguf.h"

static struct arena arena;
static struct gguf g;
static struct error err;

static void setup(void) {
    arena_init(&arena, 1 << 20);
    memset(&g, 0, sizeof(g));
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    arena_free(&arena);
}

static enum status parse(const struct bytes *b) {
    return gguf_parse(&g, b->data, b->n, "test.gguf", &arena, &err);
}

static void parse_ok(const struct bytes *b) {
    ck_assert_msg(parse(b) == OK, "%s", err.text);
}

// What the file is allowed to cost: tables grow with the file, by a fixed factor.
static size_t justified(size_t n_bytes) {
    return 16 * n_bytes + 4096;
}

// The first n bytes of b in memory of their own, so that reading one more is seen.
static enum status parse_cut(const struct bytes *b, size_t n) {
    unsigned char *cut = malloc(n ? n : 1);
    if (n) memcpy(cut, b->data, n);
    arena_free(&arena);
    arena_init(&arena, justified(n));
    memset(&err, 0, sizeof(err));
    enum status st = gguf_parse(&g, cut, n, "test.gguf", &arena, &err);
    free(cut);
    return st;
}

// Touches every byte that a parsed file points to.
static unsigned touch_all(void) {
    unsigned sum = 0;
    for (uint64_t i = 0; i < g.n_keys; i++) {
        const struct gguf_value *v = &g.keys[i].value;
        for (uint64_t j = 0; j < g.keys[i].name.n_bytes; j++)
            sum += (unsigned char)g.keys[i].name.bytes[j];
        for (uint64_t j = 0; j < v->n_bytes; j++) sum += v->bytes[j];
    }
    for (uint64_t i = 0; i < g.n_tensors; i++) {
        const unsigned char *data = g.tensors[i].view.data;
        for (uint64_t j = 0; j < g.tensors[i].view.n_bytes; j++) sum += data[j];
    }
    return sum;
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(reads_keys_and_tensors_of_the_tiny_model) {
    struct bytes b = bytes_of_file(tiny_model_path());
    struct gguf_string s;
    uint64_t n;
    double eps;

    parse_ok(&b);
    ck_assert_uint_eq(g.version, 3);
    ck_assert_uint_eq(g.alignment, 32);
    ck_assert_uint_eq(g.n_keys, 25);
    ck_assert_uint_eq(g.n_tensors, 29);
    ck_assert(gguf_get_string(gguf_find(&g, "general.architecture"), &s));
    ck_assert(s.n_bytes == 5 && memcmp(s.bytes, "llama", 5) == 0);
    ck_assert(gguf_get_u64(gguf_find(&g, "llama.embedding_length"), &n));
    ck_assert_uint_eq(n, 64);
    ck_assert(gguf_get_f64(gguf_find(&g, "llama.attention.layer_norm_rms_epsilon"), &eps));
    ck_assert(eps == (double)1e-5f);
    ck_assert_ptr_null(gguf_find(&g, "llama.rope.scaling.type"));
    ck_assert_ptr_null(gguf_find(&g, ""));

    const struct gguf_tensor *t = gguf_find_tensor(&g, "blk.0.ffn_down.weight");
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->view.n_dims, 2);
    ck_assert_uint_eq(t->view.dim[0], 96);
    ck_assert_uint_eq(t->view.dim[1], 64);
    ck_assert_uint_eq(t->view.dim[2], 1);
    ck_assert_int_eq(t->view.dtype, DTYPE_Q4_1);
    ck_assert_uint_eq(t->view.n_bytes, 96 / 32 * 20 * 64);
    ck_assert_ptr_eq(t->view.data, b.data + g.data_offset + t->offset);
    ck_assert_ptr_null(gguf_find_tensor(&g, "blk.3.ffn_down.weight"));
    bytes_free(&b);
}
END_TEST

START_TEST(reads_version_2_as_version_3) {
    struct bytes b = {0};
    put_header(&b, 2, 0, 1);
    put_string(&b, "k");
    put_u32(&b, GGUF_BOOL);
    put_u8(&b, 1);
    parse_ok(&b);
    ck_assert_uint_eq(g.version, 2);
    ck_assert_uint_eq(g.n_keys, 1);
    bytes_free(&b);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(accepts_a_file_with_nothing_in_it) { // LOAD-03
    struct bytes b = {0};
    put_header(&b, 3, 0, 0);
    put_padding(&b, 32);
    parse_ok(&b);
    ck_assert_uint_eq(g.n_keys, 0);
    ck_assert_uint_eq(g.n_tensors, 0);
    ck_assert_ptr_null(gguf_find(&g, "general.architecture"));
    bytes_free(&b);
}
END_TEST

START_TEST(finds_data_at_any_alignment_and_any_size_of_metadata) { // LOAD-10
    static const size_t alignments[] = {8, 16, 32, 64, 128};
    static const char *const names[] = {"a", "b", "c"};
    char text[65] = "";

    for (size_t a = 0; a < sizeof(alignments) / sizeof(alignments[0]); a++) {
        for (size_t n = 0; n < 64; n++) {
            struct gguf_file f = {.alignment = alignments[a]};
            memset(text, 'x', n);
            text[n] = '\0';
            file_set_string(&f, "filler", text);
            for (unsigned i = 0; i < 3; i++) {
                struct file_tensor *t = file_add_tensor(&f, names[i]);
                t->n_dims = 1;
                t->dim[0] = 4;
                for (int j = 0; j < 16; j++) put_u8(&t->data, i + 1);
            }
            struct bytes b = file_bytes(&f);
            parse_ok(&b);
            ck_assert_uint_eq(g.alignment, alignments[a]);
            ck_assert_uint_eq(g.data_offset % alignments[a], 0);
            for (unsigned i = 0; i < 3; i++) {
                const unsigned char *data = gguf_find_tensor(&g, names[i])->view.data;
                for (int j = 0; j < 16; j++) ck_assert_uint_eq(data[j], i + 1);
            }
            bytes_free(&b);
            file_free(&f);
            arena_reset(&arena);
        }
    }
}
END_TEST

static void put_nested_arrays(struct bytes *b, int depth) {
    put_header(b, 3, 0, 1);
    put_string(b, "nested");
    put_u32(b, GGUF_ARRAY);
    for (int i = 1; i < depth; i++) put_u32(b, GGUF_ARRAY), put_u64(b, 1);
    put_u32(b, GGUF_U8), put_u64(b, 1), put_u8(b, 42);
}

START_TEST(accepts_arrays_in_arrays_up_to_the_limit) {
    for (int depth = 1; depth <= LIMIT_GGUF_ARRAY_DEPTH + 1; depth++) {
        struct bytes b = {0};
        put_nested_arrays(&b, depth);
        enum status want = depth <= LIMIT_GGUF_ARRAY_DEPTH ? OK : ERR_LIMIT;
        ck_assert_msg(parse(&b) == want, "depth %d: %s", depth, err.text);
        bytes_free(&b);
    }
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(refuses_and_says_what_is_wrong_and_where) {
    const char *name = wrong_ggufs[_i].name;
    struct bytes b = {0};
    wrong_ggufs[_i].build(&b);

    enum status st = parse(&b);
    ck_assert_msg(st == wrong_ggufs[_i].want, "%s: status %s: %s", name, status_name(st),
                  err.text);
    ck_assert_int_eq(err.code, st);
    ck_assert_msg(strncmp(err.text, "test.gguf: ", 11) == 0, "%s: %s", name, err.text);
    ck_assert_msg(strstr(err.text, "at byte") != NULL, "%s: %s", name, err.text);
    ck_assert_msg(strchr(err.text, '\n') == NULL, "%s: %s", name, err.text);
    ck_assert_msg(err.param[0] != '\0', "%s: names no field", name);
    ck_assert_msg(
        strncmp(err.text + 11, wrong_ggufs[_i].place, strlen(wrong_ggufs[_i].place)) == 0,
        "%s: not at %s: %s", name, wrong_ggufs[_i].place, err.text);
    for (int i = 0; i < 2 && wrong_ggufs[_i].says[i]; i++)
        ck_assert_msg(strstr(err.text, wrong_ggufs[_i].says[i]) != NULL,
                      "%s: \"%s\" is not in: %s", name, wrong_ggufs[_i].says[i], err.text);
    ck_assert_msg(g.keys == NULL && g.n_tensors == 0, "%s: the result is not closed", name);
    ck_assert_msg(parse_cut(&b, b.n) == st, "%s: costs more than the file justifies", name);
    bytes_free(&b);
}
END_TEST

// LOAD-02: refused before anything is taken for what the count promises.
START_TEST(refuses_endless_counts_without_an_allocation) {
    int n_found = 0;
    for (int i = 0; i < N_WRONG_GGUFS; i++) {
        struct bytes b = {0};
        if (!strstr(wrong_ggufs[i].name, "2^64-1 tensors") &&
            !strstr(wrong_ggufs[i].name, "2^64-1 keys"))
            continue;
        wrong_ggufs[i].build(&b);
        arena_fail_after(&arena, 0);
        ck_assert_int_eq(parse(&b), ERR_FORMAT);
        bytes_free(&b);
        n_found++;
    }
    ck_assert_int_eq(n_found, 2);
}
END_TEST

START_TEST(never_writes_control_bytes_into_a_message) {
    struct bytes b = {0};
    put_only_key(&b, "a\x1b[2Jb\n", 13);
    ck_assert_int_eq(parse(&b), ERR_FORMAT);
    ck_assert_ptr_null(strchr(err.text, '\x1b'));
    ck_assert_ptr_null(strchr(err.text, '\n'));
    bytes_free(&b);
}
END_TEST

START_TEST(survives_a_failure_of_every_allocation) {
    struct bytes b = bytes_of_file(tiny_model_path());
    enum status st = ERR_MEMORY;
    long n = 0;

    for (; st != OK; n++) {
        ck_assert_int_lt(n, 100);
        arena_free(&arena);
        arena_init(&arena, 1 << 20);
        arena_fail_after(&arena, n);
        memset(&err, 0, sizeof(err));
        if ((st = parse(&b)) == OK) break;
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_str_ne(err.text, "");
    }
    ck_assert_int_eq(n, 6); // keys, tensors; of the table of each, slots and marks
    bytes_free(&b);
}
END_TEST

START_TEST(refuses_a_file_cut_anywhere_in_header_and_tables) {
    struct bytes b = bytes_of_file(tiny_model_path());
    parse_ok(&b);
    size_t n_tables = (size_t)g.data_offset;

    for (size_t n = 0; n < n_tables; n++) {
        enum status st = parse_cut(&b, n);
        ck_assert_msg(st == ERR_FORMAT, "cut at %zu: %s %s", n, status_name(st), err.text);
        ck_assert_str_ne(err.text, "");
    }
    bytes_free(&b);
}
END_TEST

START_TEST(names_the_tensor_at_which_the_data_was_cut) { // LOAD-16
    struct bytes b = bytes_of_file(tiny_model_path());
    struct draw d = draw_start("cut data");
    parse_ok(&b);
    size_t data_offset = (size_t)g.data_offset;
    const struct gguf_tensor *last = &g.tensors[g.n_tensors - 1];
    size_t end = data_offset + (size_t)(last->offset + last->view.n_bytes);

    for (int i = 0; i < 1002; i++) {
        size_t n = (size_t)draw_int(&d, (int)data_offset, (int)end - 1);
        if (i == 0) n = end - 1;
        if (i == 1) n = b.n / 2;

        parse_ok(&b);
        uint64_t t = 0; // the first tensor that is not whole
        while (data_offset + g.tensors[t].offset + g.tensors[t].view.n_bytes <= n) t++;
        char name[64] = "";
        memcpy(name, g.tensors[t].name.bytes, (size_t)g.tensors[t].name.n_bytes);

        ck_assert_msg(parse_cut(&b, n) == ERR_FORMAT, "cut at %zu: %s", n, err.text);
        ck_assert_msg(strcmp(err.param, name) == 0, "cut at %zu: names %s, want %s", n,
                      err.param, name);
    }
    bytes_free(&b);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// Flips, repeats and swaps numbers in header and tables; what is then accepted must still lie inside
// the file.
START_TEST(a_changed_file_is_refused_or_lies_inside_itself) {
    struct bytes b = bytes_of_file(tiny_model_path());
    struct draw d = draw_start("mutations");
    static const uint64_t extremes[] = {0,
                                        1,
                                        0x7f,
                                        0xff,
                                        0xffff,
                                        0x7fffffff,
                                        UINT32_MAX,
                                        UINT64_C(1) << 61,
                                        UINT64_MAX >> 1,
                                        UINT64_MAX};
    parse_ok(&b);
    int n_tables = (int)g.data_offset, n_accepted = 0, n_refused = 0;
    unsigned sum = 0;

    for (int i = 0; i < 4000; i++) {
        unsigned char *changed = malloc(b.n);
        memcpy(changed, b.data, b.n);
        int n_changes = draw_int(&d, 1, 4);
        for (int j = 0; j < n_changes; j++) {
            int at = draw_int(&d, 0, n_tables - 9);
            if (draw_int(&d, 0, 1))
                at = draw_int(&d, n_tables - 1500, n_tables - 9); // tensors
            if (draw_int(&d, 0, 1)) {
                changed[at] = (unsigned char)draw_u64(&d);
            } else {
                memcpy(changed + at, &extremes[draw_int(&d, 0, 9)],
                       (size_t)draw_int(&d, 1, 8));
            }
        }
        arena_free(&arena);
        arena_init(&arena, justified(b.n));
        enum status st = gguf_parse(&g, changed, b.n, "changed.gguf", &arena, &err);
        ck_assert_msg(st != ERR_MEMORY, "seeded change %d: %s", i, err.text);
        if (st == OK) sum += touch_all(); // ASan looks on
        n_accepted += st == OK;
        n_refused += st != OK;
        free(changed);
    }
    ck_assert_msg(n_accepted > 100 && n_refused > 100, "%d accepted, %d refused, sum %u",
                  n_accepted, n_refused, sum);
    bytes_free(&b);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/gguf_hostile");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, reads_keys_and_tensors_of_the_tiny_model);
    tcase_add_test(reference, reads_version_2_as_version_3);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, accepts_a_file_with_nothing_in_it);
    tcase_add_test(edges, finds_data_at_any_alignment_and_any_size_of_metadata);
    tcase_add_test(edges, accepts_arrays_in_arrays_up_to_the_limit);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_set_timeout(failures, 60);
    tcase_add_loop_test(failures, refuses_and_says_what_is_wrong_and_where, 0,
                        N_WRONG_GGUFS);
    tcase_add_test(failures, refuses_endless_counts_without_an_allocation);
    tcase_add_test(failures, never_writes_control_bytes_into_a_message);
    tcase_add_test(failures, survives_a_failure_of_every_allocation);
    tcase_add_test(failures, refuses_a_file_cut_anywhere_in_header_and_tables);
    tcase_add_test(failures, names_the_tensor_at_which_the_data_was_cut);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_set_timeout(property, 60);
    tcase_add_test(property, a_changed_file_is_refused_or_lies_inside_itself);
    suite_add_tcase(s, property);
    return s;
}
