// The fields that a request may carry: which are read elsewhere, which may be there without effect,
// and which ask for something that is not built. The last kind is refused: an answer that silently
// lacks what was asked for is worse than none.
#include "level2-operator/api/api_request.h"

#include <string.h>

enum { MAX_WARNINGS = 8 }; // unknown names logged per request

typedef bool harmless_fn(const json_t *value);

static bool is_never(const json_t *value) {
    (void)value;
    return false;
}

static bool is_false(const json_t *value) {
    return json_is_false(value);
}

static bool is_empty_array(const json_t *value) {
    return json_is_array(value) && json_array_size(value) == 0;
}

static bool is_empty_string(const json_t *value) {
    return json_is_string(value) && json_string_length(value) == 0;
}

static bool is_string(const json_t *value, const char *text) {
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool is_auto_or_none(const json_t *value) {
    return is_string(value, "auto") || is_string(value, "none");
}

static bool is_text_format(const json_t *value) {
    return is_string(json_object_get(value, "type"), "text");
}

static bool is_text_only(const json_t *value) {
    return json_array_size(value) == 1 && is_string(json_array_get(value, 0), "text");
}

// Not built: refused unless the value says that it is not wanted. null is never a wish.
static const struct {
    const char *name;
    harmless_fn *is_harmless;
} refused[] = {
    {"audio",                  is_never       },
    {"chat_template",          is_never       },
    {"continue_final_message", is_false       },
    {"documents",              is_empty_array },
    {"echo",                   is_false       },
    {"function_call",          is_auto_or_none},
    {"functions",              is_empty_array },
    {"grammar",                is_empty_string},
    {"guided_choice",          is_never       },
    {"guided_grammar",         is_never       },
    {"guided_json",            is_never       },
    {"guided_regex",           is_never       },
    {"json_schema",            is_never       },
    {"modalities",             is_text_only   },
    {"prompt_logprobs",        is_false       },
    {"response_format",        is_text_format },
    {"structured_outputs",     is_never       },
    {"suffix",                 is_empty_string},
    {"tool_choice",            is_auto_or_none},
    {"tools",                  is_empty_array },
    {"use_beam_search",        is_false       },
    {"web_search_options",     is_never       },
};

// Read by the other parts, or about things that leave the answer as it is.
static const char *const accepted[] = {
    "add_generation_prompt",
    "best_of",
    "cache_prompt",
    "cache_salt",
    "chat_template_kwargs",
    "frequency_penalty",
    "ignore_eos",
    "include_stop_str_in_output",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "min_p",
    "min_tokens",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "priority",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "repetition_penalty",
    "safety_identifier",
    "seed",
    "service_tier",
    "skip_special_tokens",
    "stop",
    "stop_token_ids",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
};

static bool is_accepted(const char *name) {
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        if (strcmp(name, accepted[i]) == 0) return true;
    }
    return false;
}

static bool is_refused(const char *name) {
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(name, refused[i].name) == 0) return true;
    }
    return false;
}

static void warn_unknown(const struct json_input *in, const struct log *log) {
    const char *name;
    json_t *value;
    int n_unknown = 0;
    char quoted[96];

    json_object_foreach((json_t *)in->object, name, value) { // only reads
        if (is_accepted(name) || is_refused(name)) continue;
        if (n_unknown++ >= MAX_WARNINGS) continue;
        log_line(log, LOG_WARN, "unknown field ignored", "field=%s",
                 log_quote(quoted, sizeof(quoted), name));
    }
    if (n_unknown > MAX_WARNINGS) {
        log_line(log, LOG_WARN, "more unknown fields ignored", "n=%d",
                 n_unknown - MAX_WARNINGS);
    }
}

enum status api_fields_check(const struct json_input *in, const struct log *log,
                             struct error *err) {
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const json_t *value = json_input_find(in, refused[i].name);
        if (!value || refused[i].is_harmless(value)) continue;
        return json_input_refuse(in, refused[i].name, ERR_UNSUPPORTED,
                                 "asks for something that this server does not offer", err);
    }
    warn_unknown(in, log);
    return OK;
}
