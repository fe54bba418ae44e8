/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gozone: time zones as Go's time package finds and reads them: the system's TZif files. Private to the module.
 *
 * Zones that were read are kept for the life of the process (there are as many as the system has files) and never
 * change: threads share them. */
#include "base/arena.h"
#include "base/str.h"

struct gozone;

const struct gozone *gozone_utc(void);
struct str gozone_name(const struct gozone *z); /* time.Location's */
const struct gozone *gozone_local(void);        /* $TZ, else /etc/localtime, else UTC; read once */
/* time.LoadLocation: "" and "UTC", "Local", or a file's name. NULL when there is none. */
const struct gozone *gozone_load(struct str name);
/* time.FixedZone; borrows the name. */
const struct gozone *gozone_fixed(struct arena *a, struct str name, int offset_s);

struct gozone_at {
    struct str name;    /* "CEST" */
    int offset_s;       /* east of UTC */
    int64_t start, end; /* from when to when it holds, seconds since 1970 */
    bool dst;
};
struct gozone_at gozone_lookup(const struct gozone *z, int64_t unix_s);
/* The offset of an abbreviation, best the one in force at that local time. False: the zone has no such. */
bool gozone_lookup_name(const struct gozone *z, struct str name, int64_t local_s, int *ret_offset_s);
