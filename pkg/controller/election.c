/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election by a Lease, as k8s.io/client-go/tools/leaderelection: other holders' times are never compared with our
 * clock, only when we saw their record change. Ours ends, for us, lease_ms after the last write that was answered was
 * sent: so nobody else can hold it while we believe we do. */
#include <unistd.h>

#include "base/random.h"
#include "controller/controller_int.h"

#define LOG_MODULE "controller"
#include "base/log.h"

#define JITTER 1.2
#define MOMENT_MS 300

struct election {
    struct kube *kube;
    struct arena *memory;
    struct election_options o;
    pthread_mutex_t lock; /* of until_ms, busy, stop */
    int64_t until_ms;
    char *holder; /* as last seen, for the log */
    bool busy, cancelled;
    char *seen_version; /* resourceVersion of the record when it last changed */
    int64_t seen_ms, seen_lease_ms;
    struct doc *lease; /* our last record */
};

static struct str identity(struct arena *a, struct str wanted)
{
    char host[256] = "", uuid[37];

    if (wanted.n > 0)
        return arena_dup(a, wanted);
    IGNORE_ERROR(gethostname(host, sizeof(host) - 1));
    random_uuid(uuid);
    return arena_printf(a, "%s_%s", host, uuid);
}

int election_new(struct kube *k, const struct election_options *o, struct election **ret, struct err **err)
{
    struct election *e = xcalloc(1, sizeof(*e));
    int r = kube_new_like(k, &e->kube, err);

    if (r < 0) {
        free(e);
        return r;
    }
    e->memory = arena_new(64 * KIB);
    e->o = *o;
    e->o.ns = arena_dup(e->memory, o->ns);
    e->o.name = arena_dup(e->memory, o->name);
    e->o.identity = identity(e->memory, o->identity);
    e->holder = xstrdup("");
    e->seen_version = xstrdup("");
    pthread_mutex_init(&e->lock, NULL);
    *ret = e;
    return 0;
}

