// One question of an operator, and all that fit answers to it.
//
//   subject (model), machine, traffic ──fit_answer_of──▶ ledger, limits, seconds, advice
//
// Bytes of a ledger are those of all devices of ONE copy of the model; sequences are those of all copies.
#ifndef LEVEL2_FIT_CASE_H
#define LEVEL2_FIT_CASE_H

#include "level2-operator/fit/fit_subject.h"

enum fit_place { FIT_PAGE_CACHE, FIT_DISK, FIT_NETWORK, FIT_PLACES };

struct fit_machine {
    const char *name;
    char source[160];         // how well its memory is known, and whence
    char overhead_words[160]; // what its overhead is made of
    char split_words[160];    // the same, of each of several devices
    bool is_here;             // this machine: there is one of it
    int n_devices, n_split;   // n_split divides n_devices: so many copies of the model
    bool is_split_said;       // --tp was given: advice on devices must give it anew
    struct fit_device device;
    uint64_t highest_overhead;     // of a device, the most that was seen; 0: not known
    uint64_t highest_split;        // the same of device.split_bytes
    double bandwidth;              // bytes a second; 0: not known
    double ops;                    // a second, at 16 bits; 0: not known
    double load_rates[FIT_PLACES]; // bytes a second
};

struct fit_case {
    const struct fit_subject *subject;
    struct fit_machine machine;
    const char *weights; // name of the type; NULL: a file's own
    const char *kv;
    struct fit_type weight_type, kv_type;
    uint64_t n_ctx, n_seqs;
    bool is_ctx_assumed, is_seqs_assumed;
    double request_s; // a request stays so long; 0: not said
};

enum { FIT_ADVICE_MAX = 8 };

// A change that alone, or with nothing else but what its words say, makes it fit.
struct fit_advice {
    char option[64]; // "--count 2"
    char words[128];
    uint64_t max_sequences; // that would then fit
};

struct fit_answer {
    struct fit_plan plan; // of one copy
    bool fits;
    bool fits_at_worst; // also with the highest overhead that was seen
    uint64_t weight_bytes, kv_bytes_per_token, kv_bytes, overhead_bytes, usable_bytes;
    uint64_t room;          // for KV, on each device
    uint64_t max_sequences; // of n_ctx tokens
    // of n_seqs sequences; at most what the model was trained for, or n_ctx
    uint64_t max_context;
    uint64_t kv_tokens; // of one sequence alone, without that limit
    int n_copies;
    // The fewest that hold all n_seqs, copies of the model split over needed_split each; 0: no split holds
    // one sequence, or there is no more than this machine.
    int devices_needed, needed_split;
    double load_seconds[FIT_PLACES];
    double tokens_per_s; // one sequence alone, at the best; 0: not known
    struct fit_advice advice[FIT_ADVICE_MAX]; // best first; none if it fits
    int n_advice;
};

void fit_answer_of(struct fit_answer *a, const struct fit_case *c);

// Of one device, in bytes: what an engine may take of it, and what is gone before weights and KV.
uint64_t fit_device_usable(const struct fit_device *d);
uint64_t fit_device_overhead(const struct fit_device *d, int n_split);

#endif
