// One character at a time: as it is, as an escape of one letter, or byte by byte in hexadecimal.
#include "common/printable.h"

#include <stdint.h>
#include <string.h>

#include "common/utf8.h"

static int write_hex(FILE *out, const char *bytes, size_t n_bytes) {
    int n_columns = 0;
    for (size_t i = 0; i < n_bytes; i++)
        n_columns += fprintf(out, "\\x%02x", (unsigned char)bytes[i]);
    return n_columns;
}

// escaped: characters that become a backslash and the letter at the same place of letters.
static int write_escaped(FILE *out, const char *text, size_t n_bytes, const char *escaped,
                         const char *letters) {
    int n_columns = 0;
    for (size_t n_used; n_bytes > 0; text += n_used, n_bytes -= n_used) {
        int32_t c = utf8_next(text, n_bytes, &n_used);
        const char *at = c > 0 && c < 0x80 ? strchr(escaped, c) : NULL;
        if (at) {
            n_columns += fprintf(out, "\\%c", letters[at - escaped]);
        } else if (c < 0 || utf8_is_control(c)) {
            n_columns += write_hex(out, text, n_used);
        } else {
            fwrite(text, 1, n_used, out);
            n_columns++;
        }
    }
    return n_columns;
}

int printable_write(FILE *out, const char *text, size_t n_bytes) {
    return write_escaped(out, text, n_bytes, "\n\t\r", "ntr");
}

int printable_quote(FILE *out, const char *text, size_t n_bytes) {
    putc('"', out);
    int n_columns = write_escaped(out, text, n_bytes, "\n\t\r\"\\", "ntr\"\\");
    putc('"', out);
    return n_columns + 2;
}
