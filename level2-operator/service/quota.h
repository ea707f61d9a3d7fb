// What one API key may use: so many requests in the house at a time, so many requests and tokens a
// minute. A minute's worth may come at once; then it flows back evenly, like water into a bucket.
//
//            limit ┌──────┐
//                  │      │ ◀── limit / 60 a second
//                  │≈≈≈≈≈≈│
//                  └──┬───┘──▶ 1 when a request comes in; its tokens when it leaves
//
// What an answer will use is known when it is there, so tokens are taken away afterwards: who has
// used more than was left waits until the bucket is above zero again. Pure: time is passed in.
#ifndef LEVEL2_QUOTA_H
#define LEVEL2_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"

struct quota { // all-zero: no limit
    // limits; 0: none
    int max_inside;
    int requests_per_minute, tokens_per_minute;
    // state
    int n_inside;
    bool has_begun;          // else the buckets are full
    int64_t filled_ns;       // when the buckets were last looked at
    double requests, tokens; // left at filled_ns; tokens may be below zero
};

bool quota_same_limits(const struct quota *a, const struct quota *b);

// OK, and counted. Else ERR_BUSY, nothing is counted, err names the limit, and *retry_after_s says
// when there is something again, at least 1: of max_inside nobody can know, so it is 1.
enum status quota_enter(struct quota *q, int64_t now_ns, int *retry_after_s,
                        struct error *err);

// One that entered leaves, having used n_tokens; or others turned it away, as if it had never come.
// charge: tokens of one that has left already.
// Nobody inside: the key was forgotten and made known again meanwhile, and nothing is counted down.
void quota_leave(struct quota *q, int64_t now_ns, int n_tokens);
void quota_undo(struct quota *q);
void quota_charge(struct quota *q, int64_t now_ns, int n_tokens);

#endif
