// Models in several files: parts of a GGUF file, and folders with safetensors. What is right opens as the
// same model; each thing that can be wrong between files is named with the file.
#include "level2-operator/files/model_file.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/model.h"
#include "tests/support/model_folder.h"
#include "tests/support/suite.h"

static struct model_folder folder;
static struct model m, other;
static struct error err;

static void setup(void) {
    memset(&folder, 0, sizeof(folder));
    memset(&m, 0, sizeof(m));
    memset(&other, 0, sizeof(other));
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    model_close(&m);
    model_close(&other);
    folder_remove(&folder);
}

static void open_ok(struct model *model, const char *path) {
    ck_assert_msg(model_open(model, path, NULL, &err) == OK, "%s", err.text);
}

// One line that says it, and a closed model.
static void refused(const char *what, const char *path, enum status want,
                    const char *says) {
    memset(&err, 0, sizeof(err));
    enum status st = model_open(&m, path, NULL, &err);
    ck_assert_msg(st == want, "%s: %s %s", what, status_name(st), err.text);
    ck_assert_msg(strstr(err.text, says) != NULL, "%s: %s", what, err.text);
    ck_assert_msg(strchr(err.text, '\n') == NULL, "%s: %s", what, err.text);
    ck_assert_int_eq(m.file.n_maps, 0);
    ck_assert_ptr_null(m.arena.chunks);
}

