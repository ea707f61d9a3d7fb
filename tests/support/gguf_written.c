// Entries are written by gguf_file.c, which shares no line with the reader.
#include "tests/support/gguf_written.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/gguf/gguf_value.h"

// Never the same twice: each begins with its number.
static void draw_name(struct draw *d, char name[NAME_SPACE], int number) {
    int n = snprintf(name, NAME_SPACE, "%d", number);
    for (int left = draw_int(d, 0, 12); left > 0; left--)
        name[n++] = (char)draw_int(d, 'a', 'z');
    name[n] = '\0';
}

struct gguf_written written_start(struct gguf_rig *rig, const char *name,
                                  uint64_t n_tensors, uint64_t n_keys) {
    put_header(&rig->file, 3, n_tensors, n_keys);
    return (struct gguf_written){.rig = rig, .draw = draw_start(name)};
}

static void put_items(struct bytes *file, struct draw *d, enum gguf_type type, int n) {
    int width = gguf_type_bytes(type);
    for (int i = 0; i < n * width; i++) put_u8(file, (unsigned)draw_int(d, 0, 255));
    for (int i = 0; i < n && width == 0; i++) {
        enum gguf_type inside = type == GGUF_STRING ? GGUF_U8 : GGUF_U16;
        int n_inside = draw_int(d, 0, 5);
        if (type == GGUF_ARRAY) put_u32(file, inside);
        put_u64(file, (uint64_t)n_inside);
        put_items(file, d, inside, n_inside);
    }
}

void written_add_key(struct gguf_written *w, enum gguf_type type, enum gguf_type item_type,
                     int n_items) {
    struct bytes *file = &w->rig->file;
    struct written_key *key = &w->keys[w->n_keys];

    ck_assert_int_lt(w->n_keys, WRITTEN_KEYS);
    *key = (struct written_key){.type = type, .item_type = item_type};
    key->n_items = type == GGUF_ARRAY ? (uint64_t)n_items : 1;
    draw_name(&w->draw, key->name, w->n_keys++);
    put_string(file, key->name);
    put_u32(file, type);
    if (type == GGUF_ARRAY) put_u32(file, item_type), put_u64(file, key->n_items);
    key->begin = file->n;
    put_items(file, &w->draw, type == GGUF_ARRAY ? item_type : type, (int)key->n_items);
    key->end = file->n;
}

static struct tensor_view draw_view(struct draw *d, enum dtype dtype, int n_dims,
                                    int longest) {
    const struct dtype_info *info = dtype_info(dtype);
    struct tensor_view v = {
        dtype, n_dims, {1, 1, 1, 1},
          NULL, 0
    };
    uint64_t n_blocks = 1; // no value is spread over two blocks, nor a block over two rows
    for (int i = 0; i < n_dims; i++) {
        v.dim[i] = (uint64_t)draw_int(d, 1, longest);
        n_blocks *= v.dim[i];
    }
    v.dim[0] *= (uint64_t)info->block_len;
    v.n_bytes = n_blocks * (uint64_t)info->block_bytes;
    return v;
}

void written_add_tensors(struct gguf_written *w, int n_dims) {
    for (int i = 0; i < WRITTEN_TENSORS; i++) {
        struct written_tensor *t = &w->tensors[i];
        draw_name(&w->draw, t->name, i);
        t->view = draw_view(&w->draw, (enum dtype)i, n_dims, i ? 70 : 1);
        t->offset = draw_u64(&w->draw) >> 1; // a message shows it signed
        put_tensor(&w->rig->file, t->name, (uint32_t)n_dims, t->view.dim,
                   dtype_info((enum dtype)i)->gguf_type, t->offset);
    }
}

static void assert_name(const char *call, int i, const struct gguf_string *got,
                        const struct table *table, const char *want) {
    char item[160], name[NAME_SPACE];
    uint32_t index = UINT32_MAX;

    assert_field(call, i, "name.n_bytes", got->n_bytes, strlen(want));
    snprintf(item, sizeof(item), "%s: [%d].name", call, i);
    snprintf(name, sizeof(name), "%.*s", (int)got->n_bytes, got->bytes);
    assert_text(item, name, want);
    table_get(table, want, strlen(want), &index);
    assert_field(call, i, "its index in the table of names", index, (uint64_t)i);
}

static void assert_end(const struct gguf_rig *rig) {
    assert_number("reader.at.pos behind the last entry", (int64_t)rig->reader.at.pos,
                  (int64_t)rig->file.n);
}

void assert_keys(const char *call, const struct gguf_written *w) {
    const struct gguf *g = &w->rig->gguf;
    for (int i = 0; i < w->n_keys; i++) {
        const struct written_key *want = &w->keys[i];
        const struct gguf_value *v = &g->keys[i].value;
        assert_name(call, i, &g->keys[i].name, &g->key_table, want->name);
        assert_field(call, i, "value.type", v->type, want->type);
        if (v->type == GGUF_ARRAY)
            assert_field(call, i, "value.item_type", v->item_type, want->item_type);
        assert_field(call, i, "value.n_items", v->n_items, want->n_items);
        assert_field(call, i, "value.bytes - file",
                     (uint64_t)(v->bytes - w->rig->file.data), want->begin);
        assert_field(call, i, "value.n_bytes", v->n_bytes, want->end - want->begin);
    }
    assert_end(w->rig);
}

void assert_tensors(const char *call, const struct gguf_written *w) {
    static const char *const dims[] = {"view.dim[0]", "view.dim[1]", "view.dim[2]",
                                       "view.dim[3]"};
    const struct gguf *g = &w->rig->gguf;
    for (int i = 0; i < WRITTEN_TENSORS; i++) {
        const struct written_tensor *want = &w->tensors[i];
        const struct tensor_view *view = &g->tensors[i].view;
        assert_name(call, i, &g->tensors[i].name, &g->tensor_table, want->name);
        assert_field(call, i, "view.n_dims", (uint64_t)view->n_dims,
                     (uint64_t)want->view.n_dims);
        for (int j = 0; j < 4; j++)
            assert_field(call, i, dims[j], view->dim[j], want->view.dim[j]);
        assert_field(call, i, "view.dtype", view->dtype, want->view.dtype);
        assert_field(call, i, "view.n_bytes", view->n_bytes, want->view.n_bytes);
        assert_field(call, i, "offset", g->tensors[i].offset, want->offset);
    }
    assert_end(w->rig);
}
