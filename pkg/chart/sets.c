/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/sets.h"

#include <sched.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"

#define SETS_MAX 8 /* parsed template sets that a chart keeps */
/* Bytes of templates from which on a second thread saves more than it costs. */
#define THREAD_MIN ((size_t)128 * KIB)

struct set_loader {
    struct chart *chart;
    const struct template_list *list;
    struct buf key;
    const struct tpl_set *set; /* NULL: not there yet */
    struct tpl_set *own;       /* NULL: the chart keeps it */

    /* What the threads share: each takes the next file. */
    atomic_size_t next;
    struct tpl_file **files; /* by their place in the list */
    struct err **errs;
    const uint32_t *same_as; /* an earlier file with this text; the file itself: none */
    struct arena *arena;     /* of the thread */
    cpu_set_t processors;    /* where it may run */
    pthread_t thread;
    bool runs;
};

/* ---- kept per shape of the tree ---- */

static void add_shape(struct buf *key, const struct chart_node *n)
{
    buf_addf(key, "%p " STR_FMT "(", (const void *)n->chart, STR_ARG(chart_node_name(n)));
    for (size_t i = 0; i < n->n_subs; i++)
        add_shape(key, n->subs[i]);
    buf_addc(key, ')');
}

static const struct tpl_set *find_set(struct chart *c, const char *key)
{
    const struct tpl_set *found = NULL;

    pthread_mutex_lock(&c->sets_lock);
    for (const struct chart_set *s = c->sets; s && !found; s = s->next)
        if (strcmp(s->key, key) == 0)
            found = s->set;
    pthread_mutex_unlock(&c->sets_lock);
    return found;
}

/* The chart owns the set from now on; false: it keeps enough of them already. */
static bool keep_set(struct chart *c, const char *key, struct tpl_set *set)
{
    bool room;

    pthread_mutex_lock(&c->sets_lock);
    room = c->n_sets < SETS_MAX;
    if (room) {
        struct chart_set *s = xcalloc(1, sizeof(*s));

        s->key = xstrdup(key);
        s->set = set;
        s->next = c->sets;
        c->sets = s;
        c->n_sets++;
    }
    pthread_mutex_unlock(&c->sets_lock);
    return room;
}

/* ---- files with one text ---- */

static struct str base_name(struct str path)
{
    size_t slash = str_rfind_char(path, '/');

    return slash == STR_NPOS ? path : str_sub(path, slash + 1, path.n);
}

/* A library that several subcharts bring along is parsed once. Not when the text may define a template with the path of a
 * file. */
static bool is_same(const struct template_file *a, const struct template_file *b)
{
    struct str name = base_name(a->path);

    return a->text.n > 0 && str_eq(a->text, b->text) && str_eq(name, base_name(b->path)) &&
           !str_contains(a->text, name);
}

/* By length first: of the files of one length, each is compared with the one before it. */
static const uint32_t *find_same(const struct template_list *l)
{
    CLEANUP(map_done) struct map by_length = MAP_INIT;
    uint32_t *same_as = xreallocarray(NULL, l->n + 1, sizeof(*same_as));

    for (uint32_t i = 0; i < l->n; i++) {
        const struct template_file *f = &l->items[i];
        struct str length = { (const char *)&f->text.n, sizeof(f->text.n) };
        uintptr_t before = (uintptr_t)map_get(&by_length, length);

        same_as[i] = i;
        if (before > 0 && is_same(&l->items[before - 1], f))
            same_as[i] = (uint32_t)(before - 1);
        else
            map_put(&by_length, length, (void *)(uintptr_t)(i + 1));
    }
    return same_as;
}

/* ---- parsing ---- */

static void parse_some(struct set_loader *s, struct arena *a)
{
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->list->n;) {
        const struct template_file *f = &s->list->items[i];

        if (s->same_as[i] == i && tpl_file_parse(a, f->path, f->text, &s->files[i], &s->errs[i]) < 0)
            atomic_store(&s->next, s->list->n); /* all before it are taken */
    }
}

