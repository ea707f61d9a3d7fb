// Words, pipe, key file: whatever they are, a text or one sentence on why not.
#include "level1-user/question.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/mapped_file.h"
#include "common/utf8.h"

enum status question_from_words(struct text *question, const struct cli_list *words,
                                struct error *err) {
    bool is_whole = true;
    for (int i = 0; i < words->n_items && is_whole; i++) {
        is_whole = (i == 0 || text_append(question, " ", 1)) &&
                   text_append(question, words->items[i], strlen(words->items[i]));
    }
    return is_whole ? OK : error_set(err, ERR_MEMORY, "no memory for the question");
}

enum status question_from_pipe(struct text *question, struct error *err) {
    char bytes[4096];
    size_t n;

    while ((n = fread(bytes, 1, sizeof(bytes), stdin)) > 0) {
        if (n > LIMIT_BODY_BYTES - question->n) {
            return error_set(err, ERR_LIMIT, "standard input: above %d bytes",
                             LIMIT_BODY_BYTES);
        }
        if (!text_append(question, bytes, n)) {
            return error_set(err, ERR_MEMORY, "no memory for the question");
        }
    }
    if (ferror(stdin)) return error_set(err, ERR_IO, "standard input: %s", strerror(errno));
    if (memchr(text_string(question), '\0', question->n)) {
        return error_set(err, ERR_INPUT, "standard input: not text, it holds a zero byte");
    }
    while (question->n > 0 && strchr("\r\n", question->bytes[question->n - 1])) {
        question->bytes[--question->n] = '\0';
    }
    return OK;
}

enum status text_from_file(struct text *text, const char *path, struct error *err) {
    struct mapped_file file = {0};
    struct text whole = {0};
    const char *name = error_path(path);

    enum status st = mapped_file_open(&file, path, err);
    if (st != OK) return st;
    const char *bytes = (const char *)file.bytes;
    if (file.n_bytes > LIMIT_BODY_BYTES) {
        st = error_set(err, ERR_LIMIT, "%s: above %d bytes", name, LIMIT_BODY_BYTES);
    } else if (file.n_bytes > 0 &&
               (!utf8_valid(bytes, file.n_bytes) || memchr(bytes, '\0', file.n_bytes))) {
        st = error_set(err, ERR_INPUT, "%s: not text in UTF-8", name);
    } else if (file.n_bytes > 0 && !text_append(&whole, bytes, file.n_bytes)) {
        st = error_set(err, ERR_MEMORY, "%s: no memory for it", name);
    }
    mapped_file_close(&file);
    if (st != OK) return st;
    text_free(text);
    *text = whole;
    return OK;
}

enum status key_from_file(char *key, size_t key_bytes, const char *path,
                          struct error *err) {
    FILE *file = fopen(path, "r");
    if (!file) return error_set(err, ERR_IO, "%s: %s", path, strerror(errno));

    char *line = fgets(key, (int)key_bytes, file);
    int failed = ferror(file) ? errno : 0; // a folder can be opened, but not read
    fclose(file);
    if (failed) return error_set(err, ERR_IO, "%s: %s", path, strerror(failed));
    if (line && strcspn(key, "\r\n") == key_bytes - 1) {
        return error_set(err, ERR_LIMIT, "%s: an API key is at most %zu bytes long", path,
                         key_bytes - 2);
    }
    if (line) key[strcspn(key, "\r\n")] = '\0';
    if (!line || !*key) {
        return error_set(err, ERR_FORMAT, "%s: no API key in its first line", path);
    }
    return OK;
}
