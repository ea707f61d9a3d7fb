// inspect: what is in a model file, and whether we can run it. Reads any GGUF that the parser accepts,
// also one that no engine here knows.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/cli.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/inspect/inspect.h"
#include "level2-operator/kernels/rows_for.h"
#include "level2-operator/model/model.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

struct options {
    const char *file;
    const char *tensor; // name; NULL: the file
    bool json, metadata, tensors, tokens, check, raw;
};

struct session {
    // owned
    struct arena arena;
    struct model_file file;
};

static enum status session_open(struct session *s, const char *path, struct error *err) {
    arena_init(&s->arena, LIMIT_TABLES_BYTES);
    return model_file_open(&s->file, path, &s->arena, LIMIT_TABLES_PER_BYTE, err);
}

static void session_close(struct session *s) {
    model_file_close(&s->file); // its list of maps lies in the arena
    arena_free(&s->arena);
}

// Takes the document over; NULL says that memory ended.
static enum status write_json(json_t *document, const char *file, struct error *err) {
    if (!document)
        return error_set(err, ERR_MEMORY, "%s: no memory for the JSON output",
                         error_path(file));
    json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(document);
    putchar('\n');
    return OK; // whether it was written is asked at the end
}

// One file of a model folder cannot be run, but checked for itself. ERR_INPUT: it is no such file.
static enum status check_lone_file(const struct options *o, struct error *err) {
    struct session s = {0};
    enum status st = session_open(&s, o->file, NULL);
    const struct gguf *g = &s.file.gguf;

    if (st != OK || g->version || g->is_converted) {
        st = ERR_INPUT;
    } else if (o->json) {
        st = write_json(inspect_lone_json(o->file, g), o->file, err);
    } else {
        printf("ok: safetensors, %" PRIu64
               " tensors; to check the model, name its folder\n",
               g->n_tensors);
    }
    session_close(&s);
    return st;
}

static void print_check(const struct config *c, const char *no_chat) {
    printf("ok: %s, %d layers, %d wide, %d tokens, context %d%s%s\n", arch_name(c->arch),
           c->n_layers, c->d_model, c->n_vocab, c->n_ctx, no_chat ? "; no chat: " : "",
           no_chat ? no_chat : "");
}

static enum status run_check(const struct options *o, struct error *err) {
    struct error why;
    struct model m;
    enum status st = model_open(&m, o->file, NULL, err);
    if (st == ERR_INPUT) {
        enum status lone = check_lone_file(o, &why);
        if (lone != ERR_INPUT && lone != OK) *err = why;
        return lone == ERR_INPUT ? st : lone;
    }
    if (st != OK) return st;
    const char *no_chat = chat_template_check(&m.chat, &why) == OK ? NULL : why.text;
    if (o->json) {
        st = write_json(inspect_check_json(o->file, &m.config, no_chat), o->file, err);
    } else {
        print_check(&m.config, no_chat);
    }
    model_close(&m);
    return st;
}

// By the name in the file, or by the one that the engine uses.
static const struct gguf_tensor *find_tensor(const struct gguf *g, const char *name) {
    for (uint64_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].spelled && strcmp(g->tensors[i].spelled, name) == 0)
            return &g->tensors[i];
    return gguf_find_tensor(g, name);
}

static enum status run_tokens(struct session *s, const struct options *o,
                              struct error *err) {
    struct tokenizer_facts facts;
    enum status st = tokenizer_gguf_read(&facts, &s->file.gguf, NULL, error_path(o->file),
                                         &s->arena, err);
    if (st == OK && o->json) return write_json(inspect_tokens_json(&facts), o->file, err);
    if (st == OK) inspect_print_tokens(stdout, &facts);
    return st;
}

