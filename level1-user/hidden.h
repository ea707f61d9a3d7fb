// A secret that must not be shown, in a text that a stranger has a hand in. Some servers and proxies
// answer a refused key with the key.
#ifndef LEVEL1_HIDDEN_H
#define LEVEL1_HIDDEN_H

// Writes '*' over each place where secret stands in text, and over its beginning where the text was
// cut: from HIDDEN_BYTES bytes on, since fewer say nothing. secret: NULL or "": nothing is hidden.
enum { HIDDEN_BYTES = 8 };
void hide_secret(char *text, const char *secret);

#endif
