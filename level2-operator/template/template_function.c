// The functions that every template may call, jinja2's own and those that transformers adds.
#include <stdio.h>
#include <time.h>

#include "level2-operator/template/template_python.h"
#include "level2-operator/template/template_render.h"

static struct value dict_of(struct render *r, const struct arguments *a,
                            enum value_kind kind) {
    struct dict *d = pool_take(r->pool, 1, sizeof(*d));
    if (!d) return render_no_memory(r);
    if (a->n_items > 1) return render_fail(r, ERR_INPUT, "a dict takes names and values");
    const struct value *from = a->n_items ? &a->items[0] : NULL;
    if (from && from->kind != VALUE_DICT)
        return render_type_error(r, "a dict", *from, NULL);

    bool has_memory = true;
    for (size_t i = 0; from && i < from->dict->n_entries && has_memory; i++)
        has_memory = dict_append(d, from->dict->entries[i].key,
                                 from->dict->entries[i].value, r->pool);
    if (!has_memory) return render_no_memory(r);
    for (size_t i = 0; i < a->named.n_entries && !r->st; i++)
        render_dict_set(r, d, a->named.entries[i].key.text, a->named.entries[i].value);
    return (struct value){.kind = kind, .dict = d};
}

static struct value make_namespace(struct render *r, const struct arguments *a) {
    return dict_of(r, a, VALUE_NAMESPACE);
}

static struct value make_dict(struct render *r, const struct arguments *a) {
    return dict_of(r, a, VALUE_DICT);
}

// range(end), range(begin, end), range(begin, end, step)
static struct value make_range(struct render *r, const struct arguments *a) {
    int64_t bound[3] = {0, 0, 1};
    for (size_t i = 0; i < a->n_items && i < 3; i++) {
        if (!value_is_whole(a->items[i]))
            return render_type_error(r, "range", a->items[i], NULL);
        bound[a->n_items == 1 ? 1 : i] = value_whole(a->items[i]);
    }
    bool is_up = bound[2] > 0;
    if (a->n_items == 0 || a->n_items > 3 || bound[2] == 0)
        return render_fail(r, ERR_INPUT, "range: wrong arguments");
    uint64_t span = is_up ? (uint64_t)bound[1] - (uint64_t)bound[0]
                          : (uint64_t)bound[0] - (uint64_t)bound[1];
    uint64_t stride = is_up ? (uint64_t)bound[2] : 0 - (uint64_t)bound[2];
    bool is_empty = is_up ? bound[0] >= bound[1] : bound[0] <= bound[1];
    size_t n = is_empty ? 0 : (size_t)((span - 1) / stride + 1);
    struct value *items = render_values(r, n);
    if (!items) return value_none();
    for (size_t i = 0; i < n; i++)
        items[i] = value_int((int64_t)((uint64_t)bound[0] + i * (uint64_t)bound[2]));
    return value_list(items, n);
}

static struct value raise_exception(struct render *r, const struct arguments *a) {
    struct text message = a->n_items ? value_string(r, a->items[0]) : text_own("refused");
    return render_fail(r, ERR_INPUT, "%.*s",
                       (int)(message.n_bytes < 190 ? message.n_bytes : 190), message.bytes);
}

// One letter of a format of strftime, in English whatever the locale. is_bare: "%-d", no zero in front.
static bool put_time(struct text_builder *b, const struct tm *t, char letter,
                     bool is_bare) {
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    int hour = t->tm_hour % 12 ? t->tm_hour % 12 : 12;
    const struct {
        char letter;
        int number, width;
    } numbers[] = {
        {'Y', t->tm_year + 1900, 1},
        {'y', t->tm_year % 100,  2},
        {'m', t->tm_mon + 1,     2},
        {'d', t->tm_mday,        2},
        {'H', t->tm_hour,        2},
        {'I', hour,              2},
        {'M', t->tm_min,         2},
        {'S', t->tm_sec,         2},
        {'j', t->tm_yday + 1,    3},
    };
    char out[24] = "";

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].letter == letter)
            snprintf(out, sizeof(out), "%0*d", is_bare ? 1 : numbers[i].width,
                     numbers[i].number);
    if (letter == 'A') snprintf(out, sizeof(out), "%s", days[t->tm_wday]);
    if (letter == 'a') snprintf(out, sizeof(out), "%.3s", days[t->tm_wday]);
    if (letter == 'B') snprintf(out, sizeof(out), "%s", months[t->tm_mon]);
    if (letter == 'b') snprintf(out, sizeof(out), "%.3s", months[t->tm_mon]);
    if (letter == 'p') snprintf(out, sizeof(out), "%s", t->tm_hour < 12 ? "AM" : "PM");
    if (letter == '%') snprintf(out, sizeof(out), "%%");
    text_put_made(b, out);
    return out[0] != '\0';
}

static struct value strftime_now(struct render *r, const struct arguments *a) {
    time_t now = (time_t)r->now_s;
    struct text_builder b;
    struct tm local;

    if (a->n_items != 1 || a->items[0].kind != VALUE_TEXT)
        return render_fail(r, ERR_INPUT, "strftime_now takes one format");
    if (!localtime_r(&now, &local)) return render_fail(r, ERR_INPUT, "no time of day");
    struct text format = a->items[0].text;
    render_builder(r, &b);
    for (size_t i = 0; i < format.n_bytes; i++) {
        if (format.bytes[i] != '%') {
            text_put(&b, text_slice(format, i, i + 1));
            continue;
        }
        bool is_bare = i + 1 < format.n_bytes && format.bytes[i + 1] == '-';
        i += is_bare ? 2 : 1;
        char letter = i < format.n_bytes ? format.bytes[i] : ' ';
        if (!put_time(&b, &local, letter, is_bare))
            return render_fail(r, ERR_UNSUPPORTED, "strftime_now: %%%c is not supported",
                               letter);
    }
    return render_built(r, &b);
}

const struct function *function_find(struct text name) {
    static const struct function functions[] = {
        {"namespace",       make_namespace },
        {"dict",            make_dict      },
        {"range",           make_range     },
        {"raise_exception", raise_exception},
        {"strftime_now",    strftime_now   },
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (text_is(name, functions[i].name)) return &functions[i];
    return NULL;
}
