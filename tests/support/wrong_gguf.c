// One function per wrong file; the table says what must be said about it.
#include "tests/support/wrong_gguf.h"

#include <string.h>

#include "common/limits.h"

static void wrong_magic(struct bytes *b) {
    put_header(b, 3, 0, 0);
    memcpy(b->data, "FUGG", 4);
}

static void html_page(struct bytes *b) {
    static const char page[] = "<!doctype html>\n<html><body>404</body></html>";
    put_raw(b, page, sizeof(page) - 1);
}

static void lfs_pointer(struct bytes *b) {
    static const char text[] =
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\n";
    put_raw(b, text, sizeof(text) - 1);
}

static void magic_only(struct bytes *b) {
    put_raw(b, "GGUF", 4);
}

static void empty_file(struct bytes *b) {
    (void)b;
}

static void version_1(struct bytes *b) {
    put_header(b, 1, 0, 0);
}

static void version_4(struct bytes *b) {
    put_header(b, 4, 0, 0);
}

static void big_endian(struct bytes *b) {
    put_header(b, 3u << 24, 0, 0);
}

static void endless_tensors(struct bytes *b) {
    put_header(b, 3, UINT64_MAX, 0);
    put_padding(b, 32);
}

static void endless_keys(struct bytes *b) {
    put_header(b, 3, 0, UINT64_MAX);
    put_padding(b, 32);
}

static void endless_key_name(struct bytes *b) {
    put_header(b, 3, 0, 1);
    put_u64(b, UINT64_MAX);
    put_u64(b, 0);
}

