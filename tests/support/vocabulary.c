// The hand-made vocabulary. The symbols of bytes are worked out here in another way than the engine's.
#include "tests/support/vocabulary.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { LACKING = 'z' }; // and FF: real vocabularies lack symbols too

static const struct {
    const char *text;
    enum token_kind kind;
} first_tokens[N_FIRST] = {
    {"<|endoftext|>", TOKEN_CONTROL     },
    {"<|im_start|>",  TOKEN_CONTROL     },
    {"<|im_end|>",    TOKEN_CONTROL     },
    {"<unk>",         TOKEN_UNKNOWN     },
    {"<x>",           TOKEN_CONTROL     },
    {"<x><y>",        TOKEN_CONTROL     },
    {"<think>",       TOKEN_USER_DEFINED},
};
static const char *const merges[] = {"h e", "l l", "he ll", "hell o", "Ġ w", "Ã ©"};
static const char *const merged_tokens[] = {"he", "ll", "hell", "hello", "Ġw", "Ã©"};

// The symbol of a byte as GPT-2 has it, in UTF-8.
static const char *symbol_of(int byte, char out[3]) {
    int c = byte, n_before = 0;
    for (int b = 0; b <= byte; b++) {
        bool is_printable = (b > 32 && b < 127) || (b > 160 && b != 173);
        if (b < byte)
            n_before += !is_printable;
        else if (!is_printable)
            c = 256 + n_before;
    }
    if (c < 128)
        snprintf(out, 3, "%c", c);
    else
        snprintf(out, 3, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 63));
    return out;
}

static void set_tokens(struct gguf_file *f) {
    struct bytes tokens = {0}, kinds = {0};
    uint64_t n = 0;
    char symbol[3];

    for (int i = 0; i < N_FIRST; i++, n++) {
        put_string(&tokens, first_tokens[i].text);
        put_u32(&kinds, first_tokens[i].kind);
    }
    for (int byte = 0; byte < 255; byte++) {
        if (byte == LACKING) continue;
        put_string(&tokens, symbol_of(byte, symbol));
        put_u32(&kinds, TOKEN_NORMAL), n++;
    }
    for (int i = 0; i < N_MERGES; i++, n++) {
        put_string(&tokens, merged_tokens[i]);
        put_u32(&kinds, TOKEN_NORMAL);
    }
    file_set_array(f, "tokenizer.ggml.tokens", GGUF_STRING, n, tokens.data, tokens.n);
    file_set_array(f, "tokenizer.ggml.token_type", GGUF_I32, n, kinds.data, kinds.n);
    bytes_free(&tokens);
    bytes_free(&kinds);
}

void set_kind(struct gguf_file *f, token_id id, enum token_kind kind) {
    enum { ITEMS = 4 + 4 + 8 }; // where they begin: behind two types and their number
    for (size_t i = 0; i < f->n_keys; i++)
        if (strcmp(f->keys[i].name, "tokenizer.ggml.token_type") == 0)
            f->keys[i].value.data[ITEMS + 4 * id] = (unsigned char)kind;
}

void set_merges(struct gguf_file *f, const char *const *rows, int n) {
    struct bytes b = {0};
    for (int i = 0; i < n; i++) put_string(&b, rows[i]);
    file_set_array(f, "tokenizer.ggml.merges", GGUF_STRING, (uint64_t)n, b.data, b.n);
    bytes_free(&b);
}

void fixture_prepare(struct fixture *x) {
    memset(x, 0, sizeof(*x));
    file_set_string(&x->file, "tokenizer.ggml.model", "gpt2");
    file_set_string(&x->file, "tokenizer.ggml.pre", "smollm");
    set_tokens(&x->file);
    set_merges(&x->file, merges, N_MERGES);
    file_set_u32(&x->file, "tokenizer.ggml.bos_token_id", IM_START);
    file_set_u32(&x->file, "tokenizer.ggml.eos_token_id", IM_END);
    file_set_u32(&x->file, "tokenizer.ggml.unknown_token_id", UNKNOWN);
}

enum status fixture_init(struct fixture *x, const char *pre) {
    x->bytes = file_bytes(&x->file);
    arena_init(&x->arena, 16 << 20);
    arena_init(&x->scratch, 16 << 20);
    ck_assert_int_eq(
        gguf_parse(&x->gguf, x->bytes.data, x->bytes.n, "test.gguf", &x->arena, &x->err),
        OK);
    return tokenizer_from_gguf(&x->t, &x->gguf, pre, "test.gguf", &x->arena, &x->err);
}

void fixture_open(struct fixture *x) {
    fixture_prepare(x);
    ck_assert_msg(fixture_init(x, NULL) == OK, "%s", x->err.text);
}

void fixture_close(struct fixture *x) {
    arena_free(&x->arena);
    arena_free(&x->scratch);
    bytes_free(&x->bytes);
    file_free(&x->file);
}
