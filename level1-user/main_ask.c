// ask: a question to any server that speaks the OpenAI API, or a conversation with it.
//
//   options ─▶ question from arguments, or from a pipe ─▶ one answer
//           ├▶ a terminal and no question              ─▶ conversation: line, answer, line, ...
//           └▶ --audit and two recorded requests       ─▶ where they part; nothing is sent
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "level1-user/audit_report.h"
#include "level1-user/price_list.h"
#include "level1-user/question.h"
#include "level1-user/session.h"

// An answer that nobody bounded ends where the context does: at temperature 1 a small model may well
// go on until there. This is some 380 English words, and says so where it ends one.
static const int DEFAULT_MAX_TOKENS = 512;
static const uint64_t NO_SEED = UINT64_MAX;

// Of an estimate: what ChatML puts around a text, its start, role, line end, end, line end.
static const int64_t TOKENS_PER_MESSAGE = 5;

// Ctrl-C ends the answer, not the program. A signal handler can reach nothing but a global.
static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static void catch_signals(void) {
    // Without SA_RESTART: reads must end.
    struct sigaction interrupt = {.sa_handler = note_interrupt};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGPIPE, &ignore, NULL); // a reader that left is an error like others
}

// As it was found. While a line is typed it shows nothing by itself, and must not be left so.
static struct termios terminal;

// In a signal handler: only what is async-signal-safe. A terminal that others have now is not ours.
static void give_terminal_back(int signal_number) {
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    raise(signal_number); // once more, and this time it ends us: SA_RESETHAND
}

// What ends a program ends a conversation, too, but not the user's terminal.
static void keep_terminal(void) {
    static const int ends[] = {SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction give_back = {.sa_handler = give_terminal_back,
                                  .sa_flags = SA_RESETHAND};
    struct sigaction before;

    if (tcgetattr(STDIN_FILENO, &terminal) != 0) return;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        bool is_known = sigaction(ends[i], NULL, &before) == 0;
        if (is_known && before.sa_handler != SIG_IGN) sigaction(ends[i], &give_back, NULL);
    }
}

