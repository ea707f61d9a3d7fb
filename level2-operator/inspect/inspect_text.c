// Numbers and names as people read them.
#include "level2-operator/inspect/inspect_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/printable.h"
#include "common/utf8.h"

void text_column(FILE *out, struct gguf_string s, int width) {
    int n_columns = printable_write(out, s.bytes, (size_t)s.n_bytes);
    fprintf(out, "%*s", n_columns < width ? width - n_columns : 0, "");
}

void text_quoted(FILE *out, struct gguf_string s, bool whole) {
    size_t n = (size_t)s.n_bytes;
    if (!whole && n > SHOWN_BYTES) n = utf8_whole(s.bytes, SHOWN_BYTES);
    printable_quote(out, s.bytes, n);
    if (n < s.n_bytes) fprintf(out, " ... %" PRIu64 " bytes", s.n_bytes);
}

const char *text_grouped(char text[32], uint64_t number) {
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *to = text;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

void text_float(FILE *out, float x) {
    char text[32];
    for (int n_digits = 6; n_digits <= 9; n_digits++) {
        snprintf(text, sizeof(text), "%.*g", n_digits, (double)x);
        if (strtof(text, NULL) == x) break;
    }
    fputs(text, out);
}

void text_size(FILE *out, uint64_t n_bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)n_bytes;
    int unit = 0;
    for (; n >= 1024 && unit < 4; unit++) n /= 1024;
    fprintf(out, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

void text_shape(FILE *out, const struct tensor_view *view, int width) {
    char text[96] = "(";
    int n = 1;
    for (int i = view->n_dims - 1; i >= 0; i--)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%" PRIu64 "%s", view->dim[i],
                      i ? ", " : ")");
    fprintf(out, "%-*s", width, text);
}

int text_widen(int width, struct gguf_string name) {
    if (name.n_bytes >= MAX_COLUMN) return MAX_COLUMN;
    return (int)name.n_bytes > width ? (int)name.n_bytes : width;
}
