// One page of text. A family is a line HELP, a line TYPE, and its samples:
//
//   # HELP vllm:prompt_tokens_total Tokens of prompts taken up.
//   # TYPE vllm:prompt_tokens_total counter
//   vllm:prompt_tokens_total{model_name="tiny"} 37
#include "level2-operator/server/http_metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/os.h"
#include "common/version.h"
#include "level2-operator/server/http_served.h"

enum { LINE_BYTES = 1024, LABEL_BYTES = 300 };

struct page {
    struct buffer *out;
    char model[LABEL_BYTES]; // model_name="..."
};

// ---- lines --------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void put(struct page *p, const char *format,
                                                      ...) {
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    buffer_put_string(p->out, line);
}

static void head(struct page *p, const char *name, const char *type, const char *help) {
    put(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// A family of one sample that belongs to the model.
static void one(struct page *p, const char *name, const char *type, double value,
                const char *help) {
    head(p, name, type, help);
    put(p, "%s{%s} %.17g\n", name, p->model, value);
}

// A family of one sample that belongs to the process.
static void alone(struct page *p, const char *name, const char *type, double value,
                  const char *help) {
    head(p, name, type, help);
    put(p, "%s %.17g\n", name, value);
}

// In a label, backslash, quote and line end are written with a backslash.
static void label(char out[LABEL_BYTES], const char *name, const char *value) {
    size_t n = (size_t)snprintf(out, LABEL_BYTES, "%s=\"", name);
    for (; *value && n + 4 < LABEL_BYTES; value++) {
        if (strchr("\\\"\n", *value)) out[n++] = '\\';
        out[n++] = *value;
        if (*value == '\n') out[n - 1] = 'n';
    }
    snprintf(out + n, LABEL_BYTES - n, "\"");
}

// counts (n_bounds + 1), each of its bucket alone.
static void buckets(struct page *p, const char *name, const double *bounds, int n_bounds,
                    const uint64_t *counts, double sum) {
    uint64_t n = 0;
    for (int i = 0; i <= n_bounds; i++) {
        char bound[32] = "+Inf";
        if (i < n_bounds) snprintf(bound, sizeof(bound), "%g", bounds[i]);
        n += counts[i];
        put(p, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", name, p->model, bound, n);
    }
    put(p, "%s_sum{%s} %.17g\n", name, p->model, sum);
    put(p, "%s_count{%s} %" PRIu64 "\n", name, p->model, n);
}

static void histogram(struct page *p, const char *name, const struct histogram *h,
                      const char *help) {
    uint64_t counts[HISTOGRAM_BOUNDS + 1];
    for (int i = 0; i <= h->n_bounds; i++) {
        counts[i] = atomic_load_explicit(&h->counts[i], memory_order_relaxed);
    }
    head(p, name, "histogram", help);
    buckets(p, name, h->bounds, h->n_bounds, counts,
            atomic_load_explicit(&h->sum, memory_order_relaxed));
}

// ---- what the engine counts ---------------------------------------------------------------------

static void steps(struct page *p, const struct engine_stats *e) {
    double bounds[ENGINE_STEP_SIZES - 1];
    for (int i = 0; i < ENGINE_STEP_SIZES - 1; i++) bounds[i] = 1 << i;
    head(p, "vllm:iteration_tokens_total", "histogram",
         "Tokens in one step of the engine; the count is its heartbeat.");
    buckets(p, "vllm:iteration_tokens_total", bounds, ENGINE_STEP_SIZES - 1,
            e->n_steps_by_rows, (double)e->n_step_rows);
}

static void engine(struct page *p, const struct engine_stats *e) {
    one(p, "vllm:num_requests_running", "gauge", e->n_running,
        "Sequences that the engine works on.");
    one(p, "vllm:num_requests_waiting", "gauge", e->n_waiting,
        "Sequences that wait for the engine.");
    one(p, "vllm:kv_cache_usage_perc", "gauge",
        e->n_kv_capacity > 0 ? (double)e->n_kv_tokens / e->n_kv_capacity : 0,
        "Share of the KV cache that holds tokens, 0 to 1.");
    one(p, "vllm:prompt_tokens_total", "counter", (double)e->n_prompt_tokens,
        "Tokens of the prompts that the engine has taken up, cached ones included.");
    one(p, "vllm:generation_tokens_total", "counter", (double)e->n_completion_tokens,
        "Tokens drawn.");
    one(p, "vllm:prefix_cache_queries_total", "counter", (double)e->n_prompt_tokens,
        "Tokens of prompts that were looked for in the prefix cache.");
    one(p, "vllm:prefix_cache_hits_total", "counter", (double)e->n_cached_tokens,
        "Tokens of prompts that were found in the prefix cache.");
    steps(p, e);
    one(p, "ladder_kv_cache_bytes", "gauge", (double)e->n_kv_bytes,
        "Size of the whole KV cache.");
}

struct phase {
    const char *name;
    int64_t ns;
    uint64_t n_tokens;
};

// Where the engine's time went; and, at a price per hour, what a token of each kind has cost.
static void phases(struct page *p, const struct engine_stats *e, double hourly_price) {
    static const char dollars[] = "ladder_usd_per_million_tokens";
    const struct phase rows[] = {
        {"cached", e->cache_ns,   e->n_cached_tokens                     },
        {"prompt", e->prefill_ns, e->n_prompt_tokens - e->n_cached_tokens},
        {"output", e->decode_ns,  e->n_completion_tokens                 }
    };
    enum { N_ROWS = sizeof(rows) / sizeof(*rows) };

    head(p, "ladder_engine_seconds_total", "counter",
         "Time of the engine by kind of token: looking for cached ones, computing those of "
         "prompts, drawing those of answers.");
    for (int i = 0; i < N_ROWS; i++) {
        put(p, "ladder_engine_seconds_total{%s,tokens=\"%s\"} %.9f\n", p->model,
            rows[i].name, (double)rows[i].ns / 1e9);
    }
    if (hourly_price <= 0) return;
    head(p, dollars, "gauge", "--hourly-price times measured seconds, by kind of token.");
    for (int i = 0; i < N_ROWS; i++) {
        if (rows[i].n_tokens == 0) continue; // nothing is known yet
        double seconds = (double)rows[i].ns / 1e9 / (double)rows[i].n_tokens;
        put(p, "%s{%s,tokens=\"%s\"} %.9g\n", dollars, p->model, rows[i].name,
            hourly_price * 1e6 * seconds / 3600);
    }
}

// ---- what worker and loop count -----------------------------------------------------------------

static void answers(struct page *p, const struct metrics *m) {
    static const char *const reasons[METRICS_ENDS] = {"stop", "length", "abort", "error"};
    static const char ended[] = "vllm:request_success_total";

    head(p, ended, "counter", "Sequences that have ended, by reason.");
    for (int i = 0; i < METRICS_ENDS; i++) {
        put(p, "%s{%s,finished_reason=\"%s\"} %" PRIu64 "\n", ended, p->model, reasons[i],
            atomic_load_explicit(&m->ended[i], memory_order_relaxed));
    }
    histogram(p, "vllm:time_to_first_token_seconds", &m->first_token_s,
              "From a request's arrival to the first byte of its text.");
    histogram(p, "vllm:inter_token_latency_seconds", &m->gap_s,
              "Between two tokens of a sequence.");
    histogram(p, "vllm:request_time_per_output_token_seconds", &m->per_token_s,
              "Mean time between the tokens of a sequence.");
    histogram(p, "vllm:e2e_request_latency_seconds", &m->whole_s,
              "From a request's arrival to the end of its answer.");
    histogram(p, "vllm:request_queue_time_seconds", &m->queue_s,
              "That a sequence waited for the engine.");
    histogram(p, "vllm:request_prefill_time_seconds", &m->prefill_s,
              "From the beginning of a sequence's prompt to its first token.");
    histogram(p, "vllm:request_decode_time_seconds", &m->decode_s,
              "From the first token of a sequence to its last.");
    histogram(p, "vllm:request_prompt_tokens", &m->n_prompt, "Tokens of a prompt.");
    histogram(p, "vllm:request_generation_tokens", &m->n_generated, "Tokens of an answer.");
}

static void doors(struct page *p, const struct http_server *s) {
    const struct metrics *m = s->options.metrics;
    head(p, "ladder_requests_refused_total", "counter",
         "Requests answered with an error, by HTTP status and code.");
    for (int i = 0; i < m->n_refusals; i++) {
        put(p, "ladder_requests_refused_total{status=\"%d\",code=\"%s\"} %" PRIu64 "\n",
            m->refusals[i].status, m->refusals[i].code, m->refusals[i].n);
    }
    alone(p, "ladder_clients_gone_total", "counter", (double)m->n_gone,
          "Clients that left before the end of their answer.");
    alone(p, "ladder_connections", "gauge", s->connections.n_open, "Open connections.");
    alone(p, "ladder_connections_sent_away_total", "counter",
          (double)s->connections.n_sent_away,
          "Connections ended without a request, to make room for others.");
    alone(p, "ladder_requests_inside", "gauge", s->admission.n_inside,
          "Requests between the door and their last byte.");
    alone(p, "ladder_log_lines_lost_total", "counter",
          (double)atomic_load_explicit(&m->n_lost_lines, memory_order_relaxed),
          "Lines of the log that could not be written.");
    head(p, "ladder_server_state", "gauge", "1 for the state that the server is in.");
    for (int i = 0; i <= SERVER_STOPPED; i++) {
        put(p, "ladder_server_state{state=\"%s\"} %d\n",
            lifecycle_name((enum server_state)i), (int)s->lifecycle.state == i);
    }
}

// The names are those of Prometheus' own client libraries.
static void process(struct page *p) {
    struct rusage used;
    char version[LABEL_BYTES];
    getrusage(RUSAGE_SELF, &used);
    double cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);

    alone(p, "process_cpu_seconds_total", "counter", cpu_s,
          "Processor time of all threads, user and system.");
    alone(p, "process_resident_memory_bytes", "gauge", (double)os_resident_bytes(),
          "Memory of the process that is in RAM, the model's file included.");
    label(version, "version", VERSION);
    head(p, "ladder_build_info", "gauge", "Always 1.");
    put(p, "ladder_build_info{%s} 1\n", version);
}

void http_metrics_write(struct buffer *out, const struct http_server *s) {
    struct page p = {.out = out};
    const struct served *served = http_served(s);
    struct engine_stats stats;

    doors(&p, s);
    process(&p);
    if (!served) return;
    label(p.model, "model_name", served->id);
    http_served_stats(s, &stats);
    head(&p, "ladder_model_info", "gauge", "Always 1; context is in tokens.");
    put(&p, "ladder_model_info{%s,context=\"%d\"} 1\n", p.model,
        engine_context(served->engine));
    engine(&p, &stats);
    phases(&p, &stats, s->options.hourly_price);
    answers(&p, s->options.metrics);
}
