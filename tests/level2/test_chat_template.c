// Which template a model is served with: the file's own, a built-in one, one from a file, none.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "level2-operator/template/chat.h"
#include "level2-operator/template/chat_builtin.h"
#include "tests/support/chat_house.h"
#include "tests/support/suite.h"

#define U(role, text)                                                                      \
    { role, text, sizeof(text) - 1, NULL }

static const struct chat_message talk[] = {
    U("system", " Be brief. "),
    U("user", "Hello"),
    U("assistant", "   I am an assistant   "),
    U("user", "Who are you"),
};

static const struct {
    const char *name;
    const char *choice;
    int n_messages;
    bool prompt;
    const char *want; // behind bos, which is <|im_start|> in the tiny model
} builtins[] = {
    {"TPL-04 chatml keeps spaces",                         "chatml",  4, true,
     "<|im_start|>system\n Be brief. <|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
     "<|im_start|>assistant\n   I am an assistant   <|im_end|>\n"
     "<|im_start|>user\nWho are you<|im_end|>\n<|im_start|>assistant\n"                                                                 },
    {"TPL-04 llama3 trims, TPL-03 three turns",            "llama3",  4, true,
     "<|im_start|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
     "<|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>"
     "<|start_header_id|>assistant<|end_header_id|>\n\nI am an assistant<|eot_id|>"
     "<|start_header_id|>user<|end_header_id|>\n\nWho are you<|eot_id|>"
     "<|start_header_id|>assistant<|end_header_id|>\n\n"                                                                                },
    {"TPL-03 one turn, not opened",                        "llama3",  2, false,
     "<|im_start|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
     "<|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>"                                                                      },
    {"TPL-02, TPL-04 gemma has no system role, and trims", "gemma",   4, true,
     "<|im_start|><start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n"
     "<start_of_turn>model\nI am an assistant<end_of_turn>\n"
     "<start_of_turn>user\nWho are you<end_of_turn>\n<start_of_turn>model\n"                                                            },
    {"mistral",                                            "mistral", 4, true,
     "<|im_start|>[INST]  Be brief. \n\nHello [/INST] I am an assistant<|im_end|>"
     "[INST] Who are you [/INST]"                                                                                                       },
    {"plain",                                              "plain",   2, true,  "<|im_start|>System: Be brief.\nUser: Hello\nAssistant:"},
};

START_TEST(built_in_templates_write_their_families_turns) {
    struct chat_text chat;
    struct chat_house h;
    ck_assert_int_eq(chat_house_open(&h, NULL, builtins[_i].choice), OK);
    ck_assert_int_eq(
        chat_house_render(&h, &chat, talk, builtins[_i].n_messages, builtins[_i].prompt),
        OK);
    assert_chat(builtins[_i].name, &chat, builtins[_i].want);
    chat_house_close(&h);
}
END_TEST

static void let_bos_be_added(struct gguf_file *f) {
    file_set(f, "tokenizer.ggml.add_bos_token", GGUF_BOOL, "\1", 1);
}

START_TEST(tpl_01_one_begin_token_though_template_and_tokenizer_write_it) {
    struct chat_text chat;
    struct chat_house h;
    token_id ids[1000];
    int n_ids;

    ck_assert_int_eq(chat_house_open(&h, let_bos_be_added, "llama3"), OK);
    ck_assert(h.tokenizer.add_bos && h.tokenizer.bos >= 0);
    ck_assert_int_eq(chat_house_render(&h, &chat, talk + 1, 1, true), OK);
    ck_assert_uint_lt(tokenizer_max_ids(&h.tokenizer, chat.n_bytes), 1000);
    ck_assert_int_eq(tokenizer_encode(&h.tokenizer, chat.text, chat.n_bytes, chat.markup,
                                      chat.n_markup, ADD_BOS, ids, &n_ids, &h.arena, NULL),
                     OK);
    ck_assert_int_eq(ids[0], h.tokenizer.bos);
    ck_assert_int_ne(ids[1], h.tokenizer.bos);
    chat_house_close(&h);
}
END_TEST

