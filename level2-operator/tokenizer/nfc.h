// Unicode's form NFC: an e and an accent behind it become the one character é. Some vocabularies were
// made from text in this form (Qwen's), and know the other spelling badly.
// Unicode Standard Annex 15.
#ifndef LEVEL2_NFC_H
#define LEVEL2_NFC_H

#include <stdbool.h>
#include <stddef.h>

enum { NFC_GROWTH = 3 }; // no character becomes more than three times its bytes

// True: text is in the form already. Decided by a quick look: other texts may be, too.
bool nfc_is_sure(const char *text, size_t n_bytes);

// Writes text in the form NFC to out, which has room for NFC_GROWTH * n_bytes; returns its bytes.
// Bytes that are no UTF-8 stay as they are. A letter with hundreds of marks is put into the form part
// by part: no real text has one, and time stays linear.
size_t nfc_normalize(char *out, const char *text, size_t n_bytes);

#endif
