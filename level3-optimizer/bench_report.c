// One struct, two printers. The ratio that closes the report is the point of all of it: measured over
// predicted, 1 when cost_of_step knows everything that takes time.
#include "level3-optimizer/bench_report.h"

#include <jansson.h>
#include <stdio.h>

static double per_token(const struct phase_report *p, double sum) {
    return sum / p->workload.n_tokens;
}

static double predicted_rate(const struct phase_report *p) {
    return p->workload.n_tokens / p->prediction.seconds;
}

static bool is_bound_by_reading(const struct phase_report *p) {
    return p->prediction.read_seconds > p->prediction.compute_seconds;
}

static double share_of_read(const struct bench_report *r) {
    return r->decode.rate.median * r->token_bytes / r->read.median;
}

// ---- text ---------------------------------------------------------------------------------------

static void print_rate(const char *name, struct rate r, double unit, const char *words) {
    printf("%-9s %7.1f   %7.1f .. %-7.1f %s\n", name, r.median / unit, r.min / unit,
           r.max / unit, words);
}

static void print_measured(const struct bench_report *r) {
    printf("           median       spread of %d runs\n", MEASURE_RUNS);
    char many[32];
    snprintf(many, sizeof(many), "tokens/s, %d a step", r->prefill.workload.step_rows);
    print_rate("prefill", r->prefill.rate, 1, many);
    print_rate("decode", r->decode.rate, 1, "tokens/s, one a step");
    print_rate("read", r->read, 1e9, "GB/s, the model file, all threads");
    printf("\ndecode reads %.1f GB/s of weights: %.0f %% of what this machine reads\n",
           share_of_read(r) * r->read.median / 1e9, 100 * share_of_read(r));
}

static void print_cost(const struct phase_report *p) {
    printf("%-9s %8.2f MB   %7.1f million operations\n", p->name,
           per_token(p, p->prediction.bytes) / 1e6, per_token(p, p->prediction.ops) / 1e6);
}

static void print_prediction(const struct phase_report *p) {
    printf("%-9s %11.1f %11.1f %12.1f %11.1f %9.2f\n", p->name,
           p->workload.n_tokens / p->prediction.read_seconds,
           p->workload.n_tokens / p->prediction.compute_seconds, predicted_rate(p),
           p->rate.median, p->rate.median / predicted_rate(p));
}

static void print_wall(const struct phase_report *p) {
    const struct prediction *q = &p->prediction;
    bool reading = is_bound_by_reading(p);
    double share = reading ? q->compute_seconds / q->read_seconds
                           : q->read_seconds / q->compute_seconds;
    printf("%s waits for %s: the %s take %.0f %% of that time, side by side\n", p->name,
           reading ? "bytes" : "operations", reading ? "operations" : "bytes", 100 * share);
}

static void print_predicted(const struct bench_report *r) {
    printf("measured apart from the model, medians of %d runs\n", MEASURE_RUNS);
    printf("read      %8.1f GB/s    the model file, all threads\n", r->read.median / 1e9);
    printf("%d rows   %8.1f Gop/s   a layer's matrix alone: %s\n",
           r->prefill.workload.step_rows, r->prefill.speed.layer_ops_per_s / 1e9,
           r->layer_kernel);
    printf("one row   %8.1f Gop/s   the same\n", r->decode.speed.layer_ops_per_s / 1e9);
    printf("one row   %8.1f Gop/s   the head's first rows alone: %s\n",
           r->decode.speed.head_ops_per_s / 1e9, r->head_kernel);

    printf("\na token costs, says cost_of_step\n");
    print_cost(&r->prefill);
    print_cost(&r->decode);

    printf("\ntokens/s   bytes only    ops only    predicted    measured     ratio\n");
    print_prediction(&r->prefill);
    print_prediction(&r->decode);
    putchar('\n');
    print_wall(&r->prefill);
    print_wall(&r->decode);
}

void bench_report_print(const struct bench_report *r) {
    bench_machine_print(&r->machine);
    printf("model     %s, %.1f MB of weights\n", r->model_name, r->token_bytes / 1e6);
    printf("engine    %s ops, %d threads\n\n", r->ops_name, r->n_threads);
    if (r->is_predicted)
        print_predicted(r);
    else
        print_measured(r);
}

// ---- JSON ---------------------------------------------------------------------------------------

static json_t *rate_json(struct rate r) {
    return json_pack("{s:f, s:f, s:f}", "median", r.median, "min", r.min, "max", r.max);
}

static json_t *prediction_json(const struct phase_report *p) {
    const struct prediction *q = &p->prediction;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:f}",                    //
                     "layer_ops_per_s", p->speed.layer_ops_per_s,                        //
                     "head_ops_per_s", p->speed.head_ops_per_s,                          //
                     "bytes_per_token", per_token(p, q->bytes),                          //
                     "ops_per_token", per_token(p, q->ops),                              //
                     "bytes_only_tokens_per_s", p->workload.n_tokens / q->read_seconds,  //
                     "ops_only_tokens_per_s", p->workload.n_tokens / q->compute_seconds, //
                     "wall", is_bound_by_reading(p) ? "bytes" : "operations",            //
                     "predicted_tokens_per_s", predicted_rate(p),                        //
                     "measured_over_predicted", p->rate.median / predicted_rate(p));
}

enum status bench_report_json(const struct bench_report *r, struct error *err) {
    json_t *doc = json_pack(
        "{s:{s:s, s:s, s:i}, s:s, s:s, s:s, s:s, s:i, s:i, s:f, s:o, s:o, s:o, s:f}", //
        "machine", "cpu", r->machine.cpu, "features", r->machine.features, "cores",
        r->machine.n_cores, //
        "compiler", r->machine.compiler, "flags", r->machine.flags, "model",
        r->model_name,                                                          //
        "ops", r->ops_name, "threads", r->n_threads, "runs", (int)MEASURE_RUNS, //
        "token_bytes", r->token_bytes,                                          //
        "prefill_tokens_per_s", rate_json(r->prefill.rate),                     //
        "decode_tokens_per_s", rate_json(r->decode.rate),                       //
        "read_bytes_per_s", rate_json(r->read), "decode_share_of_read", share_of_read(r));
    if (doc && r->is_predicted) {
        json_t *both = json_pack("{s:o, s:o}", "prefill", prediction_json(&r->prefill),
                                 "decode", prediction_json(&r->decode));
        if (json_object_set_new(doc, "prediction", both) != 0) {
            json_decref(doc);
            doc = NULL;
        }
    }
    if (!doc) return error_set(err, ERR_MEMORY, "no memory for the JSON document");
    json_dumpf(doc, stdout, JSON_INDENT(2)); // whether it was written, cli_finish says
    putchar('\n');
    json_decref(doc);
    return OK;
}
