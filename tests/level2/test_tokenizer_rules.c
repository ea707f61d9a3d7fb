// Which chains of a tokenizer.json are ours. The expressions are those of published files, letter by letter;
// a chain that differs in one place is none of ours.
#include "level2-operator/files/tokenizer_rules.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define BYTE_LEVEL(regex)                                                                  \
    "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true,'use_regex':" regex  \
    "}"
#define CHAIN(first, second) "{'type':'Sequence','pretokenizers':[" first "," second "]}"
#define SPLIT(digits)                                                                      \
    "{'type':'Split','pattern':{'Regex':'(?i:\\u0027s|\\u0027t|\\u0027re|\\u0027ve|"       \
    "\\u0027m|\\u0027ll|\\u0027d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" digits         \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|"       \
    "\\\\s+'},'behavior':'Isolated','invert':false}"
#define DIGITS  "{'type':'Digits','individual_digits':true}"
#define SPACE   "\\u2581"
#define REPLACE "{'type':'Replace','pattern':{'String':' '},'content':'" SPACE "'}"
#define PREPEND "{'type':'Prepend','prepend':'" SPACE "'}"
#define BOS     "{'SpecialToken':{'id':'<s>','type_id':0}}"
#define TEXT    "{'Sequence':{'id':'A','type_id':0}}"

// JSON with ' for ".
static struct tokenizer_rules rules_of(const char *normalizer, const char *words,
                                       const char *around, bool is_spm) {
    char text[2048];
    json_error_t why;
    snprintf(text, sizeof(text), "{'normalizer':%s,'pre_tokenizer':%s,'post_processor':%s}",
             normalizer, words, around);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *json = json_loads(text, 0, &why);
    ck_assert_msg(json != NULL, "%s at %d: %s", why.text, why.position, text);
    struct tokenizer_rules rules = tokenizer_rules_of(json, is_spm);
    json_decref(json);
    return rules;
}

static const struct {
    const char *words, *pre; // NULL: not ours
} chains[] = {
    {BYTE_LEVEL("true"),                                  "gpt-2"                                                          },
    {CHAIN(DIGITS,                                        BYTE_LEVEL("true")),                                               "smollm"},
    {CHAIN(SPLIT("\\\\p{N}{1,3}"),                                                   BYTE_LEVEL("false")),                                                                                         "llama-bpe"},
    {CHAIN(SPLIT("\\\\p{N}"),                                        BYTE_LEVEL("false")),                 "qwen2"},
 // one thing different
    {CHAIN(SPLIT("\\\\p{N}{1,2}"),BYTE_LEVEL("false")),                                  NULL},
    {CHAIN(SPLIT("\\\\p{N}"),                        BYTE_LEVEL("true")),                                                                              NULL},
    {CHAIN(DIGITS,                                                   BYTE_LEVEL("false")),                                                                                              NULL},
    {CHAIN("{'type':'Digits','individual_digits':false}",                                               BYTE_LEVEL("true")),                                   NULL},
    {BYTE_LEVEL("false"),NULL},
    {"{'type':'ByteLevel','add_prefix_space':true}", NULL},
    {CHAIN(DIGITS,                                                   BYTE_LEVEL("true") "," DIGITS),                                                                                                  NULL},
    {"{'type':'Whitespace'}",                                                   NULL                                                                                                                          },
    {"null",                                                   NULL                                                                                                        },
    {"7",                                               NULL              },
};

START_TEST(words_are_known_by_their_whole_chain) {
    struct tokenizer_rules rules = rules_of("null", chains[_i].words, "null", false);
    assert_text(chains[_i].words, rules.pre, chains[_i].pre);
    ck_assert_ptr_null(rules.refused); // another name may be given
}
END_TEST

#define METASPACE(more) "{'type':'Metaspace','replacement':'" SPACE "'" more "}"