static void assert_same_model(const struct model *a, const struct model *b) {
    struct config x = a->config, y = b->config;
    x.rope_pairing = y.rope_pairing; // a folder keeps the order of the rows
    ck_assert_mem_eq(&x, &y, sizeof(x));
    ck_assert_int_eq(a->is_tied, b->is_tied);
    ck_assert_int_eq(a->tokenizer.n_vocab, b->tokenizer.n_vocab);
    for (int id = 0; id < a->tokenizer.n_vocab; id++) {
        const struct token_piece *p = &a->tokenizer.pieces[id];
        const struct token_piece *q = &b->tokenizer.pieces[id];
        ck_assert_int_eq(p->kind, q->kind);
        ck_assert_uint_eq(p->n_bytes, q->n_bytes);
        ck_assert_mem_eq(p->bytes, q->bytes, p->n_bytes);
    }
    const struct weight *v = &a->layers[1].v, *w = &b->layers[1].v;
    ck_assert_int_eq(v->dtype, w->dtype);
    ck_assert_mem_eq(v->file, w->file, (size_t)v->n_out * v->row_bytes);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(parts_are_one_model) {
    folder = folder_copy(".");
    open_ok(&m, folder_path(&folder, "split-00001-of-00003.gguf"));
    open_ok(&other, folder_path(&folder, "tiny.gguf"));
    assert_same_model(&m, &other);
    assert_number("files", m.file.n_maps, 3);
    assert_number("tensors", (int64_t)m.gguf.n_tensors, (int64_t)other.gguf.n_tensors);
    ck_assert_int_eq(m.config.rope_pairing, other.config.rope_pairing);
}
END_TEST

START_TEST(a_folder_is_the_same_model) {
    static const char *const kinds[] = {"folder", "sharded"};
    struct model_folder files = folder_copy(".");
    folder = folder_copy(kinds[_i]);
    open_ok(&m, folder.path);
    open_ok(&other, folder_path(&files, "tiny.gguf"));
    assert_same_model(&m, &other);
    ck_assert_int_eq(m.config.rope_pairing, ROPE_HALVES);
    ck_assert_int_eq(other.config.rope_pairing, ROPE_NEIGHBOURS);
    assert_number("files", m.file.n_maps, _i + 1);
    ck_assert(tokenizer_is_end(&m.tokenizer, 0) && tokenizer_is_end(&m.tokenizer, 2));
    ck_assert_msg(strncmp(m.name, "model-folder-", 13) == 0, "%s", m.name);
    folder_remove(&files);
}
END_TEST

START_TEST(a_template_in_a_file_of_its_own_is_taken) {
    struct gguf_string text;
    folder = folder_copy("folder");
    folder_write(&folder, "chat_template.jinja", "{{ messages }}", 14);
    open_ok(&m, folder.path);
    ck_assert(gguf_get_string(gguf_find(&m.gguf, "tokenizer.chat_template"), &text));
    ck_assert_uint_eq(text.n_bytes, 14);
}
END_TEST

START_TEST(merges_may_be_pairs_and_ids_may_be_left_out) {
    folder = folder_copy("folder");
    folder_replace(&folder, "tokenizer.json", "\"h e\"", "[\"h\", \"e\"]");
    folder_replace(&folder, "tokenizer.json", "\"!\": 3,", "");
    open_ok(&m, folder.path);
    ck_assert_int_eq(m.tokenizer.pieces[3].kind, TOKEN_UNUSED);
}
END_TEST

START_TEST(llama3_rope_scaling_divides_as_a_tensor_would) {
    folder = folder_copy("folder");
    folder_replace(&folder, "config.json", "\"rope_scaling\": null",
                   "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
                   "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
                   "\"original_max_position_embeddings\": 64}");
    open_ok(&m, folder.path);
    ck_assert_int_eq(m.config.rope_stretch.kind, ROPE_LLAMA3);
    ck_assert_int_eq(m.config.rope_stretch.n_ctx_trained, 64);
    ck_assert_float_eq(m.config.rope_stretch.factor, 8);
    ck_assert_float_eq(m.config.rope_stretch.high, 4);
}
END_TEST

// ---- parts --------------------------------------------------------------------------------------

#define SPLIT(n) "split-0000" n "-of-00003.gguf"

START_TEST(a_later_part_names_the_first) { // LOAD-17
    folder = folder_copy(".");
    refused("second", folder_path(&folder, SPLIT("2")), ERR_INPUT,
            "part 2 of 3; open the first: ");
    ck_assert_ptr_nonnull(strstr(err.text, SPLIT("1")));
    struct bytes b = folder_read(&folder, SPLIT("3"));
    folder_write(&folder, "m.gguf", b.data, b.n);
    refused("renamed", folder_path(&folder, "m.gguf"), ERR_INPUT,
            "...-00001-of-00003.gguf");
    refused("itself", folder_path(&folder, SPLIT("3")), ERR_INPUT, "part 3 of 3");
    enum status st = model_parse(&m, b.data, b.n, "bytes", NULL, &err);
    ck_assert_int_eq(st, ERR_UNSUPPORTED); // nowhere to look for the others
    bytes_free(&b);
}
END_TEST

START_TEST(a_first_part_under_another_name_cannot_find_the_others) {
    folder = folder_copy(".");
    struct bytes b = folder_read(&folder, SPLIT("1"));
    folder_write(&folder, "m.gguf", b.data, b.n);
    bytes_free(&b);
    refused("renamed", folder_path(&folder, "m.gguf"), ERR_INPUT, "-00001-of-00003.gguf");
}
END_TEST

START_TEST(a_missing_part_is_named) {
    folder = folder_copy(".");
    folder_drop(&folder, SPLIT("2"));
    refused("missing", folder_path(&folder, SPLIT("1")), ERR_IO,
            SPLIT("2") ": No such file");
    ck_assert_ptr_nonnull(strstr(err.text, "part 2 of 3"));
}
END_TEST

START_TEST(swapped_parts_are_named) {
    folder = folder_copy(".");
    folder_swap(&folder, SPLIT("2"), SPLIT("3"));
    refused("swapped", folder_path(&folder, SPLIT("1")), ERR_FORMAT,
            SPLIT("2") ": holds part 3 of 3, not 2 of 3");
}
END_TEST

START_TEST(a_part_that_is_cut_is_named) { // LOAD-16
    folder = folder_copy(".");
    struct bytes b = folder_read(&folder, SPLIT("3"));
    folder_write(&folder, SPLIT("3"), b.data, b.n / 2);
    bytes_free(&b);
    refused("cut", folder_path(&folder, SPLIT("1")), ERR_FORMAT, SPLIT("3") ": tensor ");
}
END_TEST

// A whole file, and so no part; then a part with nothing in it, so that tensors are missing.
START_TEST(a_part_of_another_model_is_named) {
    struct gguf_file empty = {0};
    folder = folder_copy(".");
    struct bytes b = folder_read(&folder, "tiny.gguf");
    folder_write(&folder, SPLIT("2"), b.data, b.n);
    bytes_free(&b);
    refused("whole", folder_path(&folder, SPLIT("1")), ERR_FORMAT, "holds part 1 of 1");
    file_set_u32(&empty, "split.no", 1);
    file_set_u32(&empty, "split.count", 3);
    b = file_bytes(&empty);
    folder_write(&folder, SPLIT("2"), b.data, b.n);
    refused("empty", folder_path(&folder, SPLIT("1")), ERR_FORMAT,
            "key split.tensors.count: 29 tensors, but its 3 parts hold 19");
    bytes_free(&b);
    file_free(&empty);
}
END_TEST

START_TEST(a_tensor_in_two_parts_is_named) {
    struct gguf_file file = {0};
    folder = folder_copy(".");
    file_load(&file, folder_path(&folder, SPLIT("2")));
    snprintf(file.tensors[0].name, strlen(file.tensors[0].name) + 1, "%s",
             "token_embd.weight");
    struct bytes b = file_bytes(&file);
    folder_write(&folder, SPLIT("2"), b.data, b.n);
    refused("twice", folder_path(&folder, SPLIT("1")), ERR_FORMAT,
            "tensor token_embd.weight: is in another part, too");
    bytes_free(&b);
    file_free(&file);
}
END_TEST

// ---- folders ------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *file, *old, *new;
    enum status want;
    const char *says;
} wrong[] = {
    {"config.json", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 0", ERR_FORMAT,
     "/config.json: num_hidden_layers: 0 is not in 1 .. 1024"},
    {"model.safetensors", "layers.2.mlp.up_proj", "layers.2.mlp.up_proX", ERR_FORMAT,
     "tensor model.layers.2.mlp.up_proj.weight: missing"},
    {"model.safetensors", "\"model.norm.weight", "\"Model.norm.weight", ERR_FORMAT,
     "tensor model.norm.weight: missing"},
    {"config.json", "\"num_hidden_layers\": 3,", "", ERR_FORMAT,
     "/config.json: num_hidden_layers: missing"},
    {"config.json", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": \"3\"", ERR_FORMAT,
     "/config.json: num_hidden_layers: must be a whole number"},
    {"config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 0", ERR_FORMAT,
     "/config.json: num_attention_heads: 0 is not in"},
    // LOAD-20
    {"config.json", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", ERR_FORMAT,
     "/config.json: num_key_value_heads: 4 heads cannot share 3"},
    {"config.json", "\"intermediate_size\": 96", "\"intermediate_size\": 97", ERR_FORMAT,
     "model.safetensors: tensor model.layers.0.mlp.gate_proj.weight at byte"},
    {"config.json", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", ERR_UNSUPPORTED,
     "/config.json: hidden_act: not supported; only silu is"},
    {"config.json", "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"",
     ERR_UNSUPPORTED, "/config.json: model_type: mamba is not supported"},
    {"config.json", "\"model_type\": \"llama\"", "\"model_type\": 1", ERR_FORMAT,
     "/config.json: model_type: must be there, a string"},
    {"config.json", "\"vocab_size\": 579", "\"vocab_size\": 2000000", ERR_FORMAT,
     "vocab_size: 2000000, but model.embed_tokens.weight has 579 rows"},
    {"config.json", "\"vocab_size\": 579", "\"vocab_size\": 0", ERR_FORMAT,
     "/config.json: vocab_size: is not in"},
    {"config.json", "\"eos_token_id\": 2", "\"quantization_config\": {}", ERR_UNSUPPORTED,
     "/config.json: quantization_config: not supported"},
    {"config.json", "\"rope_scaling\": null", "\"rope_scaling\": {\"type\": \"dynamic\"}",
     ERR_UNSUPPORTED, "/config.json: rope_type: dynamic is not supported"},
    {"config.json", "\"rope_scaling\": null", "\"rope_scaling\": 4", ERR_FORMAT,
     "/config.json: rope_scaling: must be an object or null"},
    {"config.json", "\"rope_scaling\": null", "\"layer_types\": \"full_attention\"", ERR_FORMAT,
     "/config.json: layer_types: must name one type for each of 3 layers"},
    {"config.json", "\"rope_scaling\": null", "\"layer_types\": [\"full_attention\"]", ERR_FORMAT,
     "/config.json: layer_types: must name one type for each of 3 layers"},
    {"config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false",
     ERR_FORMAT, "tensor lm_head.weight: missing"},
    {"config.json", "{", "{{", ERR_FORMAT, "/config.json: not valid JSON at byte"},
    {"config.json", "\"vocab_size\"", "\"hidden_size\"", ERR_FORMAT, "duplicate"},
    {"generation_config.json", "[\n  2,", "[\n  579,", ERR_FORMAT,
     "/generation_config.json: eos_token_id: not the id of a token"},
    {"generation_config.json", "[\n  2,", "[1, 3, 4,", ERR_LIMIT,
     "/generation_config.json: eos_token_id: 4 ids, at most 3"},
    {"tokenizer.json", "\"type\": \"BPE\"", "\"type\": \"Unigram\"", ERR_UNSUPPORTED,
     "/tokenizer.json: model.type: not supported; only BPE is"},
    {"tokenizer.json", "\"type\": \"Digits\"", "\"type\": \"Punctuation\"", ERR_UNSUPPORTED,
     "/tokenizer.json: pre_tokenizer: 'this pre_tokenizer' is not built here; known: "},
    {"tokenizer.json", "\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}",
     ERR_UNSUPPORTED, "/tokenizer.json: normalizer: not one that is built here"},
    {"tokenizer.json", "\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}",
     ERR_UNSUPPORTED, "/tokenizer.json: normalizer: NFC and qwen2"},
    {"tokenizer.json", "\"post_processor\": null",
     "\"post_processor\": {\"type\": \"Bert\"}", ERR_UNSUPPORTED,
     "/tokenizer.json: post_processor: not one"},
    {"tokenizer.json", "\"single_word\": false", "\"single_word\": true", ERR_UNSUPPORTED,
     "/tokenizer.json: added_tokens: single_word of token 0 is not supported"},
    {"tokenizer.json", "\"!\": 3", "\"!\": 579", ERR_FORMAT,
     "/tokenizer.json: model.vocab: an id is not in 0 .. vocab_size - 1 (578)"},
    {"tokenizer.json", "\"!\": 3", "\"!\": 4", ERR_FORMAT,
     "/tokenizer.json: model.vocab: id 4 stands for two texts"},
    {"tokenizer.json", "\"h e\"", "\"he\"", ERR_FORMAT,
     "/tokenizer.json: model.merges: merge 1 is not two tokens"},
    {"tokenizer.json", "\"h e\"", "\"h eeee\"", ERR_FORMAT,
     "merge 1 is not two tokens that make a third"},
};
// clang-format on

