// bill: what requests cost, without the provider's cache and with it.
//
//   options, or recorded usage ─▶ workload ─┬─▶ statement: one model, two invoices ─┐
//                              price list ──┼─▶ offers: all models, cheapest first ─┼─▶ tables or JSON
//                                           ├─▶ what if: levers, most saved first  ─┤
//                      rents of machines ───┴─▶ own machine: from when it is cheaper ┘
#include "common/cli.h"
#include "common/limits.h"
#include "common/mapped_file.h"
#include "level1-user/findings.h"
#include "level1-user/price_list.h"
#include "level1-user/usage_file.h"

static const uint64_t NOT_GIVEN = UINT64_MAX;

struct arguments {
    const char *prices, *usage, *png;
    struct price_query query;
    uint64_t n_requests, per_day, input, cached, cache_write, output;
    uint64_t max_tokens, fixed; // of --what-if
    const char *own, *utilization, *rents;
    uint64_t tokens_per_s, idle_hours, redundancy;
    bool wants_offers, wants_what_if, wants_json;
};

static enum status find_model(struct findings *f, const struct arguments *a,
                              const struct workload *work, const struct price_list *list,
                              struct error *err) {
    const struct price_entry *entry;
    enum status st = price_list_find(&entry, list, &a->query, err);
    if (st == OK) st = statement_of(&f->statement, entry, work, err);
    if (st == OK && a->per_day > 0)
        st = statement_per_day(&f->statement, (int64_t)a->per_day, err);
    if (st == ERR_UNSUPPORTED) error_set(err, st, "%s: %s", a->query.model, err->text);
    return st;
}

static enum status find_own(struct findings *f, const struct arguments *a,
                            struct error *err) {
    struct own_terms terms = {
        .tokens_per_s = (int64_t)a->tokens_per_s,
        .idle_hours = (int64_t)a->idle_hours,
        .redundancy = (int64_t)a->redundancy,
    };
    if (!money_parse_price(a->utilization, &terms.utilization))
        return error_set_param(err, ERR_INPUT, "utilization",
                               "--utilization is \"%.40s\", must be a decimal such as 0.4",
                               a->utilization);
    enum status st = gpu_hours_open(&f->rents, a->rents, err);
    if (st == OK)
        st = own_machine_of(&f->own, &f->rents, a->own, &terms, (int64_t)a->output,
                            f->statement.one.with.total, err);
    return st;
}

static enum status find(struct findings *f, const struct arguments *a,
                        const struct pulled_workload *work, const struct price_list *list,
                        struct error *err) {
    *f = (struct findings){
        .work = work->now,
        .has_statement = a->query.model != NULL,
        .has_offers = a->wants_offers,
        .has_what_if = a->wants_what_if,
        .has_own = a->own != NULL,
    };
    enum status st = f->has_statement ? find_model(f, a, &work->now, list, err) : OK;
    if (st == OK && (f->has_offers || f->has_what_if))
        st = offers_of(&f->offers, list, a->query.date, &work->now, err);
    if (st == OK && f->has_what_if)
        st = what_if_of(&f->what_if, f->statement.entry, work, &f->offers, err);
    if (st == OK && f->has_own) st = find_own(f, a, err);
    return st;
}

// ---- the workload -------------------------------------------------------------------------------

static enum status take(void *ctx, const struct invoice_usage *used, struct error *err) {
    return pulled_workload_add(ctx, used, err);
}

static enum status workload_of(struct pulled_workload *work, const struct arguments *a,
                               const struct price_list *list, struct error *err) {
    const struct lever_terms terms = {(int64_t)a->max_tokens, (int64_t)a->fixed};
    const struct workload nothing = workload_recorded(list);
    const struct workload equal = {
        .used = {(int64_t)a->input, (int64_t)a->cached, (int64_t)a->cache_write,
                 (int64_t)a->output},
        .n_requests = (int64_t)a->n_requests,
    };
    pulled_workload_of(work, a->usage ? &nothing : &equal, &terms);
    return a->usage ? usage_file_open_read(a->usage, take, work, err)
                    : invoice_usage_check(&equal.used, err);
}

// What the options say together. NULL: nothing is wrong.
static const char *fault_of(const struct arguments *a) {
    if (!a->query.model && !a->wants_offers) return "--model is missing";
    if (a->wants_what_if && !a->query.model) return "--what-if needs a --model";
    if (a->png && !a->query.model) return "--png needs a --model";
    if (a->per_day && !a->query.model) return "--per-day needs a --model";
    if (a->per_day && a->usage)
        return "--per-day reckons with equal requests, not with --usage";
    if (a->own && !a->query.model) return "--own needs a --model";
    if (a->own && a->usage) return "--own reckons with equal requests, not with --usage";
    if (a->own && !a->tokens_per_s) return "--own needs --tokens-per-second";
    if (a->own && !a->utilization) return "--own needs --utilization";
    if (!a->usage && a->input == NOT_GIVEN) return "--input is missing";
    bool has_counts = a->input != NOT_GIVEN || a->cached || a->cache_write || a->output ||
                      a->n_requests != 1;
    if (a->usage && has_counts) return "--usage has the counts; give it alone";
    if (!a->usage && a->fixed > a->input) return "--fixed is a part of --input";
    return NULL;
}

