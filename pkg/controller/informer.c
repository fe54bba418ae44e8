/* SPDX-License-Identifier: Apache-2.0 */
/* Informers: what is remembered of watched objects, and whom their changes wake. */
#include <signal.h>

#include "controller/controller_int.h"

#define LOG_MODULE "controller"
#include "base/log.h"

/* Values are compared by recursion up to VALUE_DEPTH_MAX; pages that are not touched cost nothing. */
#define STACK_BYTES (4 * MIB)

struct entry {
    char *ns, *name, *uid, *resource_version; /* one block, ns is its beginning */
    int64_t generation;
    uint64_t digest;
    struct doc *kept;
    struct str *index;
    size_t n_index;
    unsigned round;
};

struct posting {
    struct entry **items;
    size_t n, cap;
};

/* ---- notes -------------------------------------------------------------------------------------------------------- */

void controller_note_index(struct controller_note *n, struct str key)
{
    for (size_t i = 0; i < n->n_index; i++) {
        if (str_eq(n->index[i], key))
            return;
    }
    ARRAY_GROW(n->index, n->cap_index, n->n_index + 1);
    n->index[n->n_index++] = (struct str){ str_dup(key), key.n };
}

void controller_note_keep(struct controller_note *n, struct value v)
{
    doc_unref(n->kept);
    n->kept = doc_freeze(v);
}

static void index_free(struct str *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((char *)(uintptr_t)index[i].p);
    free(index);
}

static void note_done(struct controller_note *n)
{
    index_free(n->index, n->n_index);
    doc_unref(n->kept);
    *n = (struct controller_note){ 0 };
}
DEFINE_CLEANUP_VALUE(struct controller_note, note_done)

/* ---- digests ------------------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdULL;
}

static uint64_t digest_any(struct value v, int depth);

static uint64_t digest_map(struct value v, int depth, const char *const *skip, size_t n_skip)
{
    uint64_t h = 7;

    for (size_t i = 0; i < value_len(v); i++) {
        const struct value_entry *e = value_entry_at(v, i);
        bool skipped = false;

        for (size_t k = 0; k < n_skip; k++)
            skipped = skipped || str_eq(e->key, str_from(skip[k]));
        if (!skipped)
            h = mix(mix(h, str_hash(e->key)), digest_any(e->v, depth + 1));
    }
    return h;
}

static uint64_t digest_any(struct value v, int depth)
{
    uint64_t h = mix(1, v.kind);

    if (depth > VALUE_DEPTH_MAX)
        return h;
    switch ((enum value_kind)v.kind) {
    case VALUE_MAP:
        return digest_map(v, depth, NULL, 0);
    case VALUE_LIST:
        for (size_t i = 0; i < value_len(v); i++)
            h = mix(h, digest_any(value_at(v, i), depth + 1));
        return h;
    case VALUE_STRING:
    case VALUE_BYTES:
        return mix(h, str_hash(value_str(v)));
    case VALUE_BOOL:
        return mix(h, v.b);
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_FLOAT:
        return mix(h, v.u);
    default:
        return h;
    }
}

/* Without status, managedFields, resourceVersion. */
static uint64_t spec_digest(struct value object)
{
    static const char *const top[] = { "status", "metadata" };
    static const char *const meta[] = { "managedFields", "resourceVersion" };

    return mix(digest_map(object, 0, top, ARRAY_SIZE(top)),
               digest_map(value_getz(object, "metadata"), 1, meta, ARRAY_SIZE(meta)));
}

/* ---- the store; all under the lock -------------------------------------------------------------------------------- */

static void store_key(struct str ns, struct str name, struct buf *out)
{
    if (ns.n > 0) {
        buf_addstr(out, ns);
        buf_addc(out, '/');
    }
    buf_addstr(out, name);
}

static void index_add(struct informer *i, struct entry *e)
{
    for (size_t k = 0; k < e->n_index; k++) {
        struct posting *p = map_get(&i->index, e->index[k]);

        if (!p) {
            p = xcalloc(1, sizeof(*p));
            map_put(&i->index, e->index[k], p);
        }
        ARRAY_GROW(p->items, p->cap, p->n + 1);
        p->items[p->n++] = e;
    }
}