static const char *environment(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

// What the command line says.
struct arguments {
    struct cli_list words;
    struct client_options server;
    const char *key_file, *model, *system;
    const char *prices;
    struct price_query price; // of no model: nobody wants to know
    int max_tokens, max_completion_tokens, max_retries;
    int connect_s, silence_s, deadline_s;
    double temperature;
    uint64_t seed;
    int n_context;
    const char *limit_usd; // of one request
    int64_t max_price;     // the same in 10^-12 dollars
    bool wants_summary;
    bool no_stream, wants_json;
    bool is_audit;
    const char *rules;
    int bytes_per_token;
};

static struct chat_request request_of(const struct arguments *a) {
    return (struct chat_request){
        .model = a->model,
        .max_tokens =
            a->max_completion_tokens > 0 ? a->max_completion_tokens : a->max_tokens,
        .is_completion_bound = a->max_completion_tokens > 0,
        .has_temperature = !isnan(a->temperature),
        .temperature = a->temperature,
        .has_seed = a->seed != NO_SEED,
        .seed = a->seed,
        .stream = !a->no_stream,
    };
}

// What is waited for, and how often. A whole answer is silent until it is there: only the deadline counts.
static struct client_options server_of(const struct arguments *a, const char *key) {
    struct client_options server = a->server;
    server.api_key = key;
    server.connect_timeout_ms = a->connect_s * 1000;
    server.silence_timeout_ms = a->no_stream ? 0 : a->silence_s * 1000;
    return server;
}

static struct attempts attempts_at(struct client *client, const struct arguments *a) {
    struct attempts attempts = {
        .client = client,
        .policy = retry_default_policy,
        .deadline_ns = (int64_t)a->deadline_s * 1000000000,
        .seed = (uint64_t)clock_unix_s() << 32 ^ (uint64_t)getpid(),
    };
    attempts.policy.max_retries = a->max_retries;
    return attempts;
}

// From arguments to answers. price: NULL where nobody asked; question: NULL for a conversation.
static enum status run(const struct arguments *a, const struct price_entry *price,
                       const char *question, struct error *err) {
    struct clock clock;
    struct client client = {0};
    struct session session = {
        .attempts = attempts_at(&client, a),
        .interrupted = &interrupted,
        .account.price = price,
        .request = request_of(a),
        .budget.n_context = a->n_context,
        .budget.max_price = a->max_price,
        .budget.wants_summary = a->wants_summary,
        .wants_json = a->wants_json,
        .rules = a->rules,
        .estimate = {a->bytes_per_token, TOKENS_PER_MESSAGE},
    };
    char key[LIMIT_CLIENT_KEY_BYTES + 2]; // a line end, and the zero
    enum status st = OK;

    clock_init_real(&clock);
    if (a->system && !text_append(&session.system, a->system, strlen(a->system)))
        st = error_set(err, ERR_MEMORY, "no memory for the system message");
    if (st == OK && a->key_file) st = key_from_file(key, sizeof(key), a->key_file, err);
    struct client_options server =
        server_of(a, a->key_file ? key : getenv("OPENAI_API_KEY"));
    if (st == OK) st = client_open(&client, &server, &clock, err);
    if (st == OK) {
        catch_signals();
        if (!question) keep_terminal();
        prompt_watch_system(stderr, text_string(&session.system));
        st = question ? session_ask(&session, question, err)
                      : session_converse(&session, err);
    }
    session_free(&session);
    client_close(&client);
    return st;
}

// Two recorded requests, and no server.
static int audit(const struct cli *cli, const struct arguments *a) {
    const struct token_estimate estimate = {a->bytes_per_token, TOKENS_PER_MESSAGE};
    struct error err = {0};
    if (a->words.n_items != 2 || a->wants_json)
        return cli_usage(cli,
                         "--audit needs two files, FIRST SECOND, and prints for people");
    enum status st = audit_report_files(stdout, a->words.items[0], a->words.items[1],
                                        a->rules, &estimate, &err);
    return st == OK ? cli_finish(cli) : cli_fail(cli, &err);
}

// What one request may cost, with the longest answer. Returns CLI_GO_ON, or the exit status.
static int find_limit(const struct cli *cli, struct arguments *a) {
    static const int64_t UNITS_PER_MICRO_DOLLAR = 1000000;
    int64_t micro_dollars;

    if (!a->limit_usd) return CLI_GO_ON;
    if (!money_parse_price(a->limit_usd, &micro_dollars) || micro_dollars == 0 ||
        micro_dollars > INT64_MAX / UNITS_PER_MICRO_DOLLAR)
        return cli_usage(cli, "--limit-usd needs dollars above 0, with at most 6 digits "
                              "behind the point, such as 0.002");
    if (!a->price.model || request_of(a).max_tokens == 0)
        return cli_usage(cli, "--limit-usd needs --price MODEL, and a bound of the answer");
    a->max_price = micro_dollars * UNITS_PER_MICRO_DOLLAR;
    return CLI_GO_ON;
}

// *price: NULL where nobody asked. Returns CLI_GO_ON, or the exit status.
static int find_price(const struct cli *cli, const struct arguments *a,
                      struct price_list *list, const struct price_entry **price) {
    struct error err = {0};

    *price = NULL;
    if (!a->price.model) return CLI_GO_ON;
    if (price_list_open(list, a->prices, &err) != OK) {
        error_set(&err, err.code, "%s (--prices names the list)", err.text);
        return cli_fail(cli, &err);
    }
    if (price_list_find(price, list, &a->price, &err) == OK) return CLI_GO_ON;
    return cli_usage(cli, "%s", err.text);
}

// One answer; or on a terminal and without a question, a conversation.
static int talk(const struct cli *cli, struct arguments *a) {
    struct text question = {0};
    struct price_list list = {0};
    const struct price_entry *price;
    struct error err = {0};
    enum status st = OK;

    bool is_conversation = a->words.n_items == 0 && isatty(STDIN_FILENO);
    if (is_conversation && a->wants_json) return cli_usage(cli, "--json needs a question");

    int exit_status = find_limit(cli, a);
    if (exit_status == CLI_GO_ON) exit_status = find_price(cli, a, &list, &price);
    if (exit_status != CLI_GO_ON) goto done;
    if (a->words.n_items > 0) {
        st = question_from_words(&question, &a->words, &err);
    } else if (!is_conversation) {
        st = question_from_pipe(&question, &err);
    }
    if (st != OK) {
        exit_status = cli_fail(cli, &err);
    } else if (!is_conversation && question.n == 0) {
        exit_status = cli_usage(cli, "the question is empty");
    } else {
        st = run(a, price, is_conversation ? NULL : text_string(&question), &err);
        exit_status = st == OK ? CLI_DONE : cli_fail(cli, &err);
    }
done:
    text_free(&question);
    price_list_close(&list);
    return exit_status;
}

int main(int argc, char **argv) {
    struct arguments a = {
        .server.base_url = environment("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"),
        .model = "default",
        .temperature = (double)NAN, // not sent: the server knows what the model wants
        .seed = NO_SEED,
        .max_tokens = DEFAULT_MAX_TOKENS,
        .max_retries = retry_default_policy.max_retries,
        .connect_s = 10,
        .silence_s = 120,
        .prices = "data/prices.json",
        .deadline_s = 600,
        .rules = "data/cache-rules.json",
        .bytes_per_token = 4,
    };
    // clang-format off
    const struct cli_option options[] = {
        {NULL, "QUESTION", CLI_LIST, &a.words, .help = "else standard input; on a terminal: a conversation"},
        {"base-url", "URL", CLI_STRING, &a.server.base_url, .help = "server; or OPENAI_BASE_URL"},
        {"api-key-file", "FILE", CLI_STRING, &a.key_file, .help = "the key is its first line; or OPENAI_API_KEY"},
        {"prefix-key", "KEY", CLI_STRING, &a.server.prefix_key, .help = "sent as X-Prefix-Key: who may share cached prompts"},
        {"model", "NAME", CLI_STRING, &a.model, .help = "model to ask"},
        {"system", "TEXT", CLI_STRING, &a.system, .help = "system message"},
        {"max-tokens", "N", CLI_INT, &a.max_tokens, .help = "longest answer; 0: the server decides", .low = 0, .high = LIMIT_CONTEXT},
        {"max-completion-tokens", "N", CLI_INT, &a.max_completion_tokens, .help = "the same by its newer name, thoughts included", .low = 1, .high = LIMIT_CONTEXT},
        {"temperature", "T", CLI_DOUBLE, &a.temperature, .help = "0: the likeliest text", .low = 0, .high = 2},
        {"seed", "N", CLI_U64, &a.seed, .help = "same seed, same answer", .low = 0, .high = CLI_MAX_EXACT},
        {"retries", "N", CLI_INT, &a.max_retries, .help = "repeat what failed, so often", .low = 0, .high = 100},
        {"deadline", "SECONDS", CLI_INT, &a.deadline_s, .help = "for an answer, with all tries; 0: none", .low = 0, .high = 86400},
        {"connect", "SECONDS", CLI_INT, &a.connect_s, .help = "for a connection", .low = 1, .high = 3600},
        {"silence", "SECONDS", CLI_INT, &a.silence_s, .help = "of a stream, before its first byte too; 0: any", .low = 0, .high = 86400},
        {"no-stream", NULL, CLI_FLAG, &a.no_stream, .help = "ask for the answer in one piece"},
        {"json", NULL, CLI_FLAG, &a.wants_json, .help = "print one JSON document"},
        {"price", "MODEL", CLI_STRING, &a.price.model, .help = "say what answers cost at this model's latest price"},
        {"prices", "FILE", CLI_STRING, &a.prices, .help = "dated price list"},
        {"limit-usd", "DOLLARS", CLI_STRING, &a.limit_usd, .help = "of one request; needs --price"},
        {"context", "N", CLI_INT, &a.n_context, .help = "tokens of prompt and answer (default: the server's)", .low = 16, .high = LIMIT_CONTEXT},
        {"summarise", NULL, CLI_FLAG, &a.wants_summary, .help = "what has no room any more becomes a summary"},
        {"audit", NULL, CLI_FLAG, &a.is_audit, .help = "send nothing: say where two requests part, FIRST SECOND"},
        {"rules", "FILE", CLI_STRING, &a.rules, .help = "of an audit: how caches count"},
        {"bytes-per-token", "N", CLI_INT, &a.bytes_per_token, .help = "how tokens are estimated", .low = 1, .high = 1000},
        {0},
    };
    // clang-format on
    const struct cli cli = {
        .program = "ask",
        .summary = "put a question to a server that speaks the OpenAI API",
        .example = "ask --temperature 0 What is the capital of France?",
        .options = options,
    };
    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    mapped_file_explain_faults();
    return a.is_audit ? audit(&cli, &a) : talk(&cli, &a);
}
