/* SPDX-License-Identifier: Apache-2.0 */
/* Events, as client-go's record package correlates them: equal ones are counted, many alike are combined, a chatty object
 * is cut off. A thread of its own writes them. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "kube/kube_int.h"

#define LOG_MODULE "kube"
#include "base/log.h"

#define MESSAGE_MAX ((size_t)1024)
#define REASON_MAX ((size_t)128)
#define KNOWN_MAX ((size_t)4096)
#define SIMILAR_MAX 10
#define SIMILAR_MS 600000
#define BURST 25.0
#define REFILL_MS 300000.0
#define COMBINED "(combined from similar events): "
#define TRIES 3
#define DRAIN_MS 1000
#define WRITE_MS 5000

struct entry { /* one that waits */
    struct entry *next;
    struct str api_version, kind, ns, name, uid, resource_version; /* owned */
    struct str reason, message;
    enum kube_event_severity severity;
    struct wall_time at;
};

struct seen { /* an event object that was written; or a group of similar ones; or an object's allowance */
    char *name;
    int64_t count, since_ms;
    struct wall_time first;
    double tokens;
};

struct kube_recorder {
    struct kube *k;
    char *component, host[64];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct entry *head, **tail;
    size_t n;
    uint64_t dropped;
    bool stop;
    struct map written, similar, allowance; /* the thread's alone */
};

static struct str own(struct str s)
{
    return (struct str){ str_dup(s), s.n };
}

static void entry_free(struct entry *e)
{
    struct str *const strings[] = { &e->api_version,      &e->kind,   &e->ns,     &e->name, &e->uid,
                                    &e->resource_version, &e->reason, &e->message };

    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        free((char *)(uintptr_t)strings[i]->p);
    free(e);
}
DEFINE_CLEANUP(struct entry *, entry_free)

/* ---- correlation -------------------------------------------------------------------------------------------------- */

static void forget(struct map *m)
{
    void *value;

    for (size_t i = 0; map_next(m, &i, NULL, &value);) {
        struct seen *s = value;

        free(s->name);
        free(s);
    }
    map_done(m);
    *m = MAP_INIT;
}

static struct seen *look_up(struct map *m, struct str key)
{
    struct seen *s = map_get(m, key);

    if (s)
        return s;
    if (map_n(m) >= KNOWN_MAX)
        forget(m);
    s = xcalloc(1, sizeof(*s));
    s->since_ms = clock_mono_ms();
    s->tokens = BURST;
    map_put(m, key, s);
    return s;
}

static void object_key(const struct entry *e, struct buf *out)
{
    const struct str parts[] = { e->api_version, e->kind, e->ns, e->name, e->uid };

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        buf_addstr(out, parts[i]);
        buf_addc(out, '\x1f');
    }
}

static bool is_allowed(struct kube_recorder *r, struct str key)
{
    struct seen *s = look_up(&r->allowance, key);
    int64_t now = clock_mono_ms();

    s->tokens = MIN(s->tokens + (double)(now - s->since_ms) / REFILL_MS, BURST);
    s->since_ms = now;
    if (s->tokens < 1)
        return false;
    s->tokens -= 1;
    return true;
}

