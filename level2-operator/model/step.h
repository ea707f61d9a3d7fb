// What one forward pass is about: rows. A piece of a prompt, a batch of answers, a check of guessed
// tokens are all just rows. The plan says who attends to what; it is built once per step.
#ifndef LEVEL2_STEP_H
#define LEVEL2_STEP_H

#include "common/token.h"
#include "level2-operator/model/kv.h"

// One unit of attention work: these rows, in these heads, read these segments of one table.
// heads all share one KV head; segments are LIMIT_ATTENTION_SEGMENT keys, counted from position 0.
// A row reads only keys up to its own position, and in a layer with a window none before its first
// one (config_first_key): attend leaves out the rest, and the plan is the same for all layers. All
// items together give each row and head each of its segments exactly once.
struct attention_item {
    int sequence;            // whose table is read (any of the sharers)
    int first_head, n_heads; // query heads
    int first_segment, n_segments;
    int first_row, n_rows; // into plan->rows
};

// A row is either whole: per head one item reads all of its segments and finishes it. Or it is in
// parts: every (head, segment) leaves one partial result (max, sum, acc), and attend merges them
// behind a barrier, in ascending segments. One per segment, never several in one, so that the order
// of additions is that of a whole row: who shares a prefix with whom changes no bit.
//
//   partial results of row t   row_part[t] + head * n_segments + segment     n_segments of the row
//
// They live in the run, beside the other activations.
struct attention_plan {
    struct attention_item *items; // (max_items)
    int n_items, max_items;
    int *rows; // (max_rows): rows of the step, grouped by item
    int n_rows, max_rows;
    int *row_part; // (n_rows of the step); -1: the row is whole. Read if n_parts > 0
    int n_parts;   // partial results of the step; 0: every row is whole
};

struct step {
    int n_rows;
    const token_id *token; // (n_rows)
    const int *position; // (n_rows); the rows of a sequence are adjacent and ascend by one
    const int *sequence; // (n_rows): index into tables
    const struct kv_table *tables; // (n_tables); blocks for all positions are there already
    int n_tables;
    const int *logit_rows; // (n_logit_rows): rows that want logits, ascending
    int n_logit_rows;
    const struct attention_plan *plan;
};

// Level 2's plan: one item per row and head, every row whole, nothing shared. The plan needs room for
// n_rows * n_heads items; *plan keeps its arrays.
void attention_plan_simple(struct attention_plan *plan, const struct step *step,
                           int n_heads);

#endif
