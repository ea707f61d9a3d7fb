// The vocabulary, one token a line, as the file spells it.
#include "level2-operator/inspect/inspect.h"

#include "level2-operator/inspect/inspect_text.h"

const char *inspect_kind_name(enum token_kind kind) {
    static const char *const names[] = {
        "?", "normal", "unknown", "control", "user-defined", "unused", "byte"};
    return (unsigned)kind <= TOKEN_BYTE ? names[kind] : names[0];
}

void inspect_print_tokens(FILE *out, const struct tokenizer_facts *facts) {
    bool has_scores = facts->family == FAMILY_SPM;
    fprintf(out, "  %8s  %-12s  %s%s\n", "id", "kind", has_scores ? "     score  " : "",
            "token");
    for (int id = 0; id < facts->n_vocab; id++) {
        const struct token_fact *token = &facts->tokens[id];
        fprintf(out, "  %8d  %-12s  ", id, inspect_kind_name(token->kind));
        if (has_scores) fprintf(out, "%10g  ", (double)token->score);
        text_quoted(out, (struct gguf_string){token->bytes, token->n_bytes}, true);
        putc('\n', out);
    }
}
