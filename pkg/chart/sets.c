/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/sets.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "chart/parsing.h"

#define SETS_MAX 8 /* parsed template sets that a chart keeps */

struct set_loader {
    struct chart *chart;
    const struct template_list *list;
    struct buf key;
    const struct tpl_set *set; /* NULL: not there yet */
    struct tpl_set *own;       /* NULL: the chart keeps it */

    struct parsing *parsing; /* NULL: the set was there already, as are those below */
    size_t *numbers;         /* of each template in it */
    const uint32_t *same_as; /* an earlier file with this text; the file itself: none */
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

/* The folder in charts/ that a file is in: "redis" of "charts/redis/templates/a.yaml". */
static struct str folder_of(struct str name)
{
    struct str rest = str_trim_prefix(name, STR("charts/"));
    size_t slash = rest.n < name.n ? str_find_char(rest, '/') : STR_NPOS;

    return slash == STR_NPOS ? STR("") : str_sub(rest, 0, slash);
}

/* Tags hardly ever turn one off. Older charts list their subcharts in requirements.yaml, which is not read yet. */
static bool is_likely_on(const struct metadata *m, struct str subchart)
{
    bool listed = false;

    for (size_t i = 0; i < m->n_dependencies; i++) {
        const struct metadata_dependency *d = &m->dependencies[i];

        if (!str_eq(d->name, subchart))
            continue;
        if (d->condition.n > 0 || d->alias.n > 0)
            return false;
        listed = true;
    }
    return listed;
}

/* A chart's own templates, and those of subcharts without a condition and under their own name. */
static bool is_likely_asked_for(const struct chart *c, struct str name)
{
    struct str folder = folder_of(name), rest;

    if (folder.n == 0)
        return str_has_prefix(name, STR("templates/"));
    rest = str_sub(name, STR("charts/").n + folder.n, name.n);
    return str_has_prefix(rest, STR("/templates/")) && is_likely_on(&c->metadata, folder);
}

void chart_parse_ahead(struct chart *c)
{
    size_t bytes = 0;

    c->ahead = chart_parsing_new();
    for (size_t i = 0; i < c->n_files; i++) {
        const struct chart_file *f = &c->files[i];

        if (!is_likely_asked_for(c, f->name))
            continue;
        chart_parsing_add(
            c->ahead,
            arena_printf(c->storage->arena, STR_FMT "/" STR_FMT, STR_ARG(c->metadata.name), STR_ARG(f->name)),
            f->data);
        bytes += f->data.n;
    }
    chart_parsing_start(c->ahead, bytes);
}

static struct parsing *take_ahead(struct chart *c)
{
    struct parsing *p;

    pthread_mutex_lock(&c->sets_lock);
    p = TAKE(c->ahead);
    pthread_mutex_unlock(&c->sets_lock);
    return p;
}

static void start(struct set_loader *s)
{
    size_t bytes = 0;

    s->parsing = take_ahead(s->chart);
    if (!s->parsing)
        s->parsing = chart_parsing_new();
    s->same_as = find_same(s->list);
    s->numbers = xcalloc(s->list->n + 1, sizeof(*s->numbers));
    for (size_t i = 0; i < s->list->n; i++) {
        const struct template_file *f = &s->list->items[i];

        if (s->same_as[i] != i)
            continue;
        s->numbers[i] = chart_parsing_add(s->parsing, f->path, f->text);
        bytes += f->text.n;
    }
    chart_parsing_start(s->parsing, bytes);
}

static NODISCARD int add_files(struct set_loader *s, struct tpl_set *set, struct err **err)
{
    CLEANUP(free_ptr) struct tpl_file **files = xcalloc(s->list->n + 1, sizeof(*files));

    for (size_t i = 0; i < s->list->n; i++) {
        size_t same = s->same_as[i];
        int r = 0;

        if (same == i)
            r = chart_parsing_get(s->parsing, s->numbers[i], &files[i], err);
        else
            files[i] = tpl_file_again(tpl_set_arena(set), files[same], s->list->items[i].path);
        if (r < 0)
            return r;
        tpl_set_add_file(set, files[i]);
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
    chart_parsing_free(s->parsing);
    tpl_set_free(s->own);
    buf_done(&s->key);
    free(s->numbers);
    free((void *)(uintptr_t)s->same_as);
    free(s);
}

int chart_set_loader_get(struct set_loader *s, const struct tpl_set **ret, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = NULL;
    struct arena *theirs;
    int r;

    if (!s->set) {
        set = tpl_set_new();
        chart_parsing_finish(s->parsing, tpl_set_arena(set));
        theirs = chart_parsing_take_arena(s->parsing);
        if (theirs)
            tpl_set_keep(set, theirs);
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
