// Newer folders keep the template in a file of its own, since it has grown.
#include "level2-operator/files/hf_template.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/mapped_file.h"
#include "level2-operator/files/hf_json.h"

static const char key[] = "tokenizer.chat_template";

static const json_t *find_text(const json_t *config) {
    const json_t *value = json_object_get(config, "chat_template");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, "default") == 0) return json_object_get(item, "template");
    }
    return value;
}

enum status hf_template_read(struct key_list *keys, const json_t *config,
                             const char *folder, struct error *err) {
    const json_t *text = find_text(config);
    struct mapped_file map = {0};
    char path[LIMIT_PATH_BYTES];

    enum status st = hf_path(path, folder, "chat_template.jinja", err);
    if (st != OK) return st;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        if (json_is_string(text))
            key_list_string(keys, key, json_string_value(text), json_string_length(text),
                            "tokenizer_config.json: chat_template");
        return OK;
    }
    if ((st = mapped_file_open(&map, path, err)) != OK) return st;
    if (map.n_bytes > LIMIT_TEMPLATE_BYTES) {
        st = error_set(err, ERR_LIMIT, "%s: %zu bytes, the limit is %d", error_path(path),
                       map.n_bytes, LIMIT_TEMPLATE_BYTES);
    } else {
        key_list_string(keys, key, map.bytes ? (const char *)map.bytes : "", map.n_bytes,
                        "chat_template.jinja");
    }
    mapped_file_close(&map);
    return st;
}
