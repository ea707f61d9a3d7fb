// A text worker at home: jobs in, deliveries out, the tiny model's tokenizer, and an engine that reads
// its answers from scripts. All on the test's own thread.
#ifndef TESTS_SUPPORT_TEXT_HOUSE_H
#define TESTS_SUPPORT_TEXT_HOUSE_H

#include "common/mapped_file.h"
#include "level2-operator/api/text_worker.h"
#include "tests/support/fake_engine.h"
#include "tests/support/outcome.h"

enum { TEXT_CONTEXT = 200, MAX_EXCHANGES = 16 };
enum { MAX_SCRIPTS = 4, MAX_SCRIPT = 64 };

struct text_house {
    struct mapped_file file;
    struct model model;
    struct arena arena; // of the queues
    struct fake_engine engine;
    struct fake_script scripts[MAX_SCRIPTS];
    token_id ids[MAX_SCRIPTS][MAX_SCRIPT];
    struct exchange_queues queues;
    struct clock clock;
    struct metrics metrics;
    struct log log;
    exchange_id last;
    int n_idle;
    void (*idle)(struct text_house *h); // NULL: stop as soon as nothing is left to do
    struct outcome outcomes[MAX_EXCHANGES];
};

// The beginning of a chat request: add fields and "}".
#define CHAT_HEAD                                                                          \
    "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

void text_house_open(struct text_house *h);
void text_house_close(struct text_house *h);

// What the engine says to the next requests, in turn: text as one token per byte, so that every
// character is cut and every stop string spread; or nothing until it is cancelled.
struct fake_script *text_house_script(struct text_house *h, const char *text);
void text_house_stuck(struct text_house *h);

// The id of a piece.
token_id text_house_id(const struct text_house *h, const char *bytes, size_t n_bytes);

// Puts a request in front of the worker; outcomes[] of the result is what becomes of it.
exchange_id text_house_send(struct text_house *h, enum route route, const char *body);
exchange_id text_house_send_scoped(struct text_house *h, enum route route, const char *body,
                                   uint64_t cache_scope);
void text_house_put(struct text_house *h, struct job job);

// Runs the worker until nothing is left to do, or until idle has sent JOB_STOP.
void text_house_run(struct text_house *h);
struct text_worker_options text_house_options(struct text_house *h);

#endif
