// What a tensor is called in a model folder, and in a GGUF file:
//
//   model.layers.7.self_attn.q_proj.weight  <──▶  blk.7.attn_q.weight
//
// The second norm of a layer has changed its place with the architectures: post_attention_layernorm
// stands before the feed-forward block of a llama, and after the attention of a Gemma 3, whose
// feed-forward block has norms of its own on both sides.
#ifndef LEVEL2_HF_NAMES_H
#define LEVEL2_HF_NAMES_H

#include <stdbool.h>

enum { HF_NAME_BYTES = 320 };

// GGUF's name for the folder's. false, and ours is a copy of theirs: no part that we know.
bool hf_name_to(char ours[HF_NAME_BYTES], const char *theirs, bool has_post_norms);

// The other way; for messages.
bool hf_name_of(char theirs[HF_NAME_BYTES], const char *ours, bool has_post_norms);

#endif
