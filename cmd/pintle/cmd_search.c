/* SPDX-License-Identifier: Apache-2.0 */
/* helm search repo (pkg/cmd/search_repo.go). */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "pintle/helm_output.h"
#include "pintle/helm_path.h"
#include "regex/regex.h"
#include "registry/registry.h"
#include "semver/semver.h"

static const struct cli_flag flags[] = {
    { "regexp", 'r', CLI_BOOL, NULL, NULL,
      "use regular expressions for searching repositories you have added", NULL },
    { "versions", 'l', CLI_BOOL, NULL, NULL,
      "show the long listing, with each version of each chart on its own line, for repositories you have "
      "added",
      NULL },
    { "devel", 0, CLI_BOOL, NULL, NULL,
      "use development versions (alpha, beta, and release candidate releases), too. Equivalent to version "
      "'>0.0.0-0'. If "
      "--version is set, this is ignored",
      NULL },
    { "version", 0, CLI_STRING, NULL, NULL,
      "search using semantic versioning constraints on repositories you have added", NULL },
    { "max-col-width", 0, CLI_INT, "50", NULL, "maximum column width for output table", NULL },
    { "fail-on-no-result", 0, CLI_BOOL, NULL, NULL, "search fails if no results are found", NULL },
    HELM_OUTPUT_FLAG,
    CLI_FLAGS_END,
};

/* ---- what is looked for ------------------------------------------------------------------------------------------------- */

struct literal {
    struct buf term, line;
};

/* Where the same field of the line begins as that of the offset in the line's small letters, which may take other bytes. */
static ptrdiff_t field_of(struct str line, struct str small, size_t at)
{
    size_t fields = 0, i = 0;

    for (size_t k = 0; k < at; k++)
        fields += small.p[k] == '\v';
    for (; fields > 0 && i < line.n; i++)
        fields -= line.p[i] == '\v';
    return (ptrdiff_t)i;
}

static ptrdiff_t match_literal(void *ctx, struct str line)
{
    struct literal *l = ctx;
    size_t at;

    buf_clear(&l->line);
    utf8_lower(line, &l->line);
    at = str_find(buf_str(&l->line), buf_str(&l->term));
    return at == STR_NPOS ? -1 : field_of(line, buf_str(&l->line), at);
}

static ptrdiff_t match_regexp(void *ctx, struct str line)
{
    CLEANUP(regex_finder_done) struct regex_finder f = regex_find_all(ctx, line);
    struct regex_span span;

    return regex_finder_next(&f, &span, 1) ? span.from : -1;
}

static void join_args(const struct cli *c, struct buf *out)
{
    for (size_t i = 0; i < c->n_args; i++)
        buf_addf(out, "%s%s", i ? " " : "", c->args[i]);
}

/* ---- where ------------------------------------------------------------------------------------------------------------------ */

struct place {
    struct arena *arena;
    const char *cache;
    struct registry_entry *entries;
    size_t n;
};

static int find_place(const struct cli *c, struct place *ret, struct err **err)
{
    const char *config = helm_path(c, HELM_REPOSITORY_CONFIG, ret->arena);
    int r = registry_entries_read(ret->arena, config, &ret->entries, &ret->n, err);

    ret->cache = helm_path(c, HELM_REPOSITORY_CACHE, ret->arena);
    if (r == 0 && ret->n == 0)
        return err_set(err, ERRC_NOT_FOUND, "no repositories configured");
    return r;
}

/* A repository whose index is not there, or is no index, is passed over with a warning. */
static int search_all(struct cli *c, const struct place *p, const char *folder,
                      const struct registry_query *query, struct registry_hits *hits, struct err **err)
{
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    int r = registry_db_open(folder, &db, err);

    for (size_t i = 0; i < p->n && r == 0; i++) {
        CLEANUP(err_free) struct err *cause = NULL;
        const struct registry_entry *e = &p->entries[i];

        r = registry_cache_open(db, p->cache, e->name, e->url, &cause);
        if (r == -ERRC_FORBIDDEN || r == -ERRC_IO)
            return r;
        if (r == 0) {
            r = registry_search(db, e->name, query, hits, err);
            continue;
        }
        fprintf(c->errout, "level=WARN msg=\"repo is corrupt or missing\" repo=" STR_FMT " error=\"%s\"\n",
                STR_ARG(e->name), err_message(cause));
        r = 0;
    }
    return r;
}

/* In the database beside helm's cache; where nothing may be written in one for this time. */
static int search(struct cli *c, const struct place *p, const struct registry_query *query,
                  struct registry_hits *hits, struct err **err)
{
    CLEANUP(free_ptr) char *dir = NULL;
    int r = search_all(c, p, p->cache, query, hits, NULL);

