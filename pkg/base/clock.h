/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* clock: wall time, monotonic time and their text forms. Tests replace both sources. */
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct wall_time { /* since 1970-01-01T00:00:00Z */
    int64_t s;
    int32_t ns; /* 0 to 999,999,999 */
};

struct wall_time clock_wall(void);
int64_t clock_mono_ms(void); /* since an arbitrary point; never goes back */
int64_t clock_mono_ns(void);

/* For tests: the functions above answer from these until clock_set_fake(NULL). Not for several threads. */
struct clock_fake {
    struct wall_time wall;
    int64_t mono_ns;
};
void clock_set_fake(const struct clock_fake *fake);

/* "2006-01-02T15:04:05Z", "…05.000000Z", and Go's RFC3339Nano (trailing zeros of the fraction dropped). */
void clock_format_rfc3339(struct wall_time t, struct buf *out);
void clock_format_rfc3339_micro(struct wall_time t, struct buf *out);
void clock_format_rfc3339_nano(struct wall_time t, struct buf *out);
/* RFC 3339 with any offset and fraction. False when it is not one. */
bool clock_parse_rfc3339(struct str s, struct wall_time *ret);

/* Days since 1970-01-01 of a proleptic Gregorian date, and back. month 1 to 12, day 1 to 31. */
int64_t clock_days_from_civil(int64_t year, int month, int day);
void clock_civil_from_days(int64_t days, int64_t *year, int *month, int *day);

/* Go's time.ParseDuration ("1h15m30.918s", "-1.5h", "100ms"); nanoseconds. False when it is not one or overflows. */
bool clock_parse_duration(struct str s, int64_t *ret_ns);
/* Go's Duration.String(): "1h15m30.918s", "0s", "1.5ms". */
void clock_format_duration(int64_t ns, struct buf *out);
