// Patterns of JSON against those that we know. Nothing is interpreted: a chain is one of ours or not.
#include "level2-operator/files/tokenizer_rules.h"

#include <string.h>

static const char *type_of(const json_t *part) {
    const char *type = json_string_value(json_object_get(part, "type"));
    return type ? type : "";
}

static bool is_type(const json_t *part, const char *type) {
    return strcmp(type_of(part), type) == 0;
}

static bool has_text(const json_t *part, const char *field, const char *text) {
    const char *value = json_string_value(json_object_get(part, field));
    return value && strcmp(value, text) == 0;
}

// Part i of a chain; one that is no chain is its own only part.
static const json_t *part_of(const json_t *chain, const char *list, size_t i) {
    if (is_type(chain, "Sequence")) return json_array_get(json_object_get(chain, list), i);
    return i == 0 && json_is_object(chain) ? chain : NULL;
}

// ---- words --------------------------------------------------------------------------------------

// What the two expressions have in common; they differ in how many digits make a word. Macros, since
// only literals can be joined.
#define BEFORE_DIGITS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define AFTER_DIGITS  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const struct {
    const char *pre, *regex;
} splits[] = {
    {"llama-bpe", BEFORE_DIGITS "\\p{N}{1,3}" AFTER_DIGITS},
    {"qwen2",     BEFORE_DIGITS "\\p{N}" AFTER_DIGITS     },
};

static const char *pre_of_split(const json_t *split) {
    const json_t *pattern = json_object_get(split, "pattern");
    if (!has_text(split, "behavior", "Isolated") ||
        json_is_true(json_object_get(split, "invert")))
        return NULL;
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
        if (has_text(pattern, "Regex", splits[i].regex)) return splits[i].pre;
    return NULL;
}

// Bytes to symbols, with the GPT-2 pattern or after another one.
static bool is_byte_level(const json_t *part, bool with_regex) {
    bool has_regex = !json_is_false(json_object_get(part, "use_regex"));
    return is_type(part, "ByteLevel") && has_regex == with_regex &&
           !json_is_true(json_object_get(part, "add_prefix_space"));
}

static const char *read_pre(const json_t *chain) {
    const json_t *first = part_of(chain, "pretokenizers", 0);
    const json_t *second = part_of(chain, "pretokenizers", 1);

    if (part_of(chain, "pretokenizers", 2)) return NULL;
    if (!second) return is_byte_level(first, true) ? "gpt-2" : NULL;
    if (is_type(first, "Digits") && is_byte_level(second, true) &&
        json_is_true(json_object_get(first, "individual_digits")))
        return "smollm";
    if (is_type(first, "Split") && is_byte_level(second, false)) return pre_of_split(first);
    return NULL;
}

// ---- SentencePiece's spaces ---------------------------------------------------------------------

static const char visible_space[] = "\xe2\x96\x81"; // U+2581

static bool read_spm_normalizer(struct tokenizer_rules *rules, const json_t *chain) {
    const json_t *part;
    for (size_t i = 0; (part = part_of(chain, "normalizers", i)); i++) {
        const json_t *pattern = json_object_get(part, "pattern");
        if (is_type(part, "Prepend") && has_text(part, "prepend", visible_space)) {
            rules->adds_space = rules->adds_space_everywhere = true;
        } else if (!is_type(part, "Replace") || !has_text(pattern, "String", " ") ||
                   !has_text(part, "content", visible_space)) {
            return false;
        }
    }
    return true;
}

static bool read_spm_words(struct tokenizer_rules *rules, const json_t *part) {
    if (!json_is_object(part)) return true;
    if (is_type(part, "Split")) // after the normalizer no space is left to split at
        return has_text(json_object_get(part, "pattern"), "String", " ");
    if (!is_type(part, "Metaspace") || !has_text(part, "replacement", visible_space) ||
        !json_is_false(json_object_get(part, "split"))) // no merge would reach over a space
        return false;
    if (has_text(part, "prepend_scheme", "never") ||
        json_is_false(json_object_get(part, "add_prefix_space")))
        return true;
    rules->adds_space = rules->adds_missing_space = true;
    rules->adds_space_everywhere = !has_text(part, "prepend_scheme", "first");
    return true;
}

// ---- around a text ------------------------------------------------------------------------------

static bool is_special(const json_t *item) {
    return json_object_get(item, "SpecialToken") != NULL;
}

static bool read_around(struct tokenizer_rules *rules, const json_t *chain) {
    const json_t *part;
    for (size_t i = 0; (part = part_of(chain, "processors", i)); i++) {
        if (is_type(part, "ByteLevel")) continue; // trims offsets, not tokens
        if (!is_type(part, "TemplateProcessing")) return false;
        const json_t *single = json_object_get(part, "single");
        size_t n = json_array_size(single);
        rules->adds_bos = is_special(json_array_get(single, 0));
        rules->adds_eos = n > 1 && is_special(json_array_get(single, n - 1));
        if (n > 1u + rules->adds_bos + rules->adds_eos) return false;
    }
    return true;
}

struct tokenizer_rules tokenizer_rules_of(const json_t *tokenizer, bool is_spm) {
    struct tokenizer_rules rules = {0};
    const json_t *normalizer = json_object_get(tokenizer, "normalizer");
    const json_t *words = json_object_get(tokenizer, "pre_tokenizer");

    if (is_spm) {
        if (!read_spm_normalizer(&rules, normalizer)) rules.refused = "normalizer";
        if (!read_spm_words(&rules, words)) rules.refused = "pre_tokenizer";
    } else {
        rules.pre = read_pre(words);
        rules.is_nfc = is_type(normalizer, "NFC");
        if (json_is_object(normalizer) && !rules.is_nfc) rules.refused = "normalizer";
    }
    if (!read_around(&rules, json_object_get(tokenizer, "post_processor")))
        rules.refused = "post_processor";
    return rules;
}
