// A model on disk, opened: one GGUF file, the first part of a split one (gguf_split.h), or a folder with
// safetensors and JSON beside (hf_folder.h). Whoever reads it meets one thing, a struct gguf:
//
//   m.gguf ──────────────────────────────────────────┐
//   m-00001-of-00003.gguf ──▶ gguf_split: one table ──┼──▶ struct gguf ──▶ config, tokenizer, model
//   folder/ ──▶ hf_folder: GGUF's names for its own ──┘      keys, tensors      inspect, quantize
//
// GGUF's names are the words in which the rest of the engine asks, so a folder is translated once, here,
// in memory: metadata and names are made, weights stay views into the mapped files. The other way, a
// reader's interface with two implementations, would lead every question through a pointer to a function,
// and the questions (which keys, of which type) would still be GGUF's. And a translated folder can be
// listed and written as a GGUF file by those who know nothing of folders.
//
// do:    close after the last view is used
// don't: expect g.bytes of a folder: where something stands says gguf_place.h
#ifndef LEVEL2_MODEL_FILE_H
#define LEVEL2_MODEL_FILE_H

#include "common/arena.h"
#include "common/mapped_file.h"
#include "common/status.h"
#include "level2-operator/gguf/gguf.h"

struct model_file {
    // owned; the arrays lie in the arena
    struct mapped_file *maps; // (max_maps), n_maps of them open
    const char **paths;       // (max_maps): where they were opened
    int n_maps, max_maps;
    // borrowed
    struct arena *arena;
    // limits, fixed at open
    size_t arena_per_byte; // by which the arena's limit grows with each byte mapped
    // state
    uint64_t n_bytes; // of all mapped files
    // views into the maps and the arena
    struct gguf gguf;
};

// arena: tables go there, and what a folder's names are translated to. Its limit grows by arena_per_byte
// for each byte of the files (LIMIT_TABLES_PER_BYTE), so that a file gets no more memory than its size
// justifies; 0: the limit stays. On failure *f is closed; err names the file, and field and offset where it has them.
enum status model_file_open(struct model_file *f, const char *path, struct arena *arena,
                            size_t arena_per_byte, struct error *err);

// To be asked when all is loaded, and before much of it is read. ERR_IO names a file that somebody has
// cut or written to since it was opened, or, if it is one of several, moved another one in place of:
// what was read may be of two models.
enum status model_file_check_same(const struct model_file *f, struct error *err);

// ERR_INPUT: g is a table of tensors alone, one .safetensors file without its folder: no model.
enum status model_file_refuse_lone(const struct gguf *g, const char *name,
                                   struct error *err);

// Safe on a zeroed or closed file. The arena is its owner's to free.
void model_file_close(struct model_file *f);

// For those who put a model together: room for n maps in all, then one map more. The new one is
// f->maps[f->n_maps - 1].
enum status model_file_reserve(struct model_file *f, int n, const char *path,
                               struct error *err);
enum status model_file_map(struct model_file *f, const char *path, struct error *err);

#endif
