// The three routes that need no model weights: text to ids, ids to text, messages to text. Their
// shapes are those of llama.cpp's server.
//
//   /tokenize        {"content" | "prompt", "add_special": false, "parse_special": true}
//                    -> {"tokens": [ids]}
//   /detokenize      {"tokens": [ids]} -> {"content": text}
//   /apply-template  {"messages": [...], "add_generation_prompt": true} -> {"prompt": text}
#ifndef LEVEL2_TEXT_TOOLS_H
#define LEVEL2_TEXT_TOOLS_H

#include <stdbool.h>

#include "common/status.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/model/model.h"
#include "level2-operator/text/buffer.h"

bool text_tool_serves(enum route route);

// Appends the whole reply of a job whose route is one of these.
enum status text_tool_reply(struct buffer *out, const struct job *job,
                            const struct model *model, struct error *err);

#endif
