// What would make it fit. Best first means: what changes the answers and the service least comes first.
//
//   1  more devices (here: more memory)   costs money, changes nothing else
//   2  weights in 8 bits                  nearly the same answers
//   3  weights in 4 bits                  answers that differ measurably
//   4  KV in 8 bits                       the same, and only where KV is the problem
//   5  a shorter context                  long conversations end earlier
//   6  fewer sequences                    the others wait
//
// Here: more memory is the first, weights come as files (q8_0, q4_0), and there is no fourth: the engine of
// level 2 keeps K and V in f32.
#ifndef LEVEL2_FIT_ADVICE_H
#define LEVEL2_FIT_ADVICE_H

#include "level2-operator/fit/fit_case.h"

// Fills a->advice with those of the list that are enough alone; with 4 bits and KV in 8 together if none
// is.
void fit_advise(struct fit_answer *a, const struct fit_case *c);

#endif
