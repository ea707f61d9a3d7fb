// The bars of a statement as a picture for the docs.
#ifndef LEVEL1_BARS_PICTURE_H
#define LEVEL1_BARS_PICTURE_H

#include "common/picture.h"
#include "level1-user/statement.h"

// *p: the caller's to free. ERR_MEMORY.
enum status bars_picture(struct picture *p, const struct statement *s, struct error *err);

#endif