static enum status run(const struct arguments *a, const struct price_list *list,
                       struct error *err) {
    struct findings f = {0};
    struct pulled_workload work;
    enum status st = workload_of(&work, a, list, err);
    if (st == OK) st = find(&f, a, &work, list, err);
    if (st == OK && a->png) st = findings_draw(&f, a->png, err);
    if (st == OK && a->wants_json) {
        st = findings_print_json(stdout, &f, err);
    } else if (st == OK) {
        findings_print(stdout, &f);
    }
    findings_close(&f);
    return st; // whether all was written is asked at the end
}

static int bill(const struct cli *cli, const struct arguments *a) {
    struct price_list list = {0};
    struct error err = {0};

    enum status st = price_list_open(&list, a->prices, &err);
    if (st != OK) {
        error_set(&err, st, "%s (--prices names the list)", err.text);
        return cli_fail(cli, &err);
    }
    st = run(a, &list, &err);
    price_list_close(&list);
    // The numbers or the model were wrong; that a price is unknown is nobody's mistake.
    if (st == ERR_INPUT || st == ERR_LIMIT) return cli_usage(cli, "%s", err.text);
    if (st != OK) return cli_fail(cli, &err);
    return cli_finish(cli);
}

int main(int argc, char **argv) {
    struct arguments a = {.prices = "data/prices.json",
                          .n_requests = 1,
                          .input = NOT_GIVEN,
                          .max_tokens = 256,
                          .rents = "data/gpu-hours.json",
                          .redundancy = 1};
    // clang-format off
    const struct cli_option options[] = {
        {"model", "NAME", CLI_STRING, &a.query.model, .help = "such as deepseek-r1"},
        {"requests", "N", CLI_U64, &a.n_requests, .help = "equal requests (default 1)", .high = CLI_MAX_EXACT},
        {"per-day", "N", CLI_U64, &a.per_day, .help = "requests a day: what a month of them costs, too", .high = CLI_MAX_EXACT},
        {"input", "N", CLI_U64, &a.input, .help = "all input tokens of one request", .high = CLI_MAX_EXACT},
        {"cached", "N", CLI_U64, &a.cached, .help = "of these, read from the cache", .high = CLI_MAX_EXACT},
        {"cache-write", "N", CLI_U64, &a.cache_write, .help = "of these, written to it", .high = CLI_MAX_EXACT},
        {"output", "N", CLI_U64, &a.output, .help = "output tokens of one request", .high = CLI_MAX_EXACT},
        {"usage", "FILE", CLI_STRING, &a.usage, .help = "bill recorded usage instead: JSON lines, as the API gave it"},
        {"png", "FILE", CLI_STRING, &a.png, .help = "draw the two invoices, too"},
        {"compare", NULL, CLI_FLAG, &a.wants_offers, .help = "all models of the list, cheapest first"},
        {"what-if", NULL, CLI_FLAG, &a.wants_what_if, .help = "what shorter answers and the like would save"},
        {"max-tokens", "N", CLI_U64, &a.max_tokens, .help = "what-if: the longest answer allowed (default 256)", .high = CLI_MAX_EXACT},
        {"fixed", "N", CLI_U64, &a.fixed, .help = "what-if: input tokens that never change", .high = CLI_MAX_EXACT},
        {"own", "GPU", CLI_STRING, &a.own, .help = "a machine of your own, such as h100-sxm, against the API"},
        {"tokens-per-second", "N", CLI_U64, &a.tokens_per_s, .help = "own: output tokens at full load, measured on this workload", .low = 1, .high = LIMIT_OWN_RATE},
        {"utilization", "U", CLI_STRING, &a.utilization, .help = "own: the share of that which is reached, such as 0.4"},
        {"idle-hours", "N", CLI_U64, &a.idle_hours, .help = "own: hours a day, paid and without a request (default 0)", .high = 23},
        {"redundancy", "N", CLI_U64, &a.redundancy, .help = "own: machines paid for each that works (default 1)", .low = 1, .high = LIMIT_OWN_REDUNDANCY},
        {"rents", "FILE", CLI_STRING, &a.rents, .help = "own: what an hour costs"},
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
    int exit_status = cli_parse(&cli, argc, argv);
    if (exit_status != CLI_GO_ON) return exit_status;
    if (fault_of(&a)) return cli_usage(&cli, "%s", fault_of(&a));
    mapped_file_explain_faults();
    return bill(&cli, &a);
}
