// Filters of one value: texts, numbers, and what is to stand where nothing is.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/template/template_filter.h"
#include "level2-operator/template/template_json.h"
#include "level2-operator/template/template_python.h"
#include "level2-operator/template/template_render.h"

static struct value run_trim(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    struct text t = value_string(r, in);
    (void)all;
    bool has_chars = arg[0].kind == VALUE_TEXT;
    return value_text(render_strip(r, t, has_chars ? &arg[0].text : NULL, TEXT_BOTH));
}

static struct value run_upper(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    (void)arg, (void)all;
    return value_text(text_upper(r, value_string(r, in)));
}

static struct value run_lower(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    (void)arg, (void)all;
    return value_text(text_lower(r, value_string(r, in)));
}

static struct value run_capitalize(struct render *r, struct value in,
                                   const struct value *arg, const struct arguments *all) {
    (void)arg, (void)all;
    return value_text(text_capitalize(r, value_string(r, in)));
}

static struct value run_title(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    (void)arg, (void)all;
    return value_text(text_words(r, value_string(r, in)));
}

static struct value run_replace(struct render *r, struct value in, const struct value *arg,
                                const struct arguments *all) {
    int64_t max_times = value_is_whole(arg[2]) ? value_whole(arg[2]) : -1;
    (void)all;
    if (!value_is_given(arg[0]) || !value_is_given(arg[1]))
        return render_fail(r, ERR_INPUT, "replace takes an old and a new text");
    struct text t = value_string(r, in), old = value_string(r, arg[0]);
    struct text new = value_string(r, arg[1]);
    return r->st ? value_none() : text_replace(r, t, old, new, max_times);
}

static struct value run_string(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)arg, (void)all;
    return value_text(value_string(r, in));
}

static struct value run_safe(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    (void)r, (void)arg, (void)all;
    return in;
}

static struct value run_escape(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    static const struct {
        const char *letter, *escape;
    } escapes[] = {
        {"&",  "&amp;"},
        {">",  "&gt;" },
        {"<",  "&lt;" },
        {"'",  "&#39;"},
        {"\"", "&#34;"}
    };
    struct value v = value_text(value_string(r, in));
    (void)arg, (void)all;
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]) && !r->st; i++) {
        struct text escape = text_foreign(escapes[i].escape, strlen(escapes[i].escape));
        v = text_replace(r, v.text, text_own(escapes[i].letter), escape, -1);
    }
    return v;
}

static struct value run_indent(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    enum { WIDTH, FIRST, BLANK };
    struct text margin = text_own("    ");
    struct text_builder b;
    (void)all;
    if (arg[WIDTH].kind == VALUE_TEXT) margin = arg[WIDTH].text;
    if (value_is_whole(arg[WIDTH])) {
        struct value spaces =
            arithmetic(r, NODE_PRODUCT, value_text(text_own(" ")), arg[WIDTH]);
        if (r->st) return value_none();
        margin = spaces.text;
    }
    // Split with a line end more, so that one at the very end counts as an empty line.
    struct value whole = arithmetic(r, NODE_SUM, value_text(value_string(r, in)),
                                    value_text(text_own("\n")));
    if (r->st) return value_none();
    struct value lines = text_split_lines(r, whole.text);
    render_builder(r, &b);
    if (value_is_true(arg[FIRST])) text_put(&b, margin);
    for (size_t i = 0; i < lines.list.n_items && !r->st; i++) {
        struct text line = lines.list.items[i].text;
        if (i > 0) text_put(&b, text_own("\n"));
        if (i > 0 && (line.n_bytes || value_is_true(arg[BLANK]))) text_put(&b, margin);
        text_put(&b, line);
    }
    return render_built(r, &b);
}

static struct value run_format(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)arg;
    struct text format = value_string(r, in);
    return r->st ? value_none() : print_format(r, format, all->items, all->n_items);
}

static struct value run_tojson(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)all;
    return json_filter(r, in, arg);
}

static struct value run_default(struct render *r, struct value in, const struct value *arg,
                                const struct arguments *all) {
    bool is_missing = !value_is_given(in) || (value_is_true(arg[1]) && !value_is_true(in));
    (void)r, (void)all;
    if (!is_missing) return in;
    return value_is_given(arg[0]) ? arg[0] : value_text(text_own(""));
}

static struct value run_attr(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    (void)all;
    if (in.kind == VALUE_DICT) return value_undefined(text_own("attribute"));
    return field_get(r, in, value_string(r, arg[0]));
}

// ---- numbers ------------------------------------------------------------------------------------

// A copy that C can read; false: it is too long to be a number.
static bool copy_number(struct render *r, char out[64], struct text t) {
    t = render_strip(r, t, NULL, TEXT_BOTH);
    if (t.n_bytes == 0 || t.n_bytes >= 64) return false;
    memcpy(out, t.bytes, t.n_bytes);
    out[t.n_bytes] = '\0';
    return strlen(out) == t.n_bytes;
}

