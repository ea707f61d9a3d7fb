// The answer as a page of text: sums first, since they are what one checks.
#include "level2-operator/fit/fit_report.h"

#include <inttypes.h>
#include <string.h>

#include "common/printable.h"
#include "level2-operator/fit/fit_type.h"
#include "level2-operator/text/byte_text.h"

static const char *mark(bool is_assumed, const char *option) {
    static const char *const words[2] = {", assumed: --context says otherwise",
                                         ", assumed: --sequences says otherwise"};
    if (!is_assumed) return "";
    return words[strcmp(option, "sequences") == 0];
}

static void print_head(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    const struct fit_machine *m = &c->machine;
    printable_write(out, c->subject->name, strlen(c->subject->name));
    fprintf(out, " on %d x %s: %s", m->n_devices, m->name,
            a->fits ? "fits" : "does not fit");
    if (a->fits && !a->fits_at_worst)
        fputs(", but not with the highest overhead that was seen", out);
    fprintf(out, "\n  context     %" PRIu64 " tokens%s\n", c->n_ctx,
            mark(c->is_ctx_assumed, "context"));
    fprintf(out, "  sequences   %" PRIu64 "%s\n", c->n_seqs,
            mark(c->is_seqs_assumed, "sequences"));
    if (m->n_split > 1 || a->n_copies > 1)
        fprintf(out, "  copies      %d, each split over %d\n", a->n_copies, m->n_split);
    if (c->n_ctx > c->subject->n_ctx)
        fprintf(out, "  note        the model was trained for %" PRIu64 " tokens%s\n",
                c->subject->n_ctx, m->is_here ? "; serve takes no more" : "");
    if (*c->subject->note) fprintf(out, "  note        %s\n", c->subject->note);
}

static void print_line(FILE *out, const char *name, uint64_t n_bytes) {
    char text[BYTE_TEXT_BYTES];
    fprintf(out, "  %-11s %-26s", name, byte_text(text, n_bytes));
}

static void print_ledger(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    const struct fit_machine *m = &c->machine;
    fprintf(out, "\n%s\n",
            a->plan.n_split > 1 ? "memory, all devices of one copy" : "memory");
    print_line(out, "weights", a->weight_bytes);
    fprintf(out, "%" PRIu64 " parameters, ", c->subject->shape.n_weights);
    if (c->weights) {
        fprintf(out, "%s: %.4g bits each\n", c->weights, fit_type_bits(c->weight_type));
    } else {
        fprintf(out, "as stored\n");
    }
    print_line(out, "KV, a token", a->kv_bytes_per_token);
    fprintf(out, "%s\n", c->kv);
    print_line(out, "KV, all", a->kv_bytes);
    fprintf(out, "%" PRIu64 " x %" PRIu64 " tokens%s\n", a->plan.n_seqs, c->n_ctx,
            c->subject->shape.n_window_layers ? ", windows kept short" : "");
    print_line(out, "overhead", a->overhead_bytes);
    fprintf(out, "%s\n", a->plan.n_split > 1 ? m->split_words : m->overhead_words);
    print_line(out, "usable", a->usable_bytes);
    char text[BYTE_TEXT_BYTES];
    fprintf(out, "%g of %s on each device\n", m->device.share / 1000.0,
            byte_text(text, m->device.memory_bytes));
}

static void print_limits(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    fprintf(out, "\nlimits\n  batch       %" PRIu64 " sequences of %" PRIu64 " tokens\n",
            a->max_sequences, c->n_ctx);
    fprintf(out, "  context     %" PRIu64 " tokens for each of %" PRIu64 "%s\n",
            a->max_context, c->n_seqs,
            a->max_context == c->subject->n_ctx ? ": all that the model was trained for"
                                                : "");
    if (a->devices_needed > 0)
        fprintf(out, "  devices     %d %s needed\n", a->devices_needed,
                a->devices_needed == 1 ? "is" : "are");
    if (c->machine.is_here)
        fprintf(
            out,
            "  serve       holds one sequence%s, and takes its KV at start: others wait\n",
            strcmp(c->kv, "f32") == 0 ? "" : " (and in f32)");
    if (a->max_sequences > 0) {
        fprintf(out,
                "  runs out    %s is full when %" PRIu64
                " sequences have grown to\n              %" PRIu64 " tokens; the next one "
                "finds no room\n",
                c->machine.is_here ? "serve does not; an engine of many sequences"
                                   : "a server that fitted at start",
                a->max_sequences, c->n_ctx);
        if (c->request_s > 0)
            fprintf(out,
                    "              at %.3g requests a second, if each stays %g s (Little "
                    "1961: n = rate x time)\n",
                    (double)a->max_sequences / c->request_s, c->request_s);
    }
}

static void print_seconds(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    static const char *const places[FIT_PLACES] = {"page cache", "disk", "network"};
    fputs("\nloading, at the best\n", out);
    for (int i = 0; i < FIT_PLACES; i++) {
        fprintf(out, "  %-11s %.3g s at %.3g GB/s\n", places[i], a->load_seconds[i],
                c->machine.load_rates[i] / 1e9);
    }
    if (a->fits && a->tokens_per_s > 0)
        fprintf(out, "one sequence alone: at most %.3g tokens/s, by bandwidth\n",
                a->tokens_per_s);
}

static void print_advice(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    if (a->fits) return;
    fputs("\nwhat would make it fit, best first\n", out);
    for (int i = 0; i < a->n_advice; i++) {
        const struct fit_advice *one = &a->advice[i];
        fprintf(out, "  %-20s  %s", one->option, one->words);
        if (one->max_sequences > c->n_seqs)
            fprintf(out, ": up to %" PRIu64 " sequences", one->max_sequences);
        fputc('\n', out);
    }
    if (a->n_advice == 0) fputs("  nothing of this list alone: a smaller model\n", out);
}

void fit_print(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    print_head(out, c, a);
    print_ledger(out, c, a);
    print_limits(out, c, a);
    print_seconds(out, c, a);
    print_advice(out, c, a);
}

void fit_print_sources(FILE *out, const struct fit_case *c) {
    fprintf(out, "\nshape   %s\ndevice  %s\nrules   docs/level2/memory.md\n",
            c->subject->source, c->machine.source);
}
