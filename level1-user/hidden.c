// Looks from each byte on for as much of the secret as stands there.
#include "level1-user/hidden.h"

#include <string.h>

void hide_secret(char *text, const char *secret) {
    size_t n_secret = secret ? strlen(secret) : 0;
    size_t n_least = n_secret < HIDDEN_BYTES ? n_secret : HIDDEN_BYTES;
    if (n_secret == 0) return;

    while (*text) {
        size_t n = 0;
        while (n < n_secret && text[n] == secret[n]) n++; // ends at the text's end, too
        if (n < n_least) {
            text++;
            continue;
        }
        memset(text, '*', n);
        text += n;
    }
}
