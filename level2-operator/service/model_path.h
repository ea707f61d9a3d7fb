// Which files an administrator may name: those below one directory, however the path is spelt. Whoever
// has the key may choose a model; he may not look around on the machine.
#ifndef LEVEL2_MODEL_PATH_H
#define LEVEL2_MODEL_PATH_H

#include <stddef.h>

#include "common/status.h"

// out: the real path of `path`, which is relative to dir or begins with dir as it was given. Links are
// followed, and must not lead out of dir. ERR_INPUT for a path that is empty, has ".." in it, or
// leads elsewhere, in the same words whether something is there or not; ERR_IO when there is
// no such file below dir.
enum status model_path_below(char *out, size_t out_bytes, const char *dir, const char *path,
                             struct error *err);

#endif
