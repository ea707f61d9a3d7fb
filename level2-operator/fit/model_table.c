// Shapes from a file that anyone may have edited.
#include "level2-operator/fit/model_table.h"

#include <string.h>

#include "common/limits.h"

// So low that no product of a shape overflows, so high that no model is near it.
static const int64_t MOST_PARAMS = INT64_C(1) << 50;
enum {
    MOST = 1 << 12, // heads, experts, sizes of a head
    FEW = 16        // matrices of one kind in a layer
};

static const char known_fields[] =
    " name listed_as params active_params layers d_model heads kv_heads d_head d_ff "
    "experts experts_per_token shared_experts dense_layers d_ff_dense vocab context window "
    "windowed_layers tied qkv_bias qk_norm norms_per_layer ffn_matrices q_rank kv_rank "
    "rope_dim nope_dim v_dim tag source notes ";

static enum status read_texts(struct model_entry *e, const struct data_record *at,
                              struct error *err) {
    enum status st = data_name(&e->name, at, "name", err);
    if (st == OK) st = data_text(&e->listed_as, at, "listed_as", err);
    if (st == OK) st = data_text(&e->tag, at, "tag", err);
    if (st == OK) st = data_text(&e->source, at, "source", err);
    if (st == OK) st = data_text(&e->notes, at, "notes", err);
    if (st == OK) st = data_flag(&e->tied, at, "tied", err);
    if (st == OK) st = data_flag(&e->qkv_bias, at, "qkv_bias", err);
    if (st == OK) st = data_flag(&e->qk_norm, at, "qk_norm", err);
    return st;
}

static enum status read_numbers(struct model_entry *e, const struct data_record *at,
                                struct error *err) {
    const struct {
        const char *field;
        int64_t *number, high;
    } numbers[] = {
        {"params",            &e->params,            MOST_PARAMS  },
        {"active_params",     &e->active_params,     MOST_PARAMS  },
        {"layers",            &e->layers,            LIMIT_LAYERS },
        {"d_model",           &e->d_model,           LIMIT_D_MODEL},
        {"heads",             &e->heads,             MOST         },
        {"kv_heads",          &e->kv_heads,          MOST         },
        {"d_head",            &e->d_head,            MOST         },
        {"d_ff",              &e->d_ff,              LIMIT_D_MODEL},
        {"experts",           &e->experts,           MOST         },
        {"experts_per_token", &e->experts_per_token, MOST         },
        {"shared_experts",    &e->shared_experts,    MOST         },
        {"dense_layers",      &e->dense_layers,      LIMIT_LAYERS },
        {"d_ff_dense",        &e->d_ff_dense,        LIMIT_D_MODEL},
        {"vocab",             &e->vocab,             LIMIT_VOCAB  },
        {"context",           &e->context,           LIMIT_CONTEXT},
        {"window",            &e->window,            LIMIT_CONTEXT},
        {"windowed_layers",   &e->windowed_layers,   LIMIT_LAYERS },
        {"norms_per_layer",   &e->norms_per_layer,   FEW          },
        {"ffn_matrices",      &e->ffn_matrices,      FEW          },
        {"q_rank",            &e->q_rank,            LIMIT_D_MODEL},
        {"kv_rank",           &e->kv_rank,           LIMIT_D_MODEL},
        {"rope_dim",          &e->rope_dim,          MOST         },
        {"nope_dim",          &e->nope_dim,          MOST         },
        {"v_dim",             &e->v_dim,             MOST         },
    };
    enum status st = OK;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && st == OK; i++) {
        st = data_number(numbers[i].number, at, numbers[i].field, 1, numbers[i].high, err);
    }
    return st;
}

// What every answer divides by or multiplies with.
static enum status check(const struct model_entry *e, const struct data_record *at,
                         struct error *err) {
    const struct {
        const char *field;
        int64_t number;
    } needed[] = {
        {"layers",   e->layers                          },
        {"d_model",  e->d_model                         },
        {"heads",    e->heads                           },
        {"kv_heads", e->kv_heads                        },
        {"d_head",   e->kv_rank ? e->kv_rank : e->d_head},
        {"d_ff",     e->d_ff                            },
        {"vocab",    e->vocab                           },
        {"context",  e->context                         },
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (needed[i].number == 0)
            return data_refuse(at, needed[i].field, "is missing", err);
    }
    if (e->windowed_layers > e->layers)
        return data_refuse(at, "windowed_layers", "is above layers", err);
    if (e->dense_layers > e->layers)
        return data_refuse(at, "dense_layers", "is above layers", err);
    if (e->windowed_layers && !e->window)
        return data_refuse(at, "window", "is missing", err);
    return OK;
}

static enum status read_entry(void *row, const struct data_record *at, struct error *err) {
    struct model_entry *e = row;
    enum status st = data_check_fields(at, known_fields, "is not a field of a model", err);
    e->norms_per_layer = 2;
    e->ffn_matrices = 3;
    if (st == OK) st = read_texts(e, at, err);
    if (st == OK) st = read_numbers(e, at, err);
    if (st == OK) st = check(e, at, err);
    if (st != OK) return st;
    if (!e->params) e->params = model_entry_params(e);
    if (e->params > MOST_PARAMS)
        return data_refuse(at, "params", "come to above 2^50", err);
    if (!e->active_params) e->active_params = e->params;
    return OK;
}

const struct data_table_kind model_table = {"models", sizeof(struct model_entry),
                                            read_entry};

const struct model_entry *model_table_find(const struct data_table *t, const char *name) {
    const struct model_entry *rows = t->rows;
    for (int i = 0; i < t->n_rows; i++) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}

// ---- counting -----------------------------------------------------------------------------------

static int64_t latent_attention(const struct model_entry *e) {
    int64_t down = e->d_model * e->q_rank + e->d_model * (e->kv_rank + e->rope_dim);
    int64_t up = e->q_rank * e->heads * (e->nope_dim + e->rope_dim) +
                 e->kv_rank * e->heads * (e->nope_dim + e->v_dim);
    return down + up + e->heads * e->v_dim * e->d_model + e->q_rank + e->kv_rank;
}

static int64_t attention(const struct model_entry *e) {
    if (e->kv_rank) return latent_attention(e);
    int64_t q = e->heads * e->d_head, kv = e->kv_heads * e->d_head;
    return 2 * e->d_model * (q + kv) + (e->qkv_bias ? q + 2 * kv : 0) +
           (e->qk_norm ? 2 * e->d_head : 0);
}

int64_t model_entry_params(const struct model_entry *e) {
    int64_t n_dense = e->experts ? e->dense_layers : e->layers;
    int64_t dense = e->ffn_matrices * e->d_model * (e->experts ? e->d_ff_dense : e->d_ff);
    int64_t expert = e->ffn_matrices * e->d_model * e->d_ff;
    int64_t sparse = (e->experts + e->shared_experts) * expert + e->experts * e->d_model;
    int64_t every = attention(e) + e->norms_per_layer * e->d_model;
    return e->layers * every + n_dense * dense + (e->layers - n_dense) * sparse +
           e->d_model + e->vocab * e->d_model * (e->tied ? 1 : 2);
}
