// A model as fit sees it, from a table or from a file: its shape, and what its weights take.
#ifndef LEVEL2_FIT_SUBJECT_H
#define LEVEL2_FIT_SUBJECT_H

#include "common/limits.h"
#include "level2-operator/fit/fit.h"
#include "level2-operator/fit/model_table.h"
#include "level2-operator/model/config.h"

struct fit_subject {
    char name[LIMIT_MODEL_ID_BYTES];
    char source[160]; // where the shape was read
    char note[280];   // what a reader should know of the counting; "": nothing
    struct fit_model shape;
    uint64_t stored_bytes;   // of the tensors of a file, as they lie there; 0: from a table
    uint64_t tables_bytes;   // that serve makes of the file beside them; 0: not asked
    uint64_t n_active;       // weights that one token meets
    uint64_t n_ctx;          // tokens that the model was trained for
    uint64_t n_head_weights; // of the output matrix: vocab * d_model
    bool is_tied;
    struct config config; // what an engine of ours would hold: for its activations
};

void fit_subject_of_entry(struct fit_subject *s, const struct model_entry *e);

// A GGUF file, the first part of a split one, or a folder with safetensors. Only headers and tables are
// read. ERR_IO, and what model_file_open and config_read refuse.
enum status fit_subject_of_file(struct fit_subject *s, const char *path, struct error *err);

// As serve holds it. It keeps all tokens of a layer with a window, so they count in full, and the note says
// so. path: of the file, which is opened as serve would; if serve would refuse it, the note says that.
// NULL: s is from a table.
void fit_subject_serve(struct fit_subject *s, const char *path);

// The shape of a loaded model in the same sense.
struct fit_model fit_shape_of_config(const struct config *c);

#endif
