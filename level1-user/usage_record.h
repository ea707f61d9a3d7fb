// What an API counted for one request, in the words of whoever counted: one JSON object, the usage or a
// whole answer that holds it under "usage".
//
//   OpenAI chat   prompt_tokens, completion_tokens, prompt_tokens_details.cached_tokens
//   DeepSeek      the same, with prompt_cache_hit_tokens and prompt_cache_miss_tokens
//   Responses     input_tokens, output_tokens, input_tokens_details.cached_tokens
//   Anthropic     input_tokens without what is read from the cache or written to it:
//                 cache_read_input_tokens and cache_creation_input_tokens come on top of it
#ifndef LEVEL1_USAGE_RECORD_H
#define LEVEL1_USAGE_RECORD_H

#include <stddef.h>

#include "common/status.h"
#include "level1-user/invoice.h"

// Cached counts that are absent or null are 0: nothing was told, and all input has its full price.
// ERR_FORMAT: no JSON object, or a key stands twice; no usage (a usage of null is none); input or
// output is not told; a count that is no whole number from 0 to 2^53 - 1; counts that contradict each
// other. ERR_MEMORY.
enum status usage_record_parse(struct invoice_usage *used, const char *bytes,
                               size_t n_bytes, struct error *err);

#endif
