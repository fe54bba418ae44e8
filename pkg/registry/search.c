/* SPDX-License-Identifier: Apache-2.0 */
/* helm search repo (pkg/cmd/search/search.go, search_repo.go): a version's line, its score, and the order of what was found. */
#include <stdlib.h>

#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"

struct searching {
    const struct registry_query *query;
    struct registry_hits *hits;
    struct str repository;
    struct buf line;
    struct registry_version last; /* the line was made from; most versions of a chart have the same */
    bool has_last;
    int last_score; /* below 0: no match */
};

/* How many separators are in front of the match: name 0, repository and name 1, description 2, keywords 3. */
static int score_of(struct str line, ptrdiff_t at)
{
    int score = 0;

    for (size_t i = 0; i < line.n && (ptrdiff_t)i < at; i++)
        score += line.p[i] == '\v';
    return score;
}

static bool same_text(struct str a, struct str b)
{
    return a.p == b.p && a.n == b.n;
}

static int score(struct searching *s, const struct registry_version *v)
{
    ptrdiff_t at;

    if (!s->query->match)
        return 0;
    if (s->has_last && same_text(s->last.name, v->name) && same_text(s->last.description, v->description) &&
        same_text(s->last.keywords, v->keywords))
        return s->last_score;
    buf_clear(&s->line);
    buf_addf(&s->line, STR_FMT "\v" STR_FMT "/" STR_FMT "\v" STR_FMT "\v" STR_FMT, STR_ARG(v->name),
             STR_ARG(s->repository), STR_ARG(v->name), STR_ARG(v->description), STR_ARG(v->keywords));
    at = s->query->match(s->query->ctx, buf_str(&s->line));
    s->last = *v;
    s->has_last = true;
    s->last_score = at < 0 ? -1 : score_of(buf_str(&s->line), at);
    return s->last_score;
}

static void add_hit(struct searching *s, const struct registry_version *v, int points)
{
    struct registry_hits *h = s->hits;
    struct registry_hit *hit;

    if (h->n == h->cap) {
        size_t cap = h->cap * 2 + 64;

        h->items = arena_grow(h->arena, h->items, h->cap * sizeof(*h->items), cap * sizeof(*h->items));
        h->cap = cap;
    }
    hit = &h->items[h->n++];
    *hit = (struct registry_hit){
        .name = arena_printf(h->arena, STR_FMT "/" STR_FMT, STR_ARG(s->repository), STR_ARG(v->chart)),
        .version = arena_dup(h->arena, v->version),
        .app_version = arena_dup(h->arena, v->app_version),
        .description = arena_dup(h->arena, v->description),
        .score = points,
    };
}

static bool is_wanted(const struct registry_query *q, struct str version)
{
    struct semver v;

    return semver_parse(version, &v, NULL) == 0 && semver_constraint_check(q->constraint, &v);
}

/* Of a chart the best version alone, unless all are asked for: the lowest score, then the newest. */
static void search_chart(struct searching *s, const struct registry_version *versions, size_t n)
{
    const struct registry_version *best = NULL;
    int best_score = 0;

    s->has_last = false;
    for (size_t i = 0; i < n; i++) {
        int points;

        if (i + 1 < n && str_eq(versions[i].version, versions[i + 1].version))
            continue; /* of equal versions Helm keeps the last */
        points = score(s, &versions[i]);
        if (points < 0 || (best && points >= best_score) || !is_wanted(s->query, versions[i].version))
            continue;
        if (s->query->versions) {
            add_hit(s, &versions[i], points);
            continue;
        }
        best = &versions[i];
        best_score = points;
        if (points == 0)
            break;
    }
    if (best)
        add_hit(s, best, best_score);
}

int registry_search(struct registry_db *d, struct str repository, const struct registry_query *query,
                    struct registry_hits *hits, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct searching s = {
        .query = query, .hits = hits, .repository = repository, .line = BUF_INIT(INDEX_ENTRY_MAX)
    };
    struct str *charts;
    size_t n;
    int r = registry_charts(d, repository, a, &charts, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        struct arena_mark mark = arena_mark(a);
        struct registry_version *versions;
        size_t m;

        r = registry_versions(d, repository, charts[i], a, &versions, &m, err);
        if (r == 0)
            search_chart(&s, versions, m);
        arena_rewind(a, mark);
    }
    buf_done(&s.line);
    if (r == 0 && arena_failed(hits->arena))
        return err_set(err, ERRC_LIMIT, "more than %zu bytes were found", arena_limit(hits->arena));
    return r;
}

static int compare_hits(const void *x, const void *y)
{
    const struct registry_hit *a = x, *b = y;
    struct semver v, w;
    int c = a->score - b->score;

    if (c == 0)
        c = str_cmp(a->name, b->name);
    if (c == 0 && semver_parse(a->version, &v, NULL) == 0 && semver_parse(b->version, &w, NULL) == 0)
        c = semver_cmp(&w, &v);
    return c;
}

void registry_hits_sort(struct registry_hits *h)
{
    if (h->n > 1)
        qsort(h->items, h->n, sizeof(*h->items), compare_hits);
}
