// Boards from a file that anyone may have edited.
#include "level2-operator/fit/device_table.h"

#include <string.h>

static const char known_fields[] =
    " name also listed_as memory_label_gb memory_bytes_marketed memory_bytes_board "
    "memory_bytes_usable usable_gib_as_printed bandwidth_bytes_per_s flops_fp16_bf16_dense "
    "flops_fp8_int8_dense tag_memory_usable tag_bandwidth tag_flops16 tag_flops8 source "
    "notes ";

static enum status read_texts(struct device_entry *e, const struct data_record *at,
                              struct error *err) {
    const struct {
        const char *field, **text;
    } texts[] = {
        {"listed_as",             &e->listed_as     },
        {"usable_gib_as_printed", &e->usable_printed},
        {"tag_memory_usable",     &e->tag_usable    },
        {"tag_bandwidth",         &e->tag_bandwidth },
        {"tag_flops16",           &e->tag_flops16   },
        {"tag_flops8",            &e->tag_flops8    },
        {"source",                &e->source        },
        {"notes",                 &e->notes         },
    };
    enum status st = data_name(&e->name, at, "name", err);
    if (st == OK) st = data_text(&e->also, at, "also", err);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && st == OK; i++) {
        st = data_text(texts[i].text, at, texts[i].field, err);
    }
    return st;
}

static enum status read_numbers(struct device_entry *e, const struct data_record *at,
                                struct error *err) {
    static const int64_t most = INT64_C(1) << 53; // exact in a double
    const struct {
        const char *field;
        int64_t *number;
    } numbers[] = {
        {"memory_label_gb",       &e->label_gb      },
        {"memory_bytes_marketed", &e->marketed_bytes},
        {"memory_bytes_board",    &e->board_bytes   },
        {"memory_bytes_usable",   &e->usable_bytes  },
        {"bandwidth_bytes_per_s", &e->bandwidth     },
        {"flops_fp16_bf16_dense", &e->flops_16      },
        {"flops_fp8_int8_dense",  &e->flops_8       },
    };
    enum status st = OK;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && st == OK; i++) {
        st = data_number(numbers[i].number, at, numbers[i].field, 1, most, err);
    }
    return st;
}

static enum status read_entry(void *row, const struct data_record *at, struct error *err) {
    struct device_entry *e = row;
    enum status st = data_check_fields(at, known_fields, "is not a field of a device", err);
    if (st == OK) st = read_texts(e, at, err);
    if (st == OK) st = read_numbers(e, at, err);
    if (st != OK) return st;
    if (!e->usable_bytes) e->usable_bytes = e->marketed_bytes;
    if (!e->usable_bytes) return data_refuse(at, "memory_bytes_usable", "is missing", err);
    return OK;
}

const struct data_table_kind device_table = {"gpus", sizeof(struct device_entry),
                                             read_entry};

const struct device_entry *device_table_find(const struct data_table *t, const char *name) {
    const struct device_entry *rows = t->rows;
    for (int i = 0; i < t->n_rows; i++) {
        bool is_short = *rows[i].also && strcmp(rows[i].also, name) == 0;
        if (is_short || strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}