    if (r != -ERRC_FORBIDDEN && r != -ERRC_IO)
        return r < 0 ? err_set(err, (enum errc) - r, "%s", p->cache) : 0;
    hits->n = 0;
    r = fs_make_temp_dir("pintle-search", &dir, err);
    if (r == 0)
        r = search_all(c, p, dir, query, hits, err);
    if (dir)
        IGNORE_ERROR(fs_remove_tree(dir, NULL));
    return r;
}

/* ---- output -------------------------------------------------------------------------------------------------------------- */

static int print(struct cli *c, enum helm_format format, const struct registry_hits *hits, struct err **err)
{
    static const struct helm_column columns[] = {
        { "NAME", "name" },
        { "CHART VERSION", "version" },
        { "APP VERSION", "app_version" },
        { "DESCRIPTION", "description" },
    };
    struct str *cells = ARENA_ARRAY(hits->arena, struct str, hits->n * ARRAY_SIZE(columns)), *to = cells;
    struct helm_list list = { .columns = columns,
                              .n_columns = ARRAY_SIZE(columns),
                              .n_rows = hits->n,
                              .cells = cells,
                              .width_max = (size_t)MAX(cli_int(c, "max-col-width"), (int64_t)0) };

    if (hits->n == 0 && cli_bool(c, "fail-on-no-result"))
        return err_set(err, ERRC_NOT_FOUND, "no results found");
    if (hits->n == 0 && format == HELM_TABLE) {
        cli_printf(c, "No results found\n");
        return 0;
    }
    for (size_t i = 0; i < hits->n; i++) {
        *to++ = hits->items[i].name;
        *to++ = hits->items[i].version;
        *to++ = hits->items[i].app_version;
        *to++ = hits->items[i].description;
    }
    return helm_output_list(c, format, &list, err);
}

static int parse_constraint(struct cli *c, struct semver_constraint **ret, struct err **err)
{
    const char *version = cli_string(c, "version");
    int r;

    chart_flags_log_version(c, "original chart version", ">0.0.0");
    if (!version[0])
        version = cli_bool(c, "devel") ? ">0.0.0-0" : ">0.0.0";
    r = semver_constraint_parse(str_from(version), ret, err);
    return r < 0 ? err_wrap(err, r, "an invalid version/constraint format") : 0;
}

static int find_and_print(struct cli *c, enum helm_format format, const struct place *p,
                          const struct registry_query *query, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct registry_hits hits = { .arena = a };
    int r = search(c, p, query, &hits, err);

    if (r < 0)
        return r;
    registry_hits_sort(&hits);
    return print(c, format, &hits, err);
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new(8 * REPOSITORIES_FILE_MAX);
    CLEANUP(buf_done) struct buf term = BUF_INIT(64 * KIB);
    CLEANUP(regex_unref) struct regex *re = NULL;
    struct literal literal = { BUF_INIT(64 * KIB), BUF_INIT(INDEX_ENTRY_MAX) };
    struct registry_query query = { .versions = cli_bool(c, "versions") };
    struct place p = { .arena = a };
    enum helm_format format;
    int r = helm_output_format(c, &format, err);

    if (r == 0)
        r = find_place(c, &p, err);
    join_args(c, &term);
    if (r == 0 && c->n_args > 0 && cli_bool(c, "regexp")) {
        r = regex_compile(buf_str(&term), &re, err);
        query.match = match_regexp;
        query.ctx = re;
    } else if (c->n_args > 0) {
        utf8_lower(buf_str(&term), &literal.term);
        query.match = match_literal;
        query.ctx = &literal;
    }
    if (r == 0)
        r = parse_constraint(c, &constraint, err);
    query.constraint = constraint;
    if (r == 0)
        r = find_and_print(c, format, &p, &query, err);
    buf_done(&literal.term);
    buf_done(&literal.line);
    return r;
}

const struct cli_command cmd_search = {
    .name = "search",
    .brief = "search for a keyword in charts",
};
const struct cli_command cmd_search_repo = {
    .parent = "search",
    .name = "repo",
    .usage = "[keyword]",
    .brief = "search repositories for a keyword in charts",
    .help =
        "Search reads through all of the repositories configured on the system, and looks for matches in "
        "names, "
        "descriptions and keywords. It shows the latest stable versions of the charts found; with --devel "
        "pre-releases, too; with --version those that satisfy a constraint.",
    .args_max = -1,
    .flags = flags,
    .helm_log = true,
    .run = run,
};
