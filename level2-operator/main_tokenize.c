// tokenize: text to token ids and back, by the rules of a model file. Reads the file's metadata and
// no weight, so it is quick enough to be called once per text.
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/clock.h"
#include "common/defaults.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/printable.h"
#include "level2-operator/files/model_file.h"
#include "level2-operator/template/chat.h"
#include "level2-operator/text/json_output.h"
#include "level2-operator/tokenizer/tokenizer.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

// Bytes: for 20 MB of text at the least (tokenizer_work_bytes).
static const size_t arena_limit = (size_t)4 << 30;

struct options {
    const char *model, *pre, *chat_template;
    const char *text; // NULL: standard input
    bool special, bos, eos, ids, json;
    bool decode, jsonl, chat; // what to do, at most one; none: text to ids
};

struct session {
    // owned
    struct model_file file;
    struct arena arena; // tokenizer
    struct arena work;  // one text
    char *input;        // standard input; malloc'd
    json_t *document;   // of --chat
    // views
    struct tokenizer tokenizer;
};

static enum status session_open(struct session *s, const struct options *o,
                                struct error *err) {
    const char *name = error_path(o->model);
    enum status st;
    arena_init(&s->arena, arena_limit);
    arena_init(&s->work, arena_limit);
    if ((st = model_file_open(&s->file, o->model, &s->arena, 0, err)) != OK) return st;
    return tokenizer_from_gguf(&s->tokenizer, &s->file.gguf, o->pre, name, &s->arena, err);
}

static void session_close(struct session *s) {
    json_decref(s->document);
    free(s->input);
    model_file_close(&s->file); // its list of maps lies in the arena
    arena_free(&s->work);
    arena_free(&s->arena);
}

// All of standard input. A zero byte stands behind it.
static enum status read_input(struct session *s, size_t *n_bytes, struct error *err) {
    size_t capacity = 0, n = 0;
    do {
        if (n + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 64 << 10;
            char *grown = realloc(s->input, capacity);
            if (!grown)
                return error_set(err, ERR_MEMORY,
                                 "no memory for standard input beyond %zu bytes", n);
            s->input = grown;
        }
        n += fread(s->input + n, 1, capacity - n - 1, stdin);
    } while (!feof(stdin) && !ferror(stdin));
    if (ferror(stdin)) return error_set(err, ERR_IO, "standard input: %s", strerror(errno));
    s->input[n] = '\0';
    *n_bytes = n;
    return OK;
}

// The argument, or standard input.
static enum status text_get(struct session *s, const struct options *o, const char **text,
                            size_t *n_bytes, struct error *err) {
    if (o->text) {
        *text = o->text;
        *n_bytes = strlen(o->text);
        return OK;
    }
    enum status st = read_input(s, n_bytes, err);
    *text = s->input;
    return st;
}

static int added(const struct options *o) {
    return (o->bos ? ADD_BOS : 0) | (o->eos ? ADD_EOS : 0);
}

// ids live in the work arena.
static enum status text_encode(struct session *s, const char *text, size_t n_bytes,
                               const struct markup *markup, int n_markup, int add,
                               token_id **ids, int *n_ids, struct error *err) {
    *n_ids = 0;
    *ids = ARENA_NEW(&s->work, token_id, tokenizer_max_ids(&s->tokenizer, n_bytes));
    if (!*ids)
        return error_set(err, ERR_MEMORY, "no memory for the ids of %zu bytes", n_bytes);
    return tokenizer_encode(&s->tokenizer, text, n_bytes, markup, n_markup, add, *ids,
                            n_ids, &s->work, err);
}

// ---- printing -----------------------------------------------------------------------------------

static void print_ids(const token_id *ids, int n_ids) {
    for (int i = 0; i < n_ids; i++) printf("%s%d", i ? " " : "", (int)ids[i]);
    printf("\n");
}