static void index_remove(struct informer *i, struct entry *e)
{
    for (size_t k = 0; k < e->n_index; k++) {
        struct posting *p = map_get(&i->index, e->index[k]);

        for (size_t j = 0; p && j < p->n; j++) {
            if (p->items[j] == e)
                p->items[j--] = p->items[--p->n];
        }
        if (p && p->n == 0) {
            map_remove(&i->index, e->index[k]);
            free(p->items);
            free(p);
        }
    }
}

static void entry_free(struct entry *e)
{
    free(e->ns);
    index_free(e->index, e->n_index);
    doc_unref(e->kept);
    free(e);
}

static void entry_set_identity(struct entry *e, struct value object)
{
    const struct str parts[] = { kube_namespace(object), kube_name(object), kube_uid(object),
                                 kube_resource_version(object) };
    char **const members[] = { &e->ns, &e->name, &e->uid, &e->resource_version };
    char *old = e->ns, *p;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        n += parts[i].n + 1;
    p = xmalloc(n);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        *members[i] = p;
        if (parts[i].n > 0)
            memcpy(p, parts[i].p, parts[i].n);
        p[parts[i].n] = '\0';
        p += parts[i].n + 1;
    }
    free(old);
    e->generation = kube_generation(object);
}

/* What an event did to the store. */
struct change {
    bool added, same_spec;
    struct doc *kept, *before; /* references */
};

static void store_put(struct informer *i, struct value object, struct controller_note *note,
                      struct change *ret)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(4 * KIB);
    uint64_t digest = spec_digest(object);
    struct entry *e;

    store_key(kube_namespace(object), kube_name(object), &key);
    e = map_get(&i->entries, buf_str(&key));
    ret->added = !e;
    if (!e) {
        e = xcalloc(1, sizeof(*e));
        map_put(&i->entries, buf_str(&key), e);
    } else {
        index_remove(i, e);
        index_free(e->index, e->n_index);
    }
    ret->same_spec = !ret->added && e->digest == digest;
    entry_set_identity(e, object);
    e->digest = digest;
    e->round = i->round;
    ret->before = TAKE(e->kept);
    e->kept = TAKE(note->kept);
    e->index = TAKE(note->index);
    e->n_index = note->n_index;
    note->n_index = 0;
    index_add(i, e);
    ret->kept = e->kept ? doc_ref(e->kept) : NULL;
}

static struct doc *store_drop(struct informer *i, struct str ns, struct str name, bool *ret_was)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(4 * KIB);
    struct doc *kept;
    struct entry *e;

    store_key(ns, name, &key);
    e = map_remove(&i->entries, buf_str(&key));
    *ret_was = e != NULL;
    if (!e)
        return NULL;
    index_remove(i, e);
    kept = TAKE(e->kept);
    entry_free(e);
    return kept;
}

/* ---- waking ------------------------------------------------------------------------------------------------------- */

void controller_wake_add(struct controller_wake *w, struct controller_key key)
{
    controller_wake_kind(w->c, w->kind, key, w->low);
}

static void notify(struct informer *i, const struct controller_event *e, bool same_spec)
{
    size_t n;

    pthread_mutex_lock(&i->lock);
    n = i->n_subscribers;
    pthread_mutex_unlock(&i->lock);
    for (size_t k = 0; k < n; k++) {
        struct subscriber s;
        struct controller_wake w;

        pthread_mutex_lock(&i->lock);
        n = i->n_subscribers;
        s = k < n ? i->subscribers[k] : (struct subscriber){ 0 };
        pthread_mutex_unlock(&i->lock);
        if (k >= n)
            return;
        if (same_spec && s.ignore_status && e->type != KUBE_DELETED)
            continue;
        w = (struct controller_wake){ i->c, s.kind, e->initial };
        if (s.map)
            s.map(s.ctx, e, &w);
        else
            controller_wake_add(&w,
                                (struct controller_key){ kube_namespace(e->object), kube_name(e->object) });
    }
}

