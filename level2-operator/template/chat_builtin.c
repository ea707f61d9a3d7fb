// The built-in templates, in the language of template.h.
#include "level2-operator/template/chat_builtin.h"

#include <stddef.h>

// <|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n
static const char chatml[] =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

// <|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>...
static const char llama3[] =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}"
    "{{ message.content | trim }}{{ '<|eot_id|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}"
    "{% endif %}";

// <s>[INST] Hello [/INST] Hi</s>[INST] ...; the system message joins the first question.
static const char mistral[] = "{% set ns = namespace(before='') %}"
                              "{{ bos_token }}"
                              "{% for message in messages %}"
                              "{% if message.role == 'system' %}"
                              "{% set ns.before = ns.before + message.content + '\n\n' %}"
                              "{% elif message.role == 'assistant' %}"
                              "{{ ' ' + message.content | trim + eos_token }}"
                              "{% else %}"
                              "{{ '[INST] ' + ns.before + message.content + ' [/INST]' }}"
                              "{% set ns.before = '' %}"
                              "{% endif %}"
                              "{% endfor %}";

// <bos><start_of_turn>user\nHello<end_of_turn>\n<start_of_turn>model\n; the system message likewise.
static const char gemma[] =
    "{% set ns = namespace(before='') %}"
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message.role == 'system' %}"
    "{% set ns.before = ns.before + message.content | trim + '\n\n' %}"
    "{% else %}"
    "{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else 'user') + '\n' }}"
    "{{ ns.before + message.content | trim + '<end_of_turn>\n' }}"
    "{% set ns.before = '' %}"
    "{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}";

// User: Hello\nAssistant:; for a base model, which knows no control tokens of turns.
static const char plain[] =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{{ message.role | capitalize + ': ' + message.content | trim + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

const struct chat_builtin chat_builtins[] = {
    {"chatml",  chatml },
    {"llama3",  llama3 },
    {"mistral", mistral},
    {"gemma",   gemma  },
    {"plain",   plain  },
    {NULL,      NULL   },
};