void election_free(struct election *e)
{
    if (!e)
        return;
    kube_unref(e->kube);
    doc_unref(e->lease);
    free(e->holder);
    free(e->seen_version);
    arena_free(e->memory);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

int64_t election_until_ms(const struct election *e)
{
    struct election *w = (struct election *)(uintptr_t)e;
    int64_t until;

    pthread_mutex_lock(&w->lock);
    until = w->until_ms;
    pthread_mutex_unlock(&w->lock);
    return until;
}

int64_t election_pause_ms(const struct election *e)
{
    return e->o.retry_ms + (int64_t)(random_unit() * JITTER * (double)e->o.retry_ms);
}

static void set_until(struct election *e, int64_t until_ms)
{
    pthread_mutex_lock(&e->lock);
    e->until_ms = until_ms;
    pthread_mutex_unlock(&e->lock);
}

static struct value micro_now(struct arena *a)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339_micro(clock_wall(), &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

static struct value new_lease(struct election *e, struct arena *a)
{
    struct value v = value_new_map(a);

    value_setz(v, "apiVersion", VALUE_STR("coordination.k8s.io/v1"));
    value_setz(v, "kind", VALUE_STR("Lease"));
    value_set_path(v, "metadata.name", value_from_str(e->o.name));
    value_set_path(v, "metadata.namespace", value_from_str(e->o.ns));
    return v;
}

/* Our record: a new holder counts one transition more. */
static void claim(struct election *e, struct arena *a, struct value lease)
{
    struct value spec = value_getz(lease, "spec");
    bool mine = str_eq(value_str(value_getz(spec, "holderIdentity")), e->o.identity);
    int64_t transitions = value_int(value_getz(spec, "leaseTransitions"), 0);
    struct value now = micro_now(a);

    if (!mine) {
        value_set_path(lease, "spec.acquireTime", now);
        value_set_path(lease, "spec.leaseTransitions",
                       value_from_int(value_is_map(spec) ? transitions + 1 : 0));
    }
    value_set_path(lease, "spec.holderIdentity", value_from_str(e->o.identity));
    value_set_path(lease, "spec.leaseDurationSeconds", value_from_int((e->o.lease_ms + 999) / 1000));
    value_set_path(lease, "spec.renewTime", now);
}

static void note_holder(struct election *e, struct str holder)
{
    if (str_eq(str_from(e->holder), holder))
        return;
    log_info("leader", LOG_STR("holder", holder), LOG_BOOL("me", str_eq(holder, e->o.identity)));
    free(e->holder);
    e->holder = str_dup(holder);
}

static bool write_lease(struct election *e, struct arena *a, enum kube_verb verb, struct value lease)
{
    struct kube_request rq = {
        .verb = verb, .object = lease, .deadline_ms = e->o.retry_ms, .no_retry = true
    };
    CLEANUP(err_free) struct err *err = NULL;
    int64_t sent_ms = clock_mono_ms();
    struct value stored;

    if (kube_do(e->kube, a, &rq, &stored, &err) < 0) {
        log_debug("lease not written", LOG_ERR(err));
        doc_unref(e->lease);
        e->lease = NULL;
        return false;
    }
    doc_unref(e->lease);
    e->lease = doc_freeze(stored);
    set_until(e, sent_ms + e->o.lease_ms);
    note_holder(e, e->o.identity);
    return true;
}

/* Is the record somebody else's, who renewed it lately as far as we could see? */
static bool is_held(struct election *e, struct value lease)
{
    struct str holder = value_str(value_path(lease, "spec.holderIdentity")),
               version = kube_resource_version(lease);

    if (!str_eq(version, str_from(e->seen_version))) {
        free(e->seen_version);
        e->seen_version = str_dup(version);
        e->seen_ms = clock_mono_ms();
        e->seen_lease_ms = 1000 * value_int(value_path(lease, "spec.leaseDurationSeconds"), 15);
    }
    note_holder(e, holder);
    return holder.n > 0 && !str_eq(holder, e->o.identity) && clock_mono_ms() < e->seen_ms + e->seen_lease_ms;
}

static bool read_and_write(struct election *e, struct arena *a)
{
    struct kube_request rq = { .verb = KUBE_GET,
                               .deadline_ms = e->o.renew_ms / 2,
                               .no_retry = true,
                               .ref = { STR("coordination.k8s.io/v1"), STR("Lease"), e->o.ns, e->o.name } };
    CLEANUP(err_free) struct err *err = NULL;
    struct value lease;
    int r = kube_do(e->kube, a, &rq, &lease, &err);

    if (r == -ERRC_NOT_FOUND) {
        lease = new_lease(e, a);
        claim(e, a, lease);
        return write_lease(e, a, KUBE_CREATE, lease);
    }
    if (r < 0) {
        log_debug("lease not read", LOG_ERR(err));
        return false;
    }
    if (is_held(e, lease)) {
        set_until(e, 0);
        return false;
    }
    claim(e, a, lease);
    return write_lease(e, a, KUBE_UPDATE, lease);
}

static void set_busy(struct election *e, bool busy)
{
    pthread_mutex_lock(&e->lock);
    e->busy = busy;
    pthread_mutex_unlock(&e->lock);
}

static bool is_busy(struct election *e)
{
    bool busy;

    pthread_mutex_lock(&e->lock);
    busy = e->busy;
    pthread_mutex_unlock(&e->lock);
    return busy;
}

void election_stop(struct election *e)
{
    for (int i = 0; i < MOMENT_MS / 10 && is_busy(e); i++)
        usleep(10000);
    if (is_busy(e)) {
        e->cancelled = true;
        kube_cancel(e->kube);
    }
}

static bool try_once(struct election *e)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value lease;

    if (e->lease) { /* it was ours: most likely nobody touched it */
        lease = value_copy(a, doc_root(e->lease), NULL);
        claim(e, a, lease);
        if (write_lease(e, a, KUBE_UPDATE, lease))
            return true;
    }
    return read_and_write(e, a);
}

bool election_try(struct election *e)
{
    bool ours;

    set_busy(e, true);
    ours = try_once(e);
    set_busy(e, false);
    return ours;
}

void election_release(struct election *e)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value lease;

    if (!e->lease || e->cancelled || election_until_ms(e) <= clock_mono_ms())
        return;
    lease = value_copy(a, doc_root(e->lease), NULL);
    value_set_path(lease, "spec.holderIdentity", VALUE_STR(""));
    value_set_path(lease, "spec.leaseDurationSeconds", value_from_int(1));
    value_set_path(lease, "spec.renewTime", micro_now(a));
    value_set_path(lease, "spec.acquireTime", micro_now(a));
    e->o.retry_ms = MOMENT_MS; /* a quick stop waits no longer */
    IGNORE_ERROR(write_lease(e, a, KUBE_UPDATE, lease) ? 0 : -1);
    set_until(e, 0);
}