static void put(struct informer *i, struct value object, enum kube_event_type type, bool initial)
{
    CLEANUP(note_done) struct controller_note note = { 0 };
    CLEANUP(doc_unref) struct doc *kept = NULL, *before = NULL;
    struct controller_event e = { .type = type, .object = object, .initial = initial };
    struct change change = { 0 };

    if (kube_name(object).n == 0)
        return;
    if (i->w.extract)
        i->w.extract(i->w.ctx, object, &note);
    pthread_mutex_lock(&i->lock);
    store_put(i, object, &note, &change);
    pthread_mutex_unlock(&i->lock);
    kept = change.kept;
    before = change.before;
    e.type = change.added ? KUBE_ADDED : KUBE_MODIFIED;
    e.kept = doc_root(kept);
    e.before = doc_root(before);
    notify(i, &e, change.same_spec);
}

static void drop(struct informer *i, struct value object)
{
    CLEANUP(doc_unref) struct doc *before = NULL;
    struct controller_event e = { .type = KUBE_DELETED, .object = object };
    bool was;

    pthread_mutex_lock(&i->lock);
    before = store_drop(i, kube_namespace(object), kube_name(object), &was);
    pthread_mutex_unlock(&i->lock);
    e.before = doc_root(before);
    if (was)
        notify(i, &e, false);
}

/* ---- what the reflector says -------------------------------------------------------------------------------------- */

static void on_list_begin(void *ctx)
{
    struct informer *i = ctx;

    pthread_mutex_lock(&i->lock);
    i->round++;
    pthread_mutex_unlock(&i->lock);
}

/* An object of a list that we know in this very version says nothing new. */
static bool is_known(struct informer *i, struct value object)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(4 * KIB);
    struct entry *e;
    bool known;

    store_key(kube_namespace(object), kube_name(object), &key);
    pthread_mutex_lock(&i->lock);
    e = map_get(&i->entries, buf_str(&key));
    known = e && str_eq(str_from(e->resource_version), kube_resource_version(object)) &&
            str_eq(str_from(e->uid), kube_uid(object));
    if (known)
        e->round = i->round;
    pthread_mutex_unlock(&i->lock);
    return known;
}

static void on_list_item(void *ctx, struct value object)
{
    struct informer *i = ctx;

    if (!is_known(i, object))
        put(i, object, KUBE_ADDED, !informer_is_synced(i));
}

static struct value tombstone(struct informer *i, struct arena *a, const struct entry *e)
{
    struct value v = value_new_map(a), meta = value_new_map(a);

    value_setz(v, "apiVersion", value_from_str(i->w.api_version));
    value_setz(v, "kind", value_from_str(i->w.kind));
    value_setz(meta, "name", value_from_str(arena_dup(a, str_from(e->name))));
    if (*e->ns)
        value_setz(meta, "namespace", value_from_str(arena_dup(a, str_from(e->ns))));
    value_setz(meta, "uid", value_from_str(arena_dup(a, str_from(e->uid))));
    value_setz(v, "metadata", meta);
    return v;
}

static void drop_vanished(struct informer *i)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct value_list gone = VALUE_LIST_INIT(a);
    void *p;

    pthread_mutex_lock(&i->lock);
    for (size_t k = 0; map_next(&i->entries, &k, NULL, &p);) {
        const struct entry *e = p;

        if (e->round != i->round)
            value_list_add(&gone, tombstone(i, a, e));
    }
    pthread_mutex_unlock(&i->lock);
    for (size_t k = 0; k < gone.n; k++)
        drop(i, gone.items[k]);
}

static void clear_trouble(struct informer *i)
{
    pthread_mutex_lock(&i->lock);
    free(i->trouble);
    i->trouble = NULL;
    pthread_mutex_unlock(&i->lock);
}

static void on_list_end(void *ctx, struct str resource_version)
{
    struct informer *i = ctx;
    bool first;

    UNUSED(resource_version);
    drop_vanished(i);
    clear_trouble(i);
    pthread_mutex_lock(&i->lock);
    first = !i->synced;
    i->synced = true;
    pthread_mutex_unlock(&i->lock);
    if (first)
        controller_synced(i->c);
}

static void on_event(void *ctx, enum kube_event_type type, struct value object)
{
    if (type == KUBE_DELETED)
        drop(ctx, object);
    else
        put(ctx, object, type, false);
}

/* The same trouble again is no news. */
static void on_trouble(void *ctx, const struct err *err)
{
    struct informer *i = ctx;
    bool news;

    pthread_mutex_lock(&i->lock);
    news = !i->trouble || strcmp(i->trouble, err_message(err)) != 0;
    free(i->trouble);
    i->trouble = xstrdup(err_message(err));
    pthread_mutex_unlock(&i->lock);
    if (news)
        log_warn("watch fails, trying again", LOG_Z("watch", i->w.name), LOG_ERR(err));
}