static void long_key_name(struct bytes *b) {
    char name[LIMIT_GGUF_NAME_BYTES + 2];
    memset(name, 'k', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    put_header(b, 3, 0, 1);
    put_string(b, name);
    put_u32(b, GGUF_U8), put_u8(b, 0);
}

static void same_key_twice(struct bytes *b) {
    put_header(b, 3, 0, 2);
    for (int i = 0; i < 2; i++) {
        put_string(b, "general.name");
        put_u32(b, GGUF_STRING);
        put_string(b, i ? "second" : "first");
    }
}

static void value_type_13(struct bytes *b) {
    put_only_key(b, "odd", 13);
    put_u64(b, 0);
}

static void item_type_13(struct bytes *b) {
    put_only_key(b, "odd", GGUF_ARRAY);
    put_u32(b, 13), put_u64(b, 0);
}

static void inner_item_type_13(struct bytes *b) {
    put_only_key(b, "odd", GGUF_ARRAY);
    put_u32(b, GGUF_ARRAY), put_u64(b, 1);
    put_u32(b, 13), put_u64(b, 0);
}

static void endless_array(struct bytes *b) {
    put_only_key(b, "numbers", GGUF_ARRAY);
    put_u32(b, GGUF_U64), put_u64(b, UINT64_C(1) << 61),
        put_u64(b, 0); // 2^61 * 8 wraps to 0
}

static void endless_strings(struct bytes *b) {
    put_only_key(b, "strings", GGUF_ARRAY);
    put_u32(b, GGUF_STRING), put_u64(b, UINT64_MAX), put_string(b, "one");
}

static void endless_arrays(struct bytes *b) {
    put_only_key(b, "arrays", GGUF_ARRAY);
    put_u32(b, GGUF_ARRAY), put_u64(b, UINT64_MAX), put_u32(b, GGUF_U8), put_u64(b, 0);
}

static void endless_string(struct bytes *b) {
    put_only_key(b, "text", GGUF_STRING);
    put_u64(b, UINT64_MAX - 7), put_u64(b, 0);
}

static void alignment_0(struct bytes *b) {
    put_only_key(b, "general.alignment", GGUF_U32);
    put_u32(b, 0);
}

static void alignment_24(struct bytes *b) {
    put_only_key(b, "general.alignment", GGUF_U32);
    put_u32(b, 24);
}

static void alignment_text(struct bytes *b) {
    put_only_key(b, "general.alignment", GGUF_STRING);
    put_string(b, "32");
}

static void split_as_text(struct bytes *b) {
    put_only_key(b, "split.count", GGUF_STRING);
    put_string(b, "3");
}

static void split_without_count(struct bytes *b) {
    put_header(b, 3, 0, 1);
    put_string(b, "split.no"), put_u32(b, GGUF_U16), put_raw(b, "\x01", 2);
}

static void split_too_often(struct bytes *b) {
    put_only_key(b, "split.count", GGUF_U16);
    put_raw(b, "\xff\xff", 2);
}

// A file with one tensor and 64 bytes of data.
static void one_tensor(struct bytes *b, const char *name, uint32_t n_dims,
                       const uint64_t *dims, uint32_t type) {
    put_header(b, 3, 1, 0);
    put_tensor(b, name, n_dims, dims, type, 0);
    put_padding(b, 32);
    for (int i = 0; i < 64; i++) put_u8(b, 0);
}

static const uint64_t four[9] = {4, 1, 1, 1, 1, 1, 1, 1, 1};

static void nine_dims(struct bytes *b) {
    one_tensor(b, "deep", 9, four, 0);
}

static void five_dims(struct bytes *b) {
    one_tensor(b, "deep", 5, four, 0);
}

static void no_dims(struct bytes *b) {
    put_header(b, 3, 1, 0);
    put_tensor(b, "flat", 0, NULL, 0, 0);
    for (int i = 0; i < 64; i++) put_u8(b, 0);
}

static void wide_dim(struct bytes *b) {
    one_tensor(b, "token_embd.weight", 2, (uint64_t[]){1152, 4398046511105}, 0);
}

static void wrapping_dims(struct bytes *b) { // 2^32 * 2^32 values are 0 in 64 bits
    one_tensor(b, "wrap", 2, (uint64_t[]){UINT64_C(1) << 32, UINT64_C(1) << 32}, 0);
}

static void wrapping_bytes(struct bytes *b) { // 2^62 values of 4 bytes
    one_tensor(b, "wrap", 1, (uint64_t[]){UINT64_C(1) << 62}, 0);
}

static void zero_dim(struct bytes *b) {
    one_tensor(b, "none", 2, (uint64_t[]){4, 0}, 0);
}

static void type_99(struct bytes *b) {
    one_tensor(b, "odd", 1, four, 99);
}

static void type_max(struct bytes *b) {
    one_tensor(b, "odd", 1, four, UINT32_MAX);
}

static void type_4(struct bytes *b) {
    one_tensor(b, "odd", 1, four, 4);
}

static void type_q8_1(struct bytes *b) {
    one_tensor(b, "scratch", 1, (uint64_t[]){32}, 9);
}

static void part_of_a_k_block(struct bytes *b) {
    one_tensor(b, "wide", 2, (uint64_t[]){576, 4}, 12);
}

static void part_of_a_block(struct bytes *b) {
    one_tensor(b, "half", 2, (uint64_t[]){16, 2}, 8);
}

// Two tensors of 32 bytes, the second at the given offset; 96 bytes of data.
static void two_tensors(struct bytes *b, const char *second, uint64_t offset) {
    put_header(b, 3, 2, 0);
    put_tensor(b, "first", 1, (uint64_t[]){8}, 0, 0);
    put_tensor(b, second, 1, (uint64_t[]){8}, 0, offset);
    put_padding(b, 32);
    for (int i = 0; i < 96; i++) put_u8(b, 0);
}

static void same_tensor_twice(struct bytes *b) {
    two_tensors(b, "first", 32);
}

static void offset_off_by_one(struct bytes *b) {
    two_tensors(b, "second", 33);
}

static void overlapping(struct bytes *b) {
    two_tensors(b, "second", 0);
}

static void offset_past_the_end(struct bytes *b) {
    two_tensors(b, "second", 96);
}

static void offset_that_wraps(struct bytes *b) {
    two_tensors(b, "second", UINT64_MAX - 31);
}

static void no_data_at_all(struct bytes *b) {
    put_header(b, 3, 1, 0);
    put_tensor(b, "gone", 1, four, 0, 0);
}

// clang-format off
const struct wrong_gguf wrong_ggufs[N_WRONG_GGUFS] = {
    {"LOAD-01 wrong magic", wrong_magic, WRONG_HEADER, ERR_FORMAT,
     "magic at byte 0", {"not a GGUF"}},
    {"LOAD-02 2^64-1 tensors", endless_tensors, WRONG_HEADER, ERR_FORMAT,
     "n_tensors 18446744073709551615 at byte 8", {0}},
    {"2^64-1 keys", endless_keys, WRONG_HEADER, ERR_FORMAT,
     "n_keys 18446744073709551615 at byte 16", {0}},
    {"LOAD-04 magic and no more", magic_only, WRONG_HEADER, ERR_FORMAT,
     "version 0 at byte 4", {"ends"}},
    {"empty file", empty_file, WRONG_HEADER, ERR_FORMAT,
     "magic at byte 0", {"empty"}},
    {"LOAD-05 web page", html_page, WRONG_HEADER, ERR_FORMAT,
     "magic at byte 0", {"HTML page"}},
    {"Git LFS pointer", lfs_pointer, WRONG_HEADER, ERR_FORMAT,
     "magic at byte 0", {"Git LFS"}},
    {"version 1", version_1, WRONG_HEADER, ERR_UNSUPPORTED,
     "version 1 at byte 4", {0}},
    {"version 4", version_4, WRONG_HEADER, ERR_UNSUPPORTED,
     "version 4 at byte 4", {0}},
    {"big-endian file", big_endian, WRONG_HEADER, ERR_UNSUPPORTED,
     "version 50331648 at byte 4", {"big-endian"}},

    {"LOAD-06 key name of 2^64-1 bytes", endless_key_name, WRONG_KEYS, ERR_FORMAT,
     "key 0 at byte 24", {0}},
    {"long key name", long_key_name, WRONG_KEYS, ERR_LIMIT,
     "key kkkkkkkkkk", {"257 bytes", "256"}},
    {"LOAD-07 same key twice", same_key_twice, WRONG_KEYS, ERR_FORMAT,
     "key general.name at byte 61", {"twice"}},
    {"LOAD-08 value type 13", value_type_13, WRONG_KEYS, ERR_FORMAT,
     "key odd at byte 24", {"type 13"}},
    {"LOAD-08 item type 13", item_type_13, WRONG_KEYS, ERR_FORMAT,
     "key odd at byte 24", {"type 13"}},
    {"item type 13, one array deeper", inner_item_type_13, WRONG_KEYS, ERR_FORMAT,
     "key odd at byte 24", {"type 13"}},
    {"array whose bytes wrap", endless_array, WRONG_KEYS, ERR_FORMAT,
     "key numbers at byte 24", {0}},
    {"array of 2^64-1 strings", endless_strings, WRONG_KEYS, ERR_FORMAT,
     "key strings at byte 24", {0}},
    {"array of 2^64-1 arrays", endless_arrays, WRONG_KEYS, ERR_FORMAT,
     "key arrays at byte 24", {0}},
    {"string whose end wraps", endless_string, WRONG_KEYS, ERR_FORMAT,
     "key text at byte 24", {0}},

    {"LOAD-09 alignment 0", alignment_0, WRONG_SETTING, ERR_FORMAT,
     "key general.alignment at byte 24", {"power of two"}},
    {"alignment 24", alignment_24, WRONG_SETTING, ERR_FORMAT,
     "key general.alignment at byte 24", {"24 is"}},
    {"alignment as text", alignment_text, WRONG_SETTING, ERR_FORMAT,
     "key general.alignment at byte 24", {"whole number"}},
    {"part of nobody knows how many", split_without_count, WRONG_SETTING, ERR_FORMAT,
     "key split.no at byte 24", {"1, but there are 1 parts"}},
    {"number of parts as text", split_as_text, WRONG_SETTING, ERR_FORMAT,
     "key split.count at byte 24", {"whole number"}},
    {"65535 parts", split_too_often, WRONG_SETTING, ERR_LIMIT,
     "key split.count at byte 24", {"the limit is 1024"}},

    {"LOAD-11 nine dimensions", nine_dims, WRONG_TENSORS, ERR_FORMAT,
     "tensor deep at byte 24", {"9 dim"}},
    {"one dimension too many", five_dims, WRONG_TENSORS, ERR_FORMAT,
     "tensor deep at byte 24", {"5 dim"}},
    {"no dimensions", no_dims, WRONG_TENSORS, ERR_FORMAT,
     "tensor flat at byte 24", {"0 dim"}},
    {"dimensions that wrap", wrapping_dims, WRONG_TENSORS, ERR_FORMAT,
     "tensor wrap at byte 24", {"larger"}},
    {"bytes that wrap", wrapping_bytes, WRONG_TENSORS, ERR_FORMAT,
     "tensor wrap at byte 24", {"larger"}},
    {"LOAD-13 dimension 0", zero_dim, WRONG_TENSORS, ERR_FORMAT,
     "tensor none at byte 24", {"dimension 1 is 0"}},
    {"LOAD-14 type 99", type_99, WRONG_TENSORS, ERR_FORMAT,
     "tensor odd at byte 24", {"type 99"}},
    {"LOAD-14 type 2^32-1", type_max, WRONG_TENSORS, ERR_FORMAT,
     "tensor odd at byte 24", {"type 4294967295"}},
    {"LOAD-14 type 4, taken back", type_4, WRONG_TENSORS, ERR_FORMAT,
     "tensor odd at byte 24", {"type 4"}},
    {"Q8_1, which no file holds", type_q8_1, WRONG_TENSORS, ERR_UNSUPPORTED,
     "tensor scratch at byte 24", {"Q8_1"}},
    {"QNT-07 576 columns in K blocks", part_of_a_k_block, WRONG_TENSORS, ERR_FORMAT,
     "tensor wide at byte 24", {"576", "Q4_K blocks of 256"}},
    {"row of half a block", part_of_a_block, WRONG_TENSORS, ERR_FORMAT,
     "tensor half at byte 24", {"16", "Q8_0"}},
    {"same tensor twice", same_tensor_twice, WRONG_TENSORS, ERR_FORMAT,
     "tensor first at byte 61", {"twice"}},

    {"LOAD-12 2^42+1 rows", wide_dim, WRONG_PLACE, ERR_FORMAT,
     "tensor token_embd.weight at byte 24", {0}},
    {"LOAD-15 offset plus 1", offset_off_by_one, WRONG_PLACE, ERR_FORMAT,
     "tensor second at byte 61", {"33", "multiple of 32"}},
    {"overlapping tensors", overlapping, WRONG_PLACE, ERR_FORMAT,
     "tensor second at byte 61", {"overlaps"}},
    {"offset at the end", offset_past_the_end, WRONG_PLACE, ERR_FORMAT,
     "tensor second at byte 61", {"96"}},
    {"offset that wraps", offset_that_wraps, WRONG_PLACE, ERR_FORMAT,
     "tensor second at byte 61", {0}},
    {"no data at all", no_data_at_all, WRONG_PLACE, ERR_FORMAT,
     "tensor gone at byte 24", {"download"}},
};
// clang-format on

int wrong_ggufs_in(enum wrong_part part) {
    int n = 0;
    for (int i = 0; i < N_WRONG_GGUFS; i++) n += wrong_ggufs[i].part == part;
    return n;
}

const struct wrong_gguf *wrong_gguf_in(enum wrong_part part, int i) {
    const struct wrong_gguf *w = wrong_ggufs;
    while (w->part != part || i-- > 0) w++;
    return w;
}
