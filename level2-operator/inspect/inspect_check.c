// What `inspect --check` says of a file that is right, as JSON.
#include "level2-operator/inspect/inspect.h"

#include <string.h>

#include "level2-operator/gguf/arch.h"
#include "level2-operator/text/json_output.h"

static json_t *text_json(const char *text) {
    return text ? json_output_text(text, strlen(text)) : json_null();
}

json_t *inspect_check_json(const char *file, const struct config *c, const char *no_chat) {
    return json_pack("{s:o, s:b, s:s, s:i, s:i, s:i, s:i, s:o}", "file", text_json(file),
                     "ok", 1, "architecture", arch_name(c->arch), "n_layers", c->n_layers,
                     "d_model", c->d_model, "n_vocab", c->n_vocab, "n_ctx", c->n_ctx,
                     "no_chat", text_json(no_chat));
}

json_t *inspect_lone_json(const char *file, const struct gguf *g) {
    return json_pack("{s:o, s:b, s:s, s:I}", "file", text_json(file), "ok", 1, "format",
                     "safetensors", "n_tensors", (json_int_t)g->n_tensors);
}