static enum status run_tensor(struct session *s, const struct options *o,
                              struct error *err) {
    const struct gguf_tensor *t = find_tensor(&s->file.gguf, o->tensor);
    if (!t)
        return error_set_param(err, ERR_INPUT, "tensor",
                               "%s: has no tensor %s; --tensors lists them",
                               error_path(o->file), o->tensor);
    if (!rows_for(t->view.dtype))
        return error_set_param(err, ERR_UNSUPPORTED, "tensor",
                               "%s: tensor %s: values of type %s are not read yet",
                               error_path(o->file), o->tensor,
                               dtype_info(t->view.dtype)->name);
    if (inspect_value_count(&t->view) == 0)
        return error_set_param(err, ERR_INPUT, "tensor", "%s: tensor %s: has no values",
                               error_path(o->file), o->tensor);
    if (t->view.dim[0] > INT32_MAX)
        return error_set(err, ERR_LIMIT, "%s: tensor %s: its rows are too long",
                         error_path(o->file), o->tensor);
    float *row = ARENA_NEW(&s->arena, float, t->view.dim[0]);
    if (!row)
        return error_set(err, ERR_MEMORY, "%s: no memory for a row of %s",
                         error_path(o->file), o->tensor);

    if (o->json && !o->raw)
        return write_json(inspect_tensor_json(&s->file.gguf, t, row), o->file, err);
    if (!o->raw) {
        inspect_print_tensor(stdout, t, row);
    } else if (!inspect_write_values(stdout, t, row)) {
        return error_set(err, ERR_IO, "standard output: %s", strerror(errno));
    }
    return OK;
}

static void run_print(const struct options *o, const struct inspected *in) {
    bool picked = o->metadata || o->tensors;
    if (!picked) inspect_print_summary(stdout, in);
    if (!picked && in->gguf->n_keys) putchar('\n');
    if (!picked || o->metadata) inspect_print_metadata(stdout, in->gguf, o->metadata);
    if (o->metadata && o->tensors) putchar('\n');
    if (o->tensors) inspect_print_tensors(stdout, in->gguf);
}

static enum status run(const struct options *o, struct error *err) {
    struct session s = {0};
    if (o->check) return run_check(o, err);

    enum status st = session_open(&s, o->file, err);
    struct inspected in = {
        .file = o->file, .n_bytes = s.file.n_bytes, .gguf = &s.file.gguf};
    if (st == OK) {
        if (o->tensor) {
            st = run_tensor(&s, o, err);
        } else if (o->tokens) {
            st = run_tokens(&s, o, err);
        } else if (o->json) {
            st = write_json(inspect_json(&in), o->file, err);
        } else {
            run_print(o, &in);
        }
    }
    session_close(&s);
    return st;
}

int main(int argc, char **argv) {
    struct options o = {0};
    struct error err;
    // clang-format off
    const struct cli_option table[] = {
        {NULL, "FILE", CLI_STRING, &o.file, .required = true,
         .help = "a GGUF file, a .safetensors file, or a folder with one"},
        {"json", NULL, CLI_FLAG, &o.json, .help = "the same as one JSON document"},
        {"metadata", NULL, CLI_FLAG, &o.metadata, .help = "only the metadata, strings in full"},
        {"tensors", NULL, CLI_FLAG, &o.tensors, .help = "only the list of tensors"},
        {"tokens", NULL, CLI_FLAG, &o.tokens, .help = "only the vocabulary"},
        {"tensor", "NAME", CLI_STRING, &o.tensor, .help = "one tensor: shape, range, histogram, first values"},
        {"raw", NULL, CLI_FLAG, &o.raw, .help = "with --tensor: its values as f32 bytes"},
        {"check", NULL, CLI_FLAG, &o.check, .help = "say whether the engine can run it"},
        {0},
    };
    // clang-format on
    const struct cli cli = {.program = "inspect",
                            .summary = "what is in a model file",
                            .example = "inspect --tensors model.gguf",
                            .options = table};

    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    if (o.raw && !o.tensor) return cli_usage(&cli, "--raw needs --tensor NAME");
    mapped_file_explain_faults();
    if (run(&o, &err) != OK) return cli_fail(&cli, &err);
    return cli_finish(&cli);
}