/* ---- life --------------------------------------------------------------------------------------------------------- */

struct informer *informer_new(struct controller *c, const struct controller_watch *w)
{
    struct informer *i = xcalloc(1, sizeof(*i));

    i->c = c;
    i->memory = arena_new(64 * KIB);
    i->w = *w;
    i->w.name = arena_dupz(i->memory, str_from(w->name));
    i->w.api_version = arena_dup(i->memory, w->api_version);
    i->w.kind = arena_dup(i->memory, w->kind);
    i->w.ns = arena_dup(i->memory, w->ns);
    i->w.label_selector = arena_dup(i->memory, w->label_selector);
    i->w.field_selector = arena_dup(i->memory, w->field_selector);
    pthread_mutex_init(&i->lock, NULL);
    return i;
}

bool informer_fits(const struct informer *i, const struct controller_watch *w)
{
    const struct controller_watch *o = &i->w;

    return str_eq(o->api_version, w->api_version) && str_eq(o->kind, w->kind) && str_eq(o->ns, w->ns) &&
           str_eq(o->label_selector, w->label_selector) && str_eq(o->field_selector, w->field_selector) &&
           o->metadata_only == w->metadata_only &&
           (!w->extract || (o->extract == w->extract && o->ctx == w->ctx));
}

/* One that comes late hears of what is known already. */
static void tell_all(struct informer *i, const struct subscriber *s)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct controller_wake w = { i->c, s->kind, true };
    size_t n;
    struct controller_object *all = controller_list(i->c, s->name, STR_NONE, a, &n);

    for (size_t k = 0; k < n; k++) {
        struct entry e = { .ns = str_dup(all[k].ns),
                           .name = str_dup(all[k].name),
                           .uid = str_dup(all[k].uid) };
        struct controller_event event = {
            .type = KUBE_ADDED, .object = tombstone(i, a, &e), .kept = all[k].kept, .initial = true
        };

        if (s->map)
            s->map(s->ctx, &event, &w);
        else
            controller_wake_add(&w, (struct controller_key){ all[k].ns, all[k].name });
        free(e.ns);
        free(e.name);
        free(e.uid);
    }
}

void informer_subscribe(struct informer *i, unsigned kind, const struct controller_watch *w)
{
    struct subscriber s = { xstrdup(w->name), kind, w->ignore_status, w->map, w->ctx };
    bool late;

    pthread_mutex_lock(&i->lock);
    ARRAY_GROW(i->subscribers, i->cap_subscribers, i->n_subscribers + 1);
    i->subscribers[i->n_subscribers++] = s;
    late = i->started;
    pthread_mutex_unlock(&i->lock);
    if (late)
        tell_all(i, &s);
}

void informer_unsubscribe(struct informer *i, const char *name)
{
    pthread_mutex_lock(&i->lock);
    for (size_t k = 0; k < i->n_subscribers; k++) {
        if (strcmp(i->subscribers[k].name, name) != 0)
            continue;
        free(i->subscribers[k].name);
        i->subscribers[k] = i->subscribers[--i->n_subscribers];
        break;
    }
    pthread_mutex_unlock(&i->lock);
}

static void *informer_main(void *arg)
{
    struct informer *i = arg;

    kube_reflector_run(i->reflector);
    return NULL;
}

void informer_start(struct informer *i)
{
    struct kube_reflector_options o = {
        .ref = { .api_version = i->w.api_version, .kind = i->w.kind, .ns = i->w.ns },
        .label_selector = i->w.label_selector,
        .field_selector = i->w.field_selector,
        .metadata_only = i->w.metadata_only
    };
    struct kube_reflector_sink sink = { i, on_list_begin, on_list_item, on_list_end, on_event, on_trouble };
    pthread_attr_t attr;
    sigset_t all, old;

    i->reflector = kube_reflector_new(i->c->kube, &o, &sink);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&i->thread, &attr, informer_main, i) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    pthread_mutex_lock(&i->lock);
    i->started = true;
    pthread_mutex_unlock(&i->lock);
}