static const struct {
    const char *normalizer, *words;
    bool adds, everywhere, missing;
    const char *refused;
} spaces[] = {
    {"{'type':'Sequence','normalizers':[" PREPEND "," REPLACE "]}", "null",                                                                      true,  true,
     false,                                                                                                                                                           NULL           },
    {REPLACE,                                                       "{'type':'Split','pattern':{'String':' '},'behavior':'MergedWithPrevious'}",
     false,                                                                                                                                             false, false, NULL           },
    {"null",                                                        METASPACE(",'prepend_scheme':'first','split':false"),                        true,  false, true,  NULL           },
    {"null",                                                        METASPACE(",'prepend_scheme':'always','split':false"),                       true,  true,  true,  NULL           },
    {"null",                                                        METASPACE(",'prepend_scheme':'never','split':false"),                        false, false, false,
     NULL                                                                                                                                                                            },
    {"null",                                                        METASPACE(",'add_prefix_space':false,'split':false"),                        false, false, false,
     NULL                                                                                                                                                                            },
    {"null",                                                        METASPACE(",'prepend_scheme':'first'"),                                      false, false, false, "pre_tokenizer"},
    {"null",                                                        METASPACE(",'prepend_scheme':'first','split':true"),                         false, false, false,
     "pre_tokenizer"                                                                                                                                                                 },
    {"{'type':'NFKC'}",                                             "null",                                                                      false, false, false, "normalizer"   },
    {"{'type':'Replace','pattern':{'String':' '},'content':'_'}",   "null",                                                                      false, false,
     false,                                                                                                                                                           "normalizer"   },
    {REPLACE,                                                       "{'type':'Whitespace'}",                                                     false, false, false, "pre_tokenizer"},
};

START_TEST(spaces_of_sentencepiece_are_seen) {
    struct tokenizer_rules rules =
        rules_of(spaces[_i].normalizer, spaces[_i].words, "null", true);
    assert_text("refused", rules.refused, spaces[_i].refused);
    if (rules.refused) return;
    ck_assert_int_eq(rules.adds_space, spaces[_i].adds);
    ck_assert_int_eq(rules.adds_space_everywhere, spaces[_i].everywhere);
    ck_assert_int_eq(rules.adds_missing_space, spaces[_i].missing);
}
END_TEST

static const struct {
    const char *around;
    bool adds_bos, adds_eos;
    const char *refused;
} texts[] = {
    {"null",                                                              false, false, NULL            },
    {"{'type':'ByteLevel'}",                                              false, false, NULL            },
    {"{'type':'TemplateProcessing','single':[" BOS "," TEXT "]}",         true,  false, NULL            },
    {"{'type':'TemplateProcessing','single':[" BOS "," TEXT "," BOS "]}", true,  true,  NULL            },
    {"{'type':'TemplateProcessing','single':[" TEXT "]}",                 false, false, NULL            },
    {"{'type':'Sequence','processors':[{'type':'ByteLevel'},"
     "{'type':'TemplateProcessing','single':[" BOS "," TEXT "]}]}",
     true,                                                                       false, NULL            },
    {"{'type':'TemplateProcessing','single':[" BOS "," BOS "," TEXT "]}", true,  false,
     "post_processor"                                                                                   },
    {"{'type':'BertProcessing'}",                                         false, false, "post_processor"},
};

START_TEST(tokens_around_a_text_are_seen) {
    struct tokenizer_rules rules =
        rules_of("null", BYTE_LEVEL("true"), texts[_i].around, false);
    assert_text("refused", rules.refused, texts[_i].refused);
    ck_assert_int_eq(rules.adds_bos, texts[_i].adds_bos);
    ck_assert_int_eq(rules.adds_eos, texts[_i].adds_eos);
}
END_TEST

START_TEST(a_normal_form_is_seen) {
    ck_assert(rules_of("{'type':'NFC'}", "null", "null", false).is_nfc);
    ck_assert(!rules_of("null", "null", "null", false).is_nfc);
    assert_text("NFKC", rules_of("{'type':'NFKC'}", "null", "null", false).refused,
                "normalizer");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/tokenizer_rules");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, words_are_known_by_their_whole_chain, 0, ROWS(chains));
    tcase_add_loop_test(reference, spaces_of_sentencepiece_are_seen, 0, ROWS(spaces));
    tcase_add_loop_test(reference, tokens_around_a_text_are_seen, 0, ROWS(texts));
    tcase_add_test(reference, a_normal_form_is_seen);
    return s;
}
