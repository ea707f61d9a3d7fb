// Days are counted by hand: the functions of time.h that read dates ask the locale for its names.
#include "level1-user/http_date.h"

#include <stdio.h>
#include <string.h>

struct date {
    char month[4]; // "Sep"
    int year, day, hour, minute, second;
};

// Where text goes on behind one of the three forms, or NULL.
static const char *read_forms(struct date *d, const char *text) {
    int n = 0;
    sscanf(text, "%*[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &d->day, d->month,
           &d->year, &d->hour, &d->minute, &d->second, &n);
    if (n > 0) return text + n;
    sscanf(text, "%*[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &d->day, d->month,
           &d->year, &d->hour, &d->minute, &d->second, &n);
    if (n > 0) {
        d->year += 2000;
        return text + n;
    }
    sscanf(text, "%*[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", d->month, &d->day, &d->hour,
           &d->minute, &d->second, &d->year, &n);
    return n > 0 ? text + n : NULL;
}

static bool is_leap(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

// 0 for January; -1: no name of a month.
static int month_index(const char *name) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int m = 0; m < 12; m++) {
        if (strlen(name) == 3 && memcmp(names + (size_t)m * 3, name, 3) == 0) return m;
    }
    return -1;
}

static int days_of_month(int year, int m) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[m] + (m == 1 && is_leap(year));
}

static int64_t days_since_1970(int year, int m, int day) {
    int before = year - 1, days = day - 1;
    for (int i = 0; i < m; i++) days += days_of_month(year, i);
    return 365 * (int64_t)(year - 1970) + (before / 4 - before / 100 + before / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400) + days;
}

bool http_date_parse(const char *text, int64_t *unix_s) {
    struct date d = {0};
    const char *rest = read_forms(&d, text + strspn(text, " \t"));
    int m = month_index(d.month);

    if (!rest || rest[strspn(rest, " \t")] != '\0' || m < 0) return false;
    if (d.year < 1970 || d.day < 1 || d.day > days_of_month(d.year, m)) return false;
    if (d.hour < 0 || d.hour > 23 || d.minute < 0 || d.minute > 59) return false;
    if (d.second < 0 || d.second > 60) return false; // 60: a leap second
    *unix_s = days_since_1970(d.year, m, d.day) * 86400 + d.hour * 3600 + d.minute * 60 +
              d.second;
    return true;
}
