// Yours to write. Contract: level2-operator/tokenizer/bpe.h. Explained: docs/level2/bpe.md.
// Red or green: make test EX=bpe
//
// Byte-pair encoding with a chain and a heap.
#include "level2-operator/tokenizer/bpe.h"

#include "common/exercise.h"

int bpe_encode(const struct bpe *b, const char *word, size_t n_bytes, token_id *ids,
               struct bpe_work *work) {
    EXERCISE("bpe");
}