static void have_none(struct gguf_file *f) {
    file_drop(f, CHAT_KEY);
}

static void have_a_number(struct gguf_file *f) {
    file_set_u32(f, CHAT_KEY, 1);
}

static void have_an_empty_one(struct gguf_file *f) {
    file_set_string(f, CHAT_KEY, "");
}

static void have_a_broken_one(struct gguf_file *f) {
    file_set_string(f, CHAT_KEY, "a\n{% if %}");
}

static const struct {
    const char *name;
    void (*change)(struct gguf_file *f);
    bool is_there;
    enum status want;
    const char *words;
} files[] = {
    {"none",      have_none,         false, ERR_UNSUPPORTED, "--chat-template chatml"},
    {"a number",  have_a_number,     false, ERR_UNSUPPORTED, "base model"            },
    {"empty",     have_an_empty_one, false, ERR_UNSUPPORTED, "base model"            },
    {"a bad one", have_a_broken_one, true,  ERR_FORMAT,      "line 2"                },
};

// A model is good for completions without a template: it loads, and chat says what is wrong.
START_TEST(a_file_without_a_good_template_is_no_failure_yet) {
    struct chat_text chat;
    struct chat_house h;
    ck_assert_int_eq(chat_house_open(&h, files[_i].change, NULL), OK);
    ck_assert_int_eq(h.chat.is_there, files[_i].is_there);
    ck_assert_int_eq(chat_house_render(&h, &chat, talk, 2, true), files[_i].want);
    ck_assert_msg(strstr(h.err.text, files[_i].words), "%s: %s", files[_i].name,
                  h.err.text);
    ck_assert_ptr_null(chat.text);
    ck_assert_int_eq(
        chat_template_read(&h.chat, &h.gguf, "chatml", &h.tokenizer, &h.arena, NULL), OK);
    ck_assert_int_eq(chat_house_render(&h, &chat, talk, 2, true), OK);
    chat_house_close(&h);
}
END_TEST

static void assert_choice(const char *path, const char *source, enum status want,
                          const char *words) {
    struct chat_house h;
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(source, f) >= 0 && fclose(f) == 0);
    ck_assert_int_eq(chat_house_open(&h, have_none, path), want);
    ck_assert_msg(want == OK || strstr(h.err.text, words), "%s", h.err.text);
    chat_house_close(&h);
}

START_TEST(a_chosen_file_must_be_right) {
    char path[64];
    struct chat_house h;
    snprintf(path, sizeof(path), "/tmp/test_chat_%d.jinja", (int)getpid());
    assert_choice(path, "{{ messages[0].content }}", OK, "");
    assert_choice(path, "{{ messages[0].content", ERR_FORMAT, "line 1");
    assert_choice(path, "", ERR_INPUT, "the file is empty");
    unlink(path);
    ck_assert_int_eq(chat_house_open(&h, NULL, path), ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(h.err.text, "neither a file nor " CHAT_BUILTIN_NAMES));
    chat_house_close(&h);
}
END_TEST

START_TEST(every_built_in_name_stands_in_the_list_of_names) {
    for (const struct chat_builtin *b = chat_builtins; b->name; b++)
        ck_assert_ptr_nonnull(strstr(CHAT_BUILTIN_NAMES, b->name));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/chat_template");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, built_in_templates_write_their_families_turns, 0,
                        sizeof(builtins) / sizeof(builtins[0]));
    tcase_add_test(reference,
                   tpl_01_one_begin_token_though_template_and_tokenizer_write_it);
    tcase_add_test(reference, every_built_in_name_stands_in_the_list_of_names);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_file_without_a_good_template_is_no_failure_yet, 0,
                        sizeof(files) / sizeof(files[0]));
    tcase_add_test(failures, a_chosen_file_must_be_right);
    suite_add_tcase(s, failures);
    return s;
}