static void print_table(const struct tokenizer *t, const token_id *ids, int n_ids) {
    bool colour = cli_wants_colour(stdout);
    for (int i = 0; i < n_ids; i++) {
        struct token_piece piece = tokenizer_piece(t, ids[i], true);
        bool is_control = piece.kind == TOKEN_CONTROL;
        printf("%8d  %s", (int)ids[i], is_control && colour ? "\033[35m" : "");
        printable_quote(stdout, piece.bytes, piece.n_bytes);
        printf("%s%s\n", is_control && colour ? "\033[0m" : "",
               is_control ? "  control" : "");
    }
    printf("%d token%s\n", n_ids, n_ids == 1 ? "" : "s");
}

static json_t *ids_json(const token_id *ids, int n_ids) {
    json_t *array = json_array();
    int failed = 0;
    for (int i = 0; i < n_ids && !failed; i++)
        failed = json_array_append_new(array, json_integer(ids[i]));
    if (!failed) return array;
    json_decref(array);
    return NULL;
}

// One document on standard output. Takes the value over.
static enum status print_json(json_t *value, struct error *err) {
    int failed = value ? json_dumpf(value, stdout, JSON_COMPACT) : -1;
    json_decref(value);
    if (failed) return error_set(err, ERR_MEMORY, "no memory for the JSON output");
    putchar('\n');
    return OK;
}

static enum status print_tokens(struct session *s, const struct options *o,
                                const token_id *ids, int n_ids, struct error *err) {
    if (o->json) {
        json_t *pieces = json_array();
        for (int i = 0; i < n_ids; i++) {
            struct token_piece piece = tokenizer_piece(&s->tokenizer, ids[i], true);
            json_array_append_new(pieces, json_output_text(piece.bytes, piece.n_bytes));
        }
        return print_json(
            json_pack("{s:o, s:o}", "ids", ids_json(ids, n_ids), "pieces", pieces), err);
    }
    if (o->ids)
        print_ids(ids, n_ids);
    else
        print_table(&s->tokenizer, ids, n_ids);
    return OK;
}

// ---- what it does -------------------------------------------------------------------------------

static enum status run_encode(struct session *s, const struct options *o,
                              struct error *err) {
    const char *text;
    size_t n_bytes;
    token_id *ids;
    int n_ids;

    enum status st = text_get(s, o, &text, &n_bytes, err);
    if (st != OK) return st;
    struct markup all = {0, n_bytes};
    st = text_encode(s, text, n_bytes, &all, o->special, added(o), &ids, &n_ids, err);
    return st == OK ? print_tokens(s, o, ids, n_ids, err) : st;
}

// Ids in decimal, with spaces or commas between.
static enum status ids_parse(struct session *s, const char *text, size_t n_bytes,
                             token_id **ids, int *n_ids, struct error *err) {
    static const char between[] = " \t\r\n,";
    *n_ids = 0;
    *ids = ARENA_NEW(&s->work, token_id, n_bytes / 2 + 1);
    if (!*ids) return error_set(err, ERR_MEMORY, "no memory for the ids");
    const char *at = text + strspn(text, between);
    for (; at < text + n_bytes; at += strspn(at, between)) {
        char *end;
        errno = 0;
        long id = strtol(at, &end, 10);
        if (end == at || errno || id < 0 || id >= s->tokenizer.n_vocab)
            return error_set(err, ERR_INPUT, "'%.20s' is not a token id; give 0 to %d", at,
                             s->tokenizer.n_vocab - 1);
        (*ids)[(*n_ids)++] = (token_id)id;
        at = end;
    }
    return OK;
}

static enum status run_decode(struct session *s, const struct options *o,
                              struct error *err) {
    const char *input;
    size_t n_input, n_text = 0;
    token_id *ids;
    int n_ids;
    enum status st;

    if ((st = text_get(s, o, &input, &n_input, err)) != OK) return st;
    if ((st = ids_parse(s, input, n_input, &ids, &n_ids, err)) != OK) return st;
    for (int i = 0; i < n_ids; i++) n_text += s->tokenizer.pieces[ids[i]].n_bytes;
    char *text = ARENA_NEW(&s->work, char, n_text), *end = text;
    if (!text) return error_set(err, ERR_MEMORY, "no memory for %zu bytes of text", n_text);
    struct decoding decoding = decoding_start(&s->tokenizer, o->special);
    for (int i = 0; i < n_ids; i++) {
        struct token_piece piece = decoding_next(&decoding, ids[i]);
        memcpy(end, piece.bytes, piece.n_bytes);
        end += piece.n_bytes;
    }
    if (o->json)
        return print_json(
            json_pack("{s:o}", "text", json_output_text(text, (size_t)(end - text))), err);
    fwrite(text, 1, (size_t)(end - text), stdout);
    return OK;
}

