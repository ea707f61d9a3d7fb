// A GGUF model split over several files, put together from its first part:
//
//   m-00001-of-00003.gguf   all keys, among them split.count; perhaps tensors
//   m-00002-of-00003.gguf   split.no 1 and tensors
//   m-00003-of-00003.gguf   split.no 2 and tensors
//
// The others are looked for beside the first, by name. Each must say that it is the part that its name
// says; all tensors together must be as many as split.tensors.count, none of them twice.
#ifndef LEVEL2_GGUF_SPLIT_H
#define LEVEL2_GGUF_SPLIT_H

#include "level2-operator/files/model_file.h"

// Also opens a file that is not split. ERR_FORMAT names the part that is missing, swapped or of another
// model; ERR_INPUT: path is a later part, and the message says which file to open.
enum status gguf_split_open(struct model_file *f, const char *path, struct error *err);

// ERR_UNSUPPORTED if g, read from bytes alone, is one part of several.
enum status gguf_refuse_part(const struct gguf *g, const char *name, struct error *err);

#endif
