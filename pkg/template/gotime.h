/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gotime: points in time, their layouts and durations as Go's time package has them. Private to the module. */
#include "base/buf.h"
#include "base/err.h"
#include "template/gozone.h"

struct gotime {
    int64_t s; /* since 1970-01-01T00:00:00Z */
    int32_t ns;
    const struct gozone *zone;
};

#define GOTIME_ZERO_S (-62135596800) /* 0001-01-01: time.Time{} */

struct gotime_parts {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second;
    int weekday;  /* 0 is Sunday */
    int year_day; /* from 1 */
    struct str zone_name;
    int offset_s;
};
struct gotime_parts gotime_split(struct gotime t);

/* time.Date: month and day may lie outside of their ranges. */
struct gotime gotime_date(int64_t year, int64_t month, int64_t day, int64_t seconds_of_day, int32_t ns,
                          const struct gozone *zone);

struct gotime gotime_add(struct gotime t, int64_t ns);
int64_t gotime_between(struct gotime a,
                       struct gotime b); /* Time.Sub: from b to a, at the ends of int64 what fits */
int64_t gotime_round_duration(int64_t ns, int64_t unit); /* Duration.Round: half away from zero */

extern const char *const gotime_months[12], *const gotime_weekdays[7];

/* One element of a layout. */
enum gotime_element {
    EL_NONE,
    EL_LONG_MONTH,
    EL_MONTH,
    EL_NUM_MONTH,
    EL_ZERO_MONTH,
    EL_LONG_WEEKDAY,
    EL_WEEKDAY,
    EL_DAY,
    EL_UNDER_DAY,
    EL_ZERO_DAY,
    EL_UNDER_YEAR_DAY,
    EL_ZERO_YEAR_DAY,
    EL_HOUR,
    EL_HOUR12,
    EL_ZERO_HOUR12,
    EL_MINUTE,
    EL_ZERO_MINUTE,
    EL_SECOND,
    EL_ZERO_SECOND,
    EL_LONG_YEAR,
    EL_YEAR,
    EL_UPPER_PM,
    EL_LOWER_PM,
    EL_ZONE_NAME,
    EL_OFFSET,    /* see struct gotime_chunk */
    EL_FRACTION0, /* exactly `digits` digits */
    EL_FRACTION9, /* up to `digits`, without zeros at the end */
};

struct gotime_chunk {
    enum gotime_element element;
    size_t at, n; /* where it stands in the layout; without one at is the end */
    size_t digits;
    char separator;                      /* of a fraction: '.' or ',' */
    bool offset_z, offset_colon;         /* "Z07:00": a 'Z' for UTC; colons */
    bool offset_minutes, offset_seconds; /* how far it goes */
};
struct gotime_chunk gotime_next_chunk(struct str layout);

void gotime_format(struct gotime t, struct str layout, struct buf *out);
/* time.ParseInLocation. Fixed zones go to `a`. PARSE with Go's text. */
NODISCARD int gotime_parse(struct arena *a, struct str layout, struct str text, const struct gozone *zone,
                           struct gotime *ret, struct err **err);
/* time.ParseDuration with Go's text on failure. */
NODISCARD int gotime_parse_duration(struct str text, int64_t *ret_ns, struct err **err);
void gotime_quote(struct str s, struct buf *out); /* the time package's own way of quoting */