static struct value whole_of_real(double real, struct value otherwise) {
    if (!(fabs(real) < 9.2e18)) return otherwise; // NaN too
    return value_int((int64_t)real);
}

static struct value whole_of_text(struct render *r, struct text t, int base,
                                  struct value otherwise) {
    char copy[64], *end;
    if (!copy_number(r, copy, t)) return otherwise;
    errno = 0;
    long long number = strtoll(copy, &end, base);
    if (*end == '\0' && !errno) return value_int(number);
    double real = strtod(copy, &end);
    return *end == '\0' ? whole_of_real(real, otherwise) : otherwise;
}

static struct value run_int(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    struct value otherwise = value_is_given(arg[0]) ? arg[0] : value_int(0);
    int64_t base = value_is_whole(arg[1]) ? value_whole(arg[1]) : 10;
    (void)all;
    if (base < 2 || base > 36) base = 10;
    if (value_is_whole(in)) return value_int(value_whole(in));
    if (in.kind == VALUE_FLOAT) return whole_of_real(in.real, otherwise);
    return in.kind == VALUE_TEXT ? whole_of_text(r, in.text, (int)base, otherwise)
                                 : otherwise;
}

static struct value run_float(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    char copy[64], *end;
    (void)all;
    if (value_is_number(in)) return value_float(value_real(in));
    struct value otherwise = value_is_given(arg[0]) ? arg[0] : value_float(0);
    if (in.kind != VALUE_TEXT || !copy_number(r, copy, in.text)) return otherwise;
    double real = strtod(copy, &end);
    return *end == '\0' ? value_float(real) : otherwise;
}

static struct value run_abs(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    (void)arg, (void)all;
    if (!value_is_number(in)) return render_type_error(r, "abs", in, NULL);
    if (in.kind == VALUE_FLOAT) return value_float(fabs(in.real));
    if (value_whole(in) >= 0) return value_int(value_whole(in));
    return arithmetic(r, NODE_DIFFERENCE, value_int(0), in);
}

enum { ROUND_DIGITS = 17, ROUND_BYTES = 512 }; // more digits than these change nothing

// By its decimal digits: 2.675 is a little less than it seems, and 100 times as much is not.
static double round_real(double real, int64_t n_digits) {
    char decimal[ROUND_BYTES];
    if (n_digits > ROUND_DIGITS) return real;
    snprintf(decimal, sizeof(decimal), "%.*f", (int)n_digits, real);
    return strtod(decimal, NULL);
}

// Halves go to the even neighbour, as in Python.
static struct value run_round(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    int64_t digits = value_is_whole(arg[0]) ? value_whole(arg[0]) : 0;
    struct text method = arg[1].kind == VALUE_TEXT ? arg[1].text : text_own("common");
    (void)all;
    if (!value_is_number(in)) return render_type_error(r, "round", in, NULL);
    double scale = pow(10, (double)digits), scaled = value_real(in) * scale;
    if (text_is(method, "ceil")) return value_float(ceil(scaled) / scale);
    if (text_is(method, "floor")) return value_float(floor(scaled) / scale);
    if (value_is_whole(in) && digits >= 0) return value_int(value_whole(in));
    if (digits >= 0) return value_float(round_real(in.real, digits));
    struct value rounded = value_float(nearbyint(scaled) / scale);
    return value_is_whole(in) ? whole_of_real(rounded.real, in) : rounded;
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || (unsigned char)c >= 0x80;
}

static struct value run_wordcount(struct render *r, struct value in,
                                  const struct value *arg, const struct arguments *all) {
    struct text t = value_string(r, in);
    int64_t n = 0;
    (void)arg, (void)all;
    for (size_t i = 0; i < t.n_bytes && (i % 1024 || render_bytes(r, 1024)); i++)
        n += is_word(t.bytes[i]) && (i == 0 || !is_word(t.bytes[i - 1]));
    return value_int(n);
}

const struct filter text_filters[] = {
    {"trim",       run_trim,       "chars"                                   },
    {"tojson",     run_tojson,     "ensure_ascii indent separators sort_keys"},
    {"default",    run_default,    "default_value boolean"                   },
    {"d",          run_default,    "default_value boolean"                   },
    {"upper",      run_upper,      ""                                        },
    {"lower",      run_lower,      ""                                        },
    {"capitalize", run_capitalize, ""                                        },
    {"title",      run_title,      ""                                        },
    {"replace",    run_replace,    "old new count"                           },
    {"string",     run_string,     ""                                        },
    {"safe",       run_safe,       ""                                        },
    {"escape",     run_escape,     ""                                        },
    {"e",          run_escape,     ""                                        },
    {"indent",     run_indent,     "width first blank"                       },
    {"format",     run_format,     NULL                                      },
    {"attr",       run_attr,       "name"                                    },
    {"int",        run_int,        "default base"                            },
    {"float",      run_float,      "default"                                 },
    {"abs",        run_abs,        ""                                        },
    {"round",      run_round,      "precision method"                        },
    {"wordcount",  run_wordcount,  ""                                        },
    {NULL,         NULL,           NULL                                      },
};