START_TEST(what_is_wrong_in_a_folder_is_named) {
    folder = folder_copy("folder");
    folder_replace(&folder, wrong[_i].file, wrong[_i].old, wrong[_i].new);
    refused(wrong[_i].new, folder.path, wrong[_i].want, wrong[_i].says);
}
END_TEST

START_TEST(a_missing_file_is_named) {
    static const char *const needed[] = {"config.json", "tokenizer.json",
                                         "model.safetensors"};
    folder = folder_copy("folder");
    folder_drop(&folder, "generation_config.json"); // need not be there
    folder_drop(&folder, "tokenizer_config.json");
    open_ok(&m, folder.path);
    model_close(&m);
    folder_drop(&folder, needed[_i]);
    refused("missing", folder.path, ERR_IO, needed[_i]);
}
END_TEST

#define INDEX    "model.safetensors.index.json"
#define SHARD(n) "model-0000" n "-of-00002.safetensors"

START_TEST(what_an_index_and_its_files_disagree_on_is_named) {
    folder = folder_copy("sharded");
    folder_swap(&folder, SHARD("1"), SHARD("2"));
    refused("swapped", folder.path, ERR_FORMAT, SHARD("1") ": tensor ");
    ck_assert_ptr_nonnull(strstr(err.text, "the index has it in another file"));
    folder_swap(&folder, SHARD("1"), SHARD("2"));
    folder_replace(&folder, INDEX, SHARD("1"), "../" SHARD("1"));
    refused("path", folder.path, ERR_FORMAT,
            INDEX ": weight_map: model.embed_tokens.weight");
    folder_replace(&folder, INDEX, "../" SHARD("1"), SHARD("2"));
    refused("moved", folder.path, ERR_FORMAT, "the index has it in another file");
    folder_replace(&folder, INDEX, "\"weight_map\": {",
                   "\"weight_map\": {\"more\": \"" SHARD("1") "\", ");
    folder_replace(&folder, INDEX, "\"model.embed_tokens.weight\": \"" SHARD("2"),
                   "\"model.embed_tokens.weight\": \"" SHARD("1"));
    refused("one more", folder.path, ERR_FORMAT,
            "index names 30 tensors, but the files hold 29");
    folder_drop(&folder, SHARD("2"));
    refused("missing", folder.path, ERR_IO, SHARD("2") ": No such file");
}
END_TEST

