// Yours to write. Contract: level1-user/prompt.h. Explained: docs/level1/prompt.md.
// Red or green: make test EX=prompt
//
// What changes least stands first.
#include "level1-user/prompt.h"

#include "common/exercise.h"

enum status prompt_build(struct prompt *p, const struct prompt_input *in,
                         struct arena *arena, struct error *err) {
    EXERCISE("prompt.build");
}

enum status prompt_compare(struct prompt_warning *w, const struct prompt_input *before,
                           const struct prompt_input *now, enum prompt_change shared,
                           struct error *err) {
    EXERCISE("prompt.compare");
}