/* Puts the message into the key, unless too many that differ in it came. */
static void correlate(struct kube_recorder *r, struct entry *e, struct buf *key)
{
    struct seen *group;

    buf_addf(key, "%d\x1f" STR_FMT "\x1f", (int)e->severity, STR_ARG(e->reason));
    group = look_up(&r->similar, buf_str(key));
    if (clock_mono_ms() - group->since_ms > SIMILAR_MS) {
        group->count = 0;
        group->since_ms = clock_mono_ms();
    }
    if (++group->count > SIMILAR_MAX) {
        CLEANUP(free_ptr) char *text = xasprintf(COMBINED STR_FMT, STR_ARG(e->message));

        free((char *)(uintptr_t)e->message.p);
        e->message = own(str_sub(str_from(text), 0, MIN(strlen(text), MESSAGE_MAX)));
        return;
    }
    buf_addstr(key, e->message);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static struct value time_value(struct arena *a, struct wall_time t)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339(t, &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

static struct value involved(struct arena *a, const struct entry *e)
{
    struct value v = value_new_map(a);

    value_setz(v, "apiVersion", value_from_str(e->api_version));
    value_setz(v, "kind", value_from_str(e->kind));
    value_setz(v, "name", value_from_str(e->name));
    if (e->ns.n > 0)
        value_setz(v, "namespace", value_from_str(e->ns));
    if (e->uid.n > 0)
        value_setz(v, "uid", value_from_str(e->uid));
    if (e->resource_version.n > 0)
        value_setz(v, "resourceVersion", value_from_str(e->resource_version));
    return v;
}

static struct str event_namespace(const struct entry *e)
{
    return e->ns.n > 0 ? e->ns : STR("default");
}

static struct value event_object(struct kube_recorder *r, struct arena *a, const struct entry *e,
                                 const struct seen *s)
{
    struct value v = value_new_map(a), meta = value_new_map(a), source = value_new_map(a);

    value_setz(meta, "name", value_from_str(str_from(s->name)));
    value_setz(meta, "namespace", value_from_str(event_namespace(e)));
    value_setz(source, "component", value_from_str(str_from(r->component)));
    value_setz(source, "host", value_from_str(str_from(r->host)));
    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "kind", VALUE_STR("Event"));
    value_setz(v, "metadata", meta);
    value_setz(v, "involvedObject", involved(a, e));
    value_setz(v, "reason", value_from_str(e->reason));
    value_setz(v, "message", value_from_str(e->message));
    value_setz(v, "type", e->severity == KUBE_EVENT_WARNING ? VALUE_STR("Warning") : VALUE_STR("Normal"));
    value_setz(v, "source", source);
    value_setz(v, "firstTimestamp", time_value(a, s->first));
    value_setz(v, "lastTimestamp", time_value(a, e->at));
    value_setz(v, "count", value_from_int(s->count));
    value_setz(v, "reportingComponent", value_from_str(str_from(r->component)));
    value_setz(v, "reportingInstance", value_from_str(str_from(r->host)));
    return v;
}

static int create(struct kube_recorder *r, struct arena *a, const struct entry *e, struct seen *s,
                  struct err **err)
{
    struct kube_request rq = { .verb = KUBE_CREATE, .deadline_ms = WRITE_MS };

    free(s->name);
    s->name = xasprintf(STR_FMT ".%llx", STR_ARG(str_sub(e->name, 0, MIN(e->name.n, (size_t)230))),
                        (unsigned long long)e->at.s * 1000000000ULL + (unsigned long long)e->at.ns);
    s->count = 1;
    s->first = e->at;
    rq.object = event_object(r, a, e, s);
    return kube_do(r->k, a, &rq, NULL, err);
}

static int count_up(struct kube_recorder *r, struct arena *a, const struct entry *e, struct seen *s,
                    struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "Event", event_namespace(e), str_from(s->name));
    struct value patch = value_new_map(a);
    struct kube_request rq = { .verb = KUBE_PATCH, .ref = ref, .object = patch, .deadline_ms = WRITE_MS };

    value_setz(patch, "count", value_from_int(s->count + 1));
    value_setz(patch, "lastTimestamp", time_value(a, e->at));
    value_setz(patch, "message", value_from_str(e->message));
    return kube_do(r->k, a, &rq, NULL, err);
}

static int write_once(struct kube_recorder *r, const struct entry *e, struct seen *s, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    int n;

    if (!s->name)
        return create(r, a, e, s, err);
    n = count_up(r, a, e, s, NULL);
    if (n == -ERRC_NOT_FOUND) /* it lives an hour */
        return create(r, a, e, s, err);
    if (n >= 0)
        s->count++;
    return n;
}

static void write_event(struct kube_recorder *r, struct entry *e)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(16 * KIB);
    struct seen *s;

    object_key(e, &key);
    if (!is_allowed(r, buf_str(&key)))
        return;
    correlate(r, e, &key);
    s = look_up(&r->written, buf_str(&key));
    for (int i = 0; i < TRIES; i++) {
        CLEANUP(err_free) struct err *err = NULL;
        int n = write_once(r, e, s, &err);

        if (n >= 0)
            return;
        if (s->count <= 1) {
            free(s->name);
            s->name = NULL;
        }
        log_debug("event not written", LOG_STR("reason", e->reason), LOG_ERR(err));
        if ((n != -ERRC_UNAVAILABLE && n != -ERRC_TIMEOUT) || !kube_conn_sleep(r->k->conn, 1000))
            return;
    }
}