static enum status json_parse(json_t **value, const char *text, size_t n_bytes,
                              struct error *err) {
    json_error_t at;
    *value = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &at);
    if (*value) return OK;
    return error_set(err, ERR_INPUT, "line %d, column %d: %s", at.line, at.column, at.text);
}

// One line {"text": string, "special": bool} in, its ids out.
static enum status line_encode(struct session *s, const struct options *o,
                               const json_t *line, token_id **ids, int *n_ids,
                               struct error *err) {
    const json_t *text = json_object_get(line, "text");
    const json_t *special = json_object_get(line, "special");
    if (!json_is_string(text))
        return error_set_param(err, ERR_INPUT, "text", "a line needs a string \"text\"");
    if (special && !json_is_boolean(special))
        return error_set_param(err, ERR_INPUT, "special",
                               "\"special\" must be true or false");
    struct markup all = {0, json_string_length(text)};
    bool is_markup = special ? json_is_true(special) : o->special;
    return text_encode(s, json_string_value(text), all.end, &all, is_markup, added(o), ids,
                       n_ids, err);
}

// Every line is answered, a bad one with {"error": ...}; then the program fails at the end.
static enum status run_jsonl(struct session *s, const struct options *o,
                             struct error *err) {
    size_t capacity = 0;
    long n_lines = 0, n_bad = 0, first_bad = 0;
    enum status st = OK;

    for (ssize_t n; (n = getline(&s->input, &capacity, stdin)) >= 0 && st == OK;) {
        struct error bad;
        json_t *line = NULL, *reply;
        token_id *ids = NULL;
        int n_ids = 0;

        n_lines++;
        enum status line_st = json_parse(&line, s->input, (size_t)n, &bad);
        if (line_st == OK) line_st = line_encode(s, o, line, &ids, &n_ids, &bad);
        if (line_st == OK)
            reply = json_pack("{s:o}", "ids", ids_json(ids, n_ids));
        else
            reply = json_pack("{s:s}", "error", bad.text);
        if (line_st != OK && n_bad++ == 0) first_bad = n_lines;
        st = print_json(reply, err);
        fflush(stdout);
        json_decref(line);
        arena_reset(&s->work);
    }
    if (st == OK && ferror(stdin))
        return error_set(err, ERR_IO, "standard input: %s", strerror(errno));
    if (st == OK && n_bad > 0)
        return error_set(err, ERR_INPUT,
                         "%ld of %ld lines are wrong, the first is line %ld", n_bad,
                         n_lines, first_bad);
    return st;
}

static enum status messages_read(struct session *s, const json_t *list,
                                 struct chat_message **messages, struct error *err) {
    *messages = ARENA_NEW(&s->work, struct chat_message, json_array_size(list));
    if (!*messages) return error_set(err, ERR_MEMORY, "no memory for the messages");
    for (size_t i = 0; i < json_array_size(list); i++) {
        (*messages)[i] = (struct chat_message){.fields = json_array_get(list, i)};
        if (!json_is_object((*messages)[i].fields))
            return error_set_param(err, ERR_INPUT, "messages",
                                   "message %zu is no object with \"role\" and \"content\"",
                                   i);
    }
    return OK;
}

// Standard input: a list of messages, or {"messages": list, "add_generation_prompt": bool, "tools": list,
// "chat_template_kwargs": object}.
static enum status run_chat(struct session *s, const struct options *o, struct error *err) {
    struct chat_template chat_template;
    struct chat_message *messages;
    struct chat_text chat;
    size_t n_input;
    token_id *ids;
    int n_ids;
    enum status st;

