/* SPDX-License-Identifier: Apache-2.0 */
/* The framing of a watch stream: JSON values one after the other, cut anywhere by the transport. */
#include <stdlib.h>

#include "kube/kube_int.h"
#include "json/json.h"

struct kube_watch_parser {
    struct buf text;
    size_t start; /* of the first byte that was not yielded */
    size_t event_max;
    struct json_scan scan;
    bool broken;
};

struct kube_watch_parser *kube_watch_parser_new(size_t event_max)
{
    struct kube_watch_parser *p = xcalloc(1, sizeof(*p));

    p->event_max = event_max ? event_max : KUBE_EVENT_MAX;
    p->text.max = SIZE_MAX / 2;
    return p;
}

void kube_watch_parser_free(struct kube_watch_parser *p)
{
    if (p)
        buf_done(&p->text);
    free(p);
}

/* An idle watch keeps no memory: the buffer goes when it is empty. */
static void forget_done(struct kube_watch_parser *p)
{
    if (p->start == p->text.n) {
        buf_done(&p->text);
        p->text.max = SIZE_MAX / 2;
    } else if (p->start > 0) {
        memmove(p->text.p, p->text.p + p->start, p->text.n - p->start);
        buf_truncate(&p->text, p->text.n - p->start);
    }
    p->start = 0;
}

void kube_watch_parser_add(struct kube_watch_parser *p, struct str bytes)
{
    if (p->broken)
        return;
    forget_done(p);
    buf_addstr(&p->text, bytes);
}

/* JSON's white space: fewer characters than C's. */
static struct str skip_blank(struct str s)
{
    size_t n = 0;

    while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t' || s.p[n] == '\r' || s.p[n] == '\n'))
        n++;
    return str_sub(s, n, s.n);
}

int kube_watch_parser_next(struct kube_watch_parser *p, struct arena *a, struct kube_watch_event *ret,
                           struct err **err)
{
    struct str rest = str_sub(buf_str(&p->text), p->start, p->text.n);
    struct value v;
    size_t end;
    int r;

    if (p->broken)
        return err_set(err, ERRC_PARSE, "the watch stream is broken");
    if (skip_blank(rest).n == 0) {
        p->start = p->text.n;
        p->scan = (struct json_scan){ 0 };
        return 0;
    }
    if (skip_blank(rest).p[0] != '{')
        r = err_set(err, ERRC_PARSE, "this is no event");
    else
        r = json_scan_value(&p->scan, rest, &end, err);
    if (r == 0 && rest.n > p->event_max)
        r = err_set(err, ERRC_LIMIT, "an event of the watch is larger than %zu bytes", p->event_max);
    if (r > 0 && end > p->event_max)
        r = err_set(err, ERRC_LIMIT, "an event of the watch is larger than %zu bytes", p->event_max);
    if (r > 0) {
        int parsed = json_parse(a, str_sub(rest, 0, end), NULL, &v, err);

        r = parsed < 0 ? parsed : r;
    }
    if (r < 0)
        p->broken = true;
    if (r <= 0)
        return r < 0 ? err_wrap(err, r, "watch stream") : 0;
    p->start += end;
    p->scan = (struct json_scan){ 0 };
    *ret = (struct kube_watch_event){ value_str(value_getz(v, "type")), value_getz(v, "object") };
    return 1;
}