START_TEST(survives_a_failure_of_every_allocation) {
    struct model_options options = {.fail_at = 1};
    folder = folder_copy("sharded");
    for (;; options.fail_at++) {
        memset(&err, 0, sizeof(err));
        enum status st = model_open(&m, folder.path, &options, &err);
        if (st == OK) break;
        ck_assert_msg(st == ERR_MEMORY && err.text[0], "allocation %ld: %s %s",
                      options.fail_at, status_name(st), err.text);
        ck_assert_ptr_null(m.arena.chunks);
    }
    ck_assert_int_gt(options.fail_at, 100);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/model_file");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, parts_are_one_model);
    tcase_add_loop_test(reference, a_folder_is_the_same_model, 0, 2);
    tcase_add_test(reference, a_template_in_a_file_of_its_own_is_taken);
    tcase_add_test(reference, merges_may_be_pairs_and_ids_may_be_left_out);
    tcase_add_test(reference, llama3_rope_scaling_divides_as_a_tensor_would);
    suite_add_tcase(s, reference);

    TCase *parts = tcase_create("parts");
    tcase_add_checked_fixture(parts, setup, teardown);
    tcase_add_test(parts, a_later_part_names_the_first);
    tcase_add_test(parts, a_first_part_under_another_name_cannot_find_the_others);
    tcase_add_test(parts, a_missing_part_is_named);
    tcase_add_test(parts, swapped_parts_are_named);
    tcase_add_test(parts, a_part_that_is_cut_is_named);
    tcase_add_test(parts, a_part_of_another_model_is_named);
    tcase_add_test(parts, a_tensor_in_two_parts_is_named);
    suite_add_tcase(s, parts);

    TCase *folders = tcase_create("folders");
    tcase_add_checked_fixture(folders, setup, teardown);
    tcase_add_loop_test(folders, what_is_wrong_in_a_folder_is_named, 0, ROWS(wrong));
    tcase_add_loop_test(folders, a_missing_file_is_named, 0, 3);
    tcase_add_test(folders, what_an_index_and_its_files_disagree_on_is_named);
    tcase_add_test(folders, survives_a_failure_of_every_allocation);
    suite_add_tcase(s, folders);
    return s;
}