    if ((st = read_input(s, &n_input, err)) != OK) return st;
    if ((st = json_parse(&s->document, s->input, n_input, err)) != OK) return st;
    const json_t *prompt = json_object_get(s->document, "add_generation_prompt");
    const json_t *list = json_object_get(s->document, "messages");
    if (json_is_array(s->document)) list = s->document;
    if (!json_is_array(list) || json_array_size(list) > LIMIT_MESSAGES)
        return error_set_param(err, ERR_INPUT, "messages",
                               "give a list of at most %d messages", LIMIT_MESSAGES);
    if ((st = messages_read(s, list, &messages, err)) != OK) return st;
    st = chat_template_read(&chat_template, &s->file.gguf, o->chat_template, &s->tokenizer,
                            &s->arena, err);
    if (st != OK) return st;
    const struct chat_request request = {
        .messages = messages,
        .n_messages = (int)json_array_size(list),
        .add_generation_prompt = !json_is_false(prompt),
        .tools = json_object_get(s->document, "tools"),
        .variables = json_object_get(s->document, "chat_template_kwargs"),
        .n_bytes = n_input,
        .now_s = clock_unix_s()};
    if ((st = chat_render(&chat, &chat_template, &request, &s->work, err)) != OK) return st;
    if (!o->ids && !o->json) {
        fwrite(chat.text, 1, chat.n_bytes, stdout);
        return OK;
    }
    st = text_encode(s, chat.text, chat.n_bytes, chat.markup, chat.n_markup, added(o), &ids,
                     &n_ids, err);
    return st == OK ? print_tokens(s, o, ids, n_ids, err) : st;
}

int main(int argc, char **argv) {
    struct options o = {.model = DEFAULT_MODEL_PATH};
    // clang-format off
    const struct cli_option rows[] = {
        {NULL, "TEXT", CLI_STRING, &o.text, .help = "what to tokenize, in quotes; else standard input"},
        {"model", "FILE", CLI_STRING, &o.model, .help = "GGUF file or model folder whose vocabulary is used"},
        {"pre", "NAME", CLI_STRING, &o.pre, .help = "pre-tokenizer in place of the file's"},
        {"chat-template", "NAME|FILE", CLI_STRING, &o.chat_template,
         .help = "chatml, llama3, mistral, gemma, plain, or a file, in place of the file's"},
        {"special", NULL, CLI_FLAG, &o.special, .help = "control tokens are read, or shown"},
        {"bos", NULL, CLI_FLAG, &o.bos, .help = "begin token first, if the file asks for it"},
        {"eos", NULL, CLI_FLAG, &o.eos, .help = "end token last, if the file asks for it"},
        {"ids", NULL, CLI_FLAG, &o.ids, .help = "print plain ids on one line"},
        {"json", NULL, CLI_FLAG, &o.json, .help = "print one JSON document"},
        {"decode", NULL, CLI_FLAG, &o.decode, .help = "TEXT is ids, like '19556 28': print their text"},
        {"jsonl", NULL, CLI_FLAG, &o.jsonl,
         .help = "a line {\"text\", \"special\"} in, a line {\"ids\"} out"},
        {"chat", NULL, CLI_FLAG, &o.chat,
         .help = "standard input is JSON messages: render them"},
        {0},
    };
    // clang-format on
    const struct cli cli = {.program = "tokenize",
                            .summary = "text to token ids and back",
                            .example = "tokenize --special '<|im_start|>user'",
                            .options = rows};
    struct session s = {0};
    struct error err;
    enum status st;

    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    if (o.decode + o.jsonl + o.chat > 1)
        return cli_usage(&cli, "give only one of --decode, --jsonl and --chat");
    if (o.text && (o.jsonl || o.chat))
        return cli_usage(&cli, "--jsonl and --chat read standard input, not TEXT");

    mapped_file_explain_faults();
    if ((st = session_open(&s, &o, &err)) != OK) goto done;
    if (o.decode)
        st = run_decode(&s, &o, &err);
    else if (o.jsonl)
        st = run_jsonl(&s, &o, &err);
    else if (o.chat)
        st = run_chat(&s, &o, &err);
    else
        st = run_encode(&s, &o, &err);
done:
    session_close(&s);
    return st == OK ? cli_finish(&cli) : cli_fail(&cli, &err);
}
