// The order in which replicas are replaced, and when that is called off. Pure: it is shown what there is to
// see, says the next thing to do, and neither waits nor speaks to anybody. Tests play days in no time.
//
//  before ─▶ drain ─▶ command ─▶ ready ─▶ open ─▶ watch ─┬─▶ the next one's drain ... ─▶ REPLACED
//              │         │         │        │       │    │
//              └─────────┴─────────┴────────┴───────┴────┴──── fails: the same steps backwards, with the command
//                                                              that brings the old version back ─▶ ROLLED_BACK
//
//   before    all are up; how many requests fail as it is?
//   drain     no new requests for it; wait until it has none: nothing breaks off
//   command   replaces it (or, backwards, puts the old one there)
//   ready     it answers /ready itself: HAProxy's last look may be older than the restart
//   open      it may be chosen again; wait until HAProxy says so, too
//   watch     does it fail more often than the fleet did before? (not backwards)
//
// One replica is away at a time, and only while another server is up.
#ifndef LEVEL2_ROLLOUT_H
#define LEVEL2_ROLLOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "level2-operator/rollout/haproxy.h"

enum rollout_phase {
    ROLLOUT_BEFORE,
    ROLLOUT_NEXT, // who comes now, and may it leave?
    ROLLOUT_DRAIN,
    ROLLOUT_COMMAND,
    ROLLOUT_READY,
    ROLLOUT_OPEN,
    ROLLOUT_WATCH,
    ROLLOUT_END
};

// What the caller does next, for replica i_now. After each but WAIT it steps again with a fresh view.
enum rollout_action {
    ROLLOUT_DO_WAIT,    // nothing; look again soon
    ROLLOUT_DO_DRAIN,   // no new requests
    ROLLOUT_DO_REPLACE, // start the command that replaces it; ends one that still runs
    ROLLOUT_DO_UNDO,    // start the command that brings the old one back; likewise
    ROLLOUT_DO_OPEN,    // it may be chosen again
    ROLLOUT_DO_END
};

enum rollout_result {
    ROLLOUT_REPLACED,    // all are new
    ROLLOUT_ROLLED_BACK, // all are old again
    ROLLOUT_STOPPED,     // as asked; each is what is_new says
    ROLLOUT_STUCK        // not even back; each is what is_new says, i_now may be out
};

enum rollout_command { ROLLOUT_RUNS, ROLLOUT_DONE, ROLLOUT_FAILED };

struct rollout_rules {
    int64_t drain_ns;       // the longest answer that is waited for
    int64_t command_ns;     // a command's longest run
    int64_t ready_ns;       // from its end to /ready, and from there to HAProxy's word
    int64_t watch_ns;       // before the first, and after each
    double allowed_failing; // share of requests, added to what failed before
    bool cuts; // what runs after drain_ns is cut off; else that calls the roll-out off
};

struct rollout_view {
    int64_t now_ns;
    // (n_servers) in the order of replacing, then the others
    const struct haproxy_server *servers;
    int n_servers;                // >= n_replicas
    enum rollout_command command; // the last one that was started
    bool answers_ready;           // i_now says 200 to GET /ready
    bool wants_stop;              // stays true
};

struct rollout_count {
    int64_t n_requests, n_errors;
};

struct rollout {
    // fixed at init
    struct rollout_rules rules;
    int n_replicas;
    // what the caller reads
    enum rollout_phase phase;
    int i_now;
    bool is_back;                // rolling back
    bool is_new[LIMIT_REPLICAS]; // its command has been started, and not been undone
    enum rollout_result result;  // once phase is END
    char note[240];              // one line on what this step found; "": nothing new
    char why[160];               // what called it off, for the last line
    // state
    int64_t since_ns; // the phase began
    bool has_begun;
    struct rollout_count before;   // of all servers, in the phase of that name
    struct rollout_count at_begin; // of the phase, of whom it watches
};

// 0 < n_replicas <= LIMIT_REPLICAS.
void rollout_init(struct rollout *r, const struct rollout_rules *rules, int n_replicas);

// After DO_END it says DO_END for ever.
enum rollout_action rollout_step(struct rollout *r, const struct rollout_view *view);

const char *rollout_phase_name(enum rollout_phase phase); // "before", ...

#endif
