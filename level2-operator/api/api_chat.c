// The messages of a chat request.
#include "level2-operator/api/api_request.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"

// developer is the newer name of system; models here were trained with the older one.
static const struct {
    const char *name, *role;
} roles[] = {
    {"system",    "system"   },
    {"developer", "system"   },
    {"user",      "user"     },
    {"assistant", "assistant"},
    {"tool",      "tool"     },
    {"function",  "function" },
};

static enum status read_role(struct chat_message *m, const struct json_input *in,
                             struct error *err) {
    const char *name = NULL;
    size_t n_name;

    enum status st = json_input_string(&name, &n_name, in, "role", err);
    if (st) return st;
    for (size_t i = 0; name && i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(name, roles[i].name) != 0) continue;
        m->role = roles[i].role;
        return OK;
    }
    return json_input_refuse(in, "role", ERR_INPUT,
                             "must be system, developer, user, assistant, tool or function",
                             err);
}

// One element of a content array: only text can be given to a text model.
static enum status read_part(const char **text, size_t *n_text, const json_t *part,
                             const struct json_input *in, struct error *err) {
    const json_t *type = json_object_get(part, "type");
    const json_t *value = json_object_get(part, "text");

    if (!json_is_string(type)) {
        return json_input_refuse(in, "content", ERR_INPUT, "has a part without a type",
                                 err);
    }
    if (strcmp(json_string_value(type), "text") != 0) {
        return json_input_refuse(in, "content", ERR_UNSUPPORTED,
                                 "has a part that is not text; this model reads only text",
                                 err);
    }
    if (!json_is_string(value)) {
        return json_input_refuse(in, "content", ERR_INPUT, "has a text part without text",
                                 err);
    }
    *text = json_string_value(value);
    *n_text = json_string_length(value);
    return OK;
}

static enum status read_parts(struct chat_message *m, const json_t *parts,
                              const struct json_input *in, struct arena *arena,
                              struct error *err) {
    const char *text;
    size_t n_text, n_total = 0;
    size_t n_parts = json_array_size(parts);

    for (size_t i = 0; i < n_parts; i++) {
        enum status st = read_part(&text, &n_text, json_array_get(parts, i), in, err);
        if (st) return st;
        n_total += n_text;
    }
    char *all = arena_alloc(arena, n_total, 1);
    if (!all) return error_set(err, ERR_MEMORY, "no memory for the messages");

    m->content = all;
    for (size_t i = 0; i < n_parts; i++) {
        if (read_part(&text, &n_text, json_array_get(parts, i), in, err) != OK) continue;
        memcpy(all + m->n_content, text, n_text);
        m->n_content += n_text;
    }
    return OK;
}

static enum status read_content(struct chat_message *m, const struct json_input *in,
                                struct arena *arena, struct error *err) {
    const json_t *content = json_input_find(in, "content");

    if (json_is_string(content)) {
        m->content = json_string_value(content);
        m->n_content = json_string_length(content);
        return OK;
    }
    if (json_is_array(content)) return read_parts(m, content, in, arena, err);
    if (!content && strcmp(m->role, "assistant") == 0) {
        m->content = "";
        return OK;
    }
    return json_input_refuse(in, "content", ERR_INPUT,
                             "must be a string or an array of text parts", err);
}

static enum status read_message(struct chat_message *m, const struct json_input *in,
                                struct arena *arena, struct error *err) {
    m->fields = in->object; // a template may ask for more, as for name
    enum status st = read_role(m, in, err);
    if (st) return st;
    if (json_array_size(json_input_find(in, "tool_calls")) > 0) {
        return json_input_refuse(in, "tool_calls", ERR_UNSUPPORTED,
                                 "asks for tools, which this server does not offer", err);
    }
    return read_content(m, in, arena, err);
}

enum status api_chat_read(struct api_request *r, const struct json_input *in,
                          struct arena *arena, struct error *err) {
    const json_t *messages = json_input_find(in, "messages");
    size_t n = json_array_size(messages);

    if (n == 0) { // also for what is not an array
        return json_input_refuse(in, "messages", ERR_INPUT,
                                 "must be an array of at least one message", err);
    }
    if (n > LIMIT_MESSAGES)
        return json_input_refuse_count(in, "messages", n, LIMIT_MESSAGES, err);
    r->messages = ARENA_NEW(arena, struct chat_message, n);
    if (!r->messages) return error_set(err, ERR_MEMORY, "no memory for %zu messages", n);
    r->n_messages = (int)n;

    for (int i = 0; i < r->n_messages; i++) {
        struct json_input message = {json_array_get(messages, (size_t)i), ""};
        snprintf(message.path, sizeof(message.path), "messages[%d].", i);
        enum status st = read_message(&r->messages[i], &message, arena, err);
        if (st) return st;
    }
    r->template_variables = json_input_find(in, "chat_template_kwargs");
    if (r->template_variables && !json_is_object(r->template_variables))
        return json_input_refuse(in, "chat_template_kwargs", ERR_INPUT, "must be an object",
                                 err);
    r->add_generation_prompt = true;
    return json_input_bool(&r->add_generation_prompt, in, "add_generation_prompt", err);
}

struct chat_request api_chat_request(const struct api_request *r, size_t n_body) {
    return (struct chat_request){.messages = r->messages,
                                 .n_messages = r->n_messages,
                                 .add_generation_prompt = r->add_generation_prompt,
                                 .variables = r->template_variables,
                                 .n_bytes = n_body,
                                 .now_s = clock_unix_s()};
}