static void *thread_main(void *p)
{
    struct set_loader *s = p;

    pthread_setaffinity_np(pthread_self(), sizeof(s->processors), &s->processors);
    parse_some(s, s->arena);
    return NULL;
}

/* Linux may leave a new thread on the processor of the old one until the next tick, which is longer than all of this takes. So it
 * starts on another one, and is free from then on. False: there is no other, or no thread. */
static bool start_thread(struct set_loader *s)
{
    int here = sched_getcpu();
    cpu_set_t others;
    pthread_attr_t attr;
    bool ok;

    if (here < 0 || sched_getaffinity(0, sizeof(s->processors), &s->processors) < 0)
        return false;
    others = s->processors;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || pthread_attr_init(&attr) != 0)
        return false;
    ok = pthread_attr_setaffinity_np(&attr, sizeof(others), &others) == 0 &&
         pthread_create(&s->thread, &attr, thread_main, s) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

static void start(struct set_loader *s)
{
    size_t n = s->list->n, bytes = 0;

    s->files = xcalloc(n + 1, sizeof(*s->files));
    s->errs = xcalloc(n + 1, sizeof(*s->errs));
    s->same_as = find_same(s->list);
    for (size_t i = 0; i < n; i++)
        if (s->same_as[i] == i)
            bytes += s->list->items[i].text.n;
    if (bytes < THREAD_MIN)
        return;
    s->arena = arena_new(TEMPLATE_MEMORY_MAX);
    s->runs = start_thread(s);
}

static void join(struct set_loader *s)
{
    if (s->runs)
        pthread_join(s->thread, NULL);
    s->runs = false;
}

static NODISCARD int add_files(struct set_loader *s, struct tpl_set *set, struct err **err)
{
    for (size_t i = 0; i < s->list->n; i++) {
        size_t same = s->same_as[i];

        if (s->errs[i]) {
            int r = -(int)err_code(s->errs[i]);

            if (err)
                *err = TAKE(s->errs[i]);
            return r;
        }
        if (same != i)
            s->files[i] = tpl_file_again(tpl_set_arena(set), s->files[same], s->list->items[i].path);
        tpl_set_add_file(set, s->files[i]);
    }
    return 0;
}

/* ---- the loader ---- */

struct set_loader *chart_set_loader_new(struct chart *c, const struct chart_node *root,
                                        const struct template_list *l)
{
    struct set_loader *s = xcalloc(1, sizeof(*s));

    s->chart = c;
    s->list = l;
    s->key = BUF_INIT(16 * MIB);
    add_shape(&s->key, root);
    s->set = find_set(c, buf_z(&s->key));
    if (!s->set)
        start(s);
    return s;
}

void chart_set_loader_free(struct set_loader *s)
{
    if (!s)
        return;
    if (!s->set)
        atomic_store(&s->next, s->list->n);
    join(s);
    for (size_t i = 0; s->errs && i < s->list->n; i++)
        err_free(s->errs[i]);
    tpl_set_free(s->own);
    arena_free(s->arena);
    buf_done(&s->key);
    free(s->files);
    free(s->errs);
    free((void *)(uintptr_t)s->same_as);
    free(s);
}

int chart_set_loader_get(struct set_loader *s, const struct tpl_set **ret, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = NULL;
    int r;

    if (!s->set) {
        set = tpl_set_new();
        parse_some(s, tpl_set_arena(set));
        join(s);
        if (s->arena)
            tpl_set_keep(set, TAKE(s->arena));
        r = add_files(s, set, err);
        if (r < 0)
            return r;
        s->set = set;
        if (keep_set(s->chart, buf_z(&s->key), set))
            TAKE(set);
        else
            s->own = TAKE(set);
    }
    *ret = s->set;
    return 0;
}
