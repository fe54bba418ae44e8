/* SPDX-License-Identifier: Apache-2.0 */
/* index_lookup FOLDER REPOSITORY: what a look-up of a chart's version costs in a process that has the database open.
 * index_lookup FOLDER REPOSITORY dump: all that the database knows, a line for each version. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "registry/registry.h"
#include "json/json.h"

enum { ROUNDS = 20000 };

static int dump(struct registry_db *db, struct str repository, struct str *charts, size_t n, struct arena *a,
                struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(INDEX_TEXT_MAX);
        struct arena_mark mark = arena_mark(a);
        struct registry_version *v;
        size_t m;

        r = registry_versions(db, repository, charts[i], a, &v, &m, err);
        if (r == 0)
            r = registry_versions_load(db, repository, a, v, m, err);
        for (size_t k = 0; k < m && r == 0; k++) {
            buf_addf(&out, STR_FMT "\t" STR_FMT "\t", STR_ARG(charts[i]), STR_ARG(v[k].version));
            r = json_print(v[k].entry, 0, &out, err);
            buf_addc(&out, '\n');
        }
        fwrite(buf_str(&out).p, 1, out.n, stdout);
        arena_rewind(a, mark);
    }
    return r;
}

static int measure(struct registry_db *db, struct str repository, struct str *charts, size_t n,
                   struct arena *a, struct err **err)
{
    int64_t start = 0;
    int r = 0;

    for (int i = -(int)n; i < ROUNDS && r >= 0; i++) { /* the first look at each chart checks its digest */
        struct arena_mark mark = arena_mark(a);
        struct registry_version v;

        if (i == 0)
            start = clock_mono_ns();
        r = registry_find(db, repository, charts[(size_t)(i + (int)n) * 7919 % n], STR(""), a, &v, err);
        arena_rewind(a, mark);
    }
    printf("%.2f us\n", (double)(clock_mono_ns() - start) / 1e3 / ROUNDS);
    return r;
}

int main(int argc, char **argv)
{
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    CLEANUP(err_free) struct err *err = NULL;
    struct str *charts;
    size_t n = 0;
    int r;

    if (argc < 3)
        return 2;
    r = registry_db_open(argv[1], &db, &err);
    if (r == 0)
        r = registry_charts(db, str_from(argv[2]), a, &charts, &n, &err);
    if (r == 0 && n > 0)
        r = argc > 3 ? dump(db, str_from(argv[2]), charts, n, a, &err)
                     : measure(db, str_from(argv[2]), charts, n, a, &err);
    if (r < 0)
        fprintf(stderr, "%s\n", err_message(err));
    return r < 0 || n == 0;
}