void informer_stop(struct informer *i)
{
    if (i->reflector)
        kube_reflector_stop(i->reflector);
}

void informer_join(struct informer *i)
{
    if (i->started)
        pthread_join(i->thread, NULL);
    i->started = false;
}

void informer_free(struct informer *i)
{
    void *p;

    kube_reflector_free(i->reflector);
    for (size_t k = 0; map_next(&i->entries, &k, NULL, &p);)
        entry_free(p);
    map_done(&i->entries);
    for (size_t k = 0; map_next(&i->index, &k, NULL, &p);) {
        free(((struct posting *)p)->items);
        free(p);
    }
    map_done(&i->index);
    for (size_t k = 0; k < i->n_subscribers; k++)
        free(i->subscribers[k].name);
    free(i->subscribers);
    free(i->trouble);
    arena_free(i->memory);
    pthread_mutex_destroy(&i->lock);
    free(i);
}

bool informer_is_synced(struct informer *i)
{
    bool synced;

    pthread_mutex_lock(&i->lock);
    synced = i->synced;
    pthread_mutex_unlock(&i->lock);
    return synced;
}

size_t informer_n(struct informer *i)
{
    size_t n;

    pthread_mutex_lock(&i->lock);
    n = map_n(&i->entries);
    pthread_mutex_unlock(&i->lock);
    return n;
}

/* ---- look-ups ----------------------------------------------------------------------------------------------------- */

static struct informer *by_name(struct controller *c, const char *watch)
{
    struct informer *i;

    pthread_mutex_lock(&c->lock);
    i = map_get(&c->by_name, str_from(watch));
    pthread_mutex_unlock(&c->lock);
    return i;
}

static void copy_out(const struct entry *e, struct arena *a, struct controller_object *ret)
{
    *ret = (struct controller_object){ .ns = arena_dup(a, str_from(e->ns)),
                                       .name = arena_dup(a, str_from(e->name)),
                                       .uid = arena_dup(a, str_from(e->uid)),
                                       .resource_version = arena_dup(a, str_from(e->resource_version)),
                                       .generation = e->generation,
                                       .kept = doc_root(e->kept) };
    if (e->kept)
        doc_keep(a, e->kept);
}

bool controller_find(struct controller *c, const char *watch, struct controller_key key, struct arena *a,
                     struct controller_object *ret)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KIB);
    struct informer *i = by_name(c, watch);
    struct entry *e;

    if (!i)
        return false;
    store_key(key.ns, key.name, &text);
    pthread_mutex_lock(&i->lock);
    e = map_get(&i->entries, buf_str(&text));
    if (e)
        copy_out(e, a, ret);
    pthread_mutex_unlock(&i->lock);
    return e != NULL;
}

static int cmp_object(const void *a, const void *b)
{
    const struct controller_object *x = a, *y = b;
    int c = str_cmp(x->ns, y->ns);

    return c != 0 ? c : str_cmp(x->name, y->name);
}

struct controller_object *controller_list(struct controller *c, const char *watch, struct str index_key,
                                          struct arena *a, size_t *ret_n)
{
    struct informer *i = by_name(c, watch);
    struct controller_object *all;
    struct posting *p;
    size_t n = 0;
    void *e;

    *ret_n = 0;
    if (!i)
        return NULL;
    pthread_mutex_lock(&i->lock);
    p = index_key.p ? map_get(&i->index, index_key) : NULL;
    all = ARENA_ARRAY(a, struct controller_object, index_key.p ? (p ? p->n : 0) : map_n(&i->entries));
    for (size_t k = 0; p && k < p->n; k++)
        copy_out(p->items[k], a, &all[n++]);
    for (size_t k = 0; !index_key.p && map_next(&i->entries, &k, NULL, &e);)
        copy_out(e, a, &all[n++]);
    pthread_mutex_unlock(&i->lock);
    if (n > 0)
        qsort(all, n, sizeof(*all), cmp_object);
    *ret_n = n;
    return all;
}

void controller_wake_index(struct controller_wake *w, const char *watch, struct str index_key)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    size_t n;
    struct controller_object *all = controller_list(w->c, watch, index_key.p ? index_key : STR(""), a, &n);

    for (size_t k = 0; k < n; k++)
        controller_wake_add(w, (struct controller_key){ all[k].ns, all[k].name });
}
