// bill: what requests cost, without the provider's cache and with it.
//
//   options ─▶ price list ─▶ the price of the model on that date ─▶ two invoices ─▶ table or JSON
#include <stdlib.h>

#include "common/cli.h"
#include "common/mapped_file.h"
#include "level1-user/price_list.h"
#include "level1-user/statement.h"

static const double MAX_COUNT = 9007199254740991.0; // every JSON reader knows it exactly

struct arguments {
    const char *prices;
    struct price_query query;
    uint64_t n_requests, input, cached, cache_write, output;
    bool wants_json;
};

static enum status print(const struct arguments *a, const struct statement *s,
                         struct error *err) {
    if (!a->wants_json) {
        statement_print(stdout, s);
        return OK;
    }
    char *document = statement_json(s);
    if (!document) return error_set(err, ERR_MEMORY, "no memory for the JSON output");
    puts(document);
    free(document);
    return OK; // whether it was written is asked at the end
}

static enum status run(const struct arguments *a, const struct price_list *list,
                       struct error *err) {
    const struct price_entry *entry;
    struct statement s;
    const struct invoice_usage used = {(int64_t)a->input, (int64_t)a->cached,
                                       (int64_t)a->cache_write, (int64_t)a->output};
    enum status st = price_list_find(&entry, list, &a->query, err);
    if (st != OK) return st;
    st = statement_of(&s, entry, &used, (int64_t)a->n_requests, err);
    if (st == ERR_UNSUPPORTED) error_set(err, st, "%s: %s", a->query.model, err->text);
    return st == OK ? print(a, &s, err) : st;
}

int main(int argc, char **argv) {
    struct arguments a = {.prices = "data/prices.json", .n_requests = 1};
    // clang-format off
    const struct cli_option options[] = {
        {"model", "NAME", CLI_STRING, &a.query.model, .required = true, .help = "such as deepseek-r1"},
        {"requests", "N", CLI_U64, &a.n_requests, .help = "equal requests (default 1)", .high = MAX_COUNT},
        {"input", "N", CLI_U64, &a.input, .required = true, .help = "all input tokens of one request", .high = MAX_COUNT},
        {"cached", "N", CLI_U64, &a.cached, .help = "of these, read from the cache", .high = MAX_COUNT},
        {"cache-write", "N", CLI_U64, &a.cache_write, .help = "of these, written to it", .high = MAX_COUNT},
        {"output", "N", CLI_U64, &a.output, .help = "output tokens of one request", .high = MAX_COUNT},
        {"date", "DATE", CLI_STRING, &a.query.date, .help = "2025-02 or 2025-02-28; else the latest price known"},
        {"window", "HOURS", CLI_STRING, &a.query.window, .help = "a price for some hours of the day, such as off-peak"},
        {"prices", "FILE", CLI_STRING, &a.prices, .help = "dated price list"},
        {"json", NULL, CLI_FLAG, &a.wants_json, .help = "print one JSON document"},
        {0},
    };
    // clang-format on
    const struct cli cli = {
        .program = "bill",
        .summary = "what requests cost, without the provider's cache and with it",
        .example = "bill --model deepseek-r1 --requests 1000 --input 3200 --cached 3000 "
                   "--output 300",
        .options = options,
    };
    struct price_list list = {0};
    struct error err = {0};

    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    mapped_file_explain_faults();

    enum status st = price_list_open(&list, a.prices, &err);
    if (st != OK) {
        error_set(&err, st, "%s (--prices names the list)", err.text);
        return cli_fail(&cli, &err);
    }
    st = run(&a, &list, &err);
    price_list_close(&list);
    // The numbers or the model were wrong; that a price is unknown is nobody's mistake.
    if (st == ERR_INPUT || st == ERR_LIMIT) return cli_usage(&cli, "%s", err.text);
    if (st != OK) return cli_fail(&cli, &err);
    return cli_finish(&cli);
}