static struct entry *take(struct kube_recorder *r)
{
    struct entry *e;

    pthread_mutex_lock(&r->lock);
    while (!r->head && !r->stop)
        pthread_cond_wait(&r->cond, &r->lock);
    e = r->head;
    if (e) {
        r->head = e->next;
        r->n--;
        if (!r->head)
            r->tail = &r->head;
    }
    pthread_mutex_unlock(&r->lock);
    return e;
}

static bool must_end(struct kube_recorder *r, int64_t *until_ms)
{
    bool stop;

    pthread_mutex_lock(&r->lock);
    stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    if (stop && *until_ms == 0)
        *until_ms = clock_mono_ms() + DRAIN_MS;
    return stop && clock_mono_ms() > *until_ms;
}

static void *recorder_main(void *arg)
{
    struct kube_recorder *r = arg;
    int64_t until_ms = 0;
    struct entry *e;

    while ((e = take(r))) {
        if (!must_end(r, &until_ms))
            write_event(r, e);
        entry_free(e);
    }
    return NULL;
}

/* ---- the outside -------------------------------------------------------------------------------------------------- */

struct kube_recorder *kube_recorder_new(struct kube *k, struct str component)
{
    struct kube_recorder *r = xcalloc(1, sizeof(*r));
    sigset_t all, old;

    r->k = kube_ref(k);
    r->component = str_dup(component);
    r->tail = &r->head;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->cond, NULL);
    if (gethostname(r->host, sizeof(r->host) - 1) < 0)
        r->host[0] = '\0';
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&r->thread, NULL, recorder_main, r) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r;
}

void kube_recorder_free(struct kube_recorder *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->cond);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    forget(&r->written);
    forget(&r->similar);
    forget(&r->allowance);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->cond);
    kube_unref(r->k);
    free(r->component);
    free(r);
}

static struct entry *entry_new(struct value regarding, enum kube_event_severity severity, const char *reason,
                               const char *message)
{
    struct entry *e = xcalloc(1, sizeof(*e));
    struct kube_ref ref = kube_ref_of(regarding);
    size_t n = MIN(strlen(message), MESSAGE_MAX);

    while (n > 0 && n < strlen(message) && ((unsigned char)message[n] & 0xc0) == 0x80)
        n--;
    e->api_version = own(ref.api_version);
    e->kind = own(ref.kind);
    e->ns = own(ref.ns);
    e->name = own(ref.name);
    e->uid = own(kube_uid(regarding));
    e->resource_version = own(kube_resource_version(regarding));
    e->reason = own(str_sub(str_from(reason), 0, MIN(strlen(reason), REASON_MAX)));
    e->message = own(str_sub(str_from(message), 0, n));
    e->severity = severity;
    e->at = clock_wall();
    return e;
}

void kube_event(struct kube_recorder *r, struct value regarding, enum kube_event_severity severity,
                const char *reason, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *message = NULL;
    CLEANUP(entry_free) struct entry *e = NULL;
    va_list args;

    if (!r)
        return;
    va_start(args, fmt);
    if (vasprintf(&message, fmt, args) < 0)
        abort();
    va_end(args);
    e = entry_new(regarding, severity, reason, message);
    pthread_mutex_lock(&r->lock);
    if (r->n < KUBE_RECORDER_QUEUE_MAX && !r->stop) {
        r->n++;
        *r->tail = e;
        r->tail = &e->next;
        e = NULL;
        pthread_cond_signal(&r->cond);
    } else {
        r->dropped++;
    }
    pthread_mutex_unlock(&r->lock);
}

uint64_t kube_recorder_dropped(struct kube_recorder *r)
{
    uint64_t n;

    pthread_mutex_lock(&r->lock);
    n = r->dropped;
    pthread_mutex_unlock(&r->lock);
    return n;
}
