// Each text goes in with exactly its bytes behind it, so that the sanitizer sees a read past the end.
#include "tests/support/json_sweeps.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static char *copy_of(const char *bytes, size_t n_bytes) {
    char *copy = malloc(n_bytes > 0 ? n_bytes : 1);
    MUST(copy);
    memcpy(copy, bytes, n_bytes);
    return copy;
}

void assert_cuts_are_refused(json_reader *read, const char *whole) {
    for (size_t n = 0; n < strlen(whole); n++) {
        char *cut = copy_of(whole, n);
        enum status st = read(cut, n, NULL);
        ck_assert_msg(st == ERR_FORMAT, "cut at %zu: %s", n, status_name(st));
        free(cut);
    }
}

void assert_wrong_bytes_do_no_harm(json_reader *read, const char *whole) {
    static const char bytes[] = {'"', '{', '}', '[',  ']',    ',',
                                 ':', '0', '-', '\\', '\x01', '\xff'};
    size_t n_bytes = strlen(whole);
    char *text = copy_of(whole, n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        struct error err = {0};
        text[i] = bytes[i % sizeof(bytes)];
        enum status st = read(text, n_bytes, &err);
        ck_assert_msg(st == OK || (st == err.code && *err.text), "byte %zu: %s", i,
                      status_name(st));
        text[i] = whole[i];
    }
    free(text);
}

void assert_failed_allocations_are_told(json_reader *read, const char *whole) {
    size_t n_bytes = strlen(whole);
    int n = 0;
    for (;; n++) {
        struct error err = {0};
        memory_fail_after(n);
        enum status st = read(whole, n_bytes, &err);
        memory_fail_after(-1);
        if (st == OK) break;
        bool is_blamed = st == ERR_FORMAT && strstr(err.text, "not JSON: ");
        ck_assert_msg(st == ERR_MEMORY || is_blamed, "allocation %d: %s", n, err.text);
    }
    ck_assert_int_ge(n, 10); // it does allocate
}
