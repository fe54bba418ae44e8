/* SPDX-License-Identifier: Apache-2.0 */
/* What `template` writes: to standard output, or files below --output-dir. */
#include <errno.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/template_job.h"

static struct str trim_space(struct str s)
{
    uint32_t r;

    while (s.n > 0) {
        size_t width = utf8_decode(s, &r);

        if (!utf8_is_space(r))
            break;
        s = str_sub(s, width, s.n);
    }
    while (s.n > 0) {
        size_t at = s.n - 1;

        while (at > 0 && ((unsigned char)s.p[at] & 0xc0) == 0x80)
            at--;
        utf8_decode(str_sub(s, at, s.n), &r);
        if (!utf8_is_space(r))
            break;
        s.n = at;
    }
    return s;
}

/* filepath.Dir() */
static char *clean_dirname(const char *file)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(FS_PATH_MAX * 2);

    buf_addstr(&out, str_dirname(str_from(file)));
    for (size_t i = 1; i < out.n;) {
        bool doubled = out.p[i] == '/' && out.p[i - 1] == '/';

        if (doubled) {
            memmove(out.p + i, out.p + i + 1, out.n - i - 1);
            buf_truncate(&out, out.n - 1);
        } else {
            i++;
        }
    }
    return buf_take(&out);
}

/* ensureDirectoryForFile() */
static int make_folder(const char *path, struct err **err)
{
    struct stat st;

    if (stat(path, &st) < 0 && errno != ENOENT)
        return fs_path_error(err, "stat", path, errno);
    return fs_make_path(path, err);
}

/* One file of --output-dir; what this run has begun it goes on with, anything older is replaced. */
static int write_document(struct template_job *j, const char *dir, struct str path, struct str content,
                          bool append, struct err **err)
{
    CLEANUP(free_ptr) char *name = str_dup(path), *file = xasprintf("%s/%s", dir, name), *parent = NULL;
    FILE *f;
    int r;

    if (!fs_path_is_below(path))
        return err_set(err, ERRC_INVALID, STR_FMT ": not a path below the output folder", STR_ARG(path));
    parent = clean_dirname(file);
    r = make_folder(parent, err);
    if (r < 0)
        return r;
    f = fopen(file, append ? "ae" : "we");
    if (!f)
        return fs_path_error(err, "open", file, errno);
    fprintf(f, "---\n# Source: %s\n", name);
    fwrite(content.p ? content.p : "", 1, content.n, f);
    fputc('\n', f);
    if (fclose(f) != 0)
        return err_errno(err, errno, "write %s", file);
    map_put(&j->written, path, j);
    cli_printf(j->c, "wrote %s\n", file);
    return 0;
}

static bool is_shown(const struct cli *c, const struct chart_hook *h)
{
    return !(cli_bool(c, "skip-tests") && chart_hook_has_event(h, CHART_HOOK_TEST));
}

/* With --release-name the release's folder in it; owned. */
static char *manifest_folder(const struct template_job *j, const char *out)
{
    CLEANUP(free_ptr) char *release = str_dup(j->name);

    return cli_bool(j->c, "release-name") ? fs_join(out, release) : xstrdup(out);
}

static int write_hooks(struct template_job *j, const char *out, struct err **err)
{
    const struct chart_rendered *res = j->rendered;
    CLEANUP(free_ptr) char *dir = manifest_folder(j, out);
    int r = 0;

    for (size_t i = 0; i < res->n_hooks && r >= 0 && !cli_bool(j->c, "no-hooks"); i++) {
        const struct chart_hook *h = &res->hooks[i];
        CLEANUP(free_ptr) char *name = str_dup(h->path), *file = fs_join(dir, name);

        if (is_shown(j->c, h))
            r = write_document(j, dir, h->path, h->content, fs_exists(file), err);
    }
    return r;
}

static int write_files(struct template_job *j, const char *out, struct err **err)
{
    const struct chart_rendered *res = j->rendered;
    CLEANUP(free_ptr) char *dir = manifest_folder(j, out);
    int r;

    for (size_t i = 0; i < res->n_crds && cli_bool(j->c, "include-crds"); i++) {
        r = write_document(j, out, res->crds[i].path, res->crds[i].data,
                           map_has(&j->written, res->crds[i].path), err);
        if (r < 0)
            return r;
    }
    map_done(&j->written);
    j->written = MAP_INIT;
    for (size_t i = 0; i < res->n_manifests; i++) {
        const struct chart_manifest *m = &res->manifests[i];

        r = write_document(j, dir, m->path, m->content, map_has(&j->written, m->path), err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void print_hook(struct buf *out, const struct chart_hook *h)
{
    buf_adds(out, "---\n# Source: ");
    buf_addstr(out, h->path);
    buf_addc(out, '\n');
    buf_addstr(out, h->content);
    buf_addc(out, '\n');
}

/* What the expression "# Source: [^/]+/(.+)" finds first. */
static bool source_of(struct str doc, struct str *ret)
{
    static const struct str mark = STR("# Source: ");

    for (size_t at; (at = str_find(doc, mark)) != STR_NPOS;) {
        struct str rest = str_sub(doc, at + mark.n, doc.n);
        size_t slash = str_find_char(rest, '/'), end;

        doc = rest;
        if (slash == STR_NPOS || slash == 0)
            continue;
        rest = str_sub(rest, slash + 1, rest.n);
        end = str_find_char(rest, '\n');
        *ret = str_sub(rest, 0, end == STR_NPOS ? rest.n : end);
        if (ret->n > 0)
            return true;
    }
    return false;
}

static int show_only(struct template_job *j, struct str text, struct err **err)
{
    size_t n, n_docs;
    const char *const *files = cli_list(j->c, "show-only", &n);
    struct str *docs = chart_split_manifests(j->arena, text, &n_docs);
    CLEANUP(buf_done) struct buf out = BUF_INIT(SIZE_MAX);

    for (size_t i = 0; i < n; i++) {
        bool missing = true;

        for (size_t k = 0; k < n_docs; k++) {
            struct str source;

            if (!source_of(docs[k], &source) || chart_path_match(str_from(files[i]), source) != 1)
                continue;
            buf_addf(&out, "---\n");
            buf_addstr(&out, docs[k]);
            buf_addc(&out, '\n');
            missing = false;
        }
        if (missing)
            return err_set(err, ERRC_NOT_FOUND, "could not find template %s in chart", files[i]);
    }
    cli_write(j->c, buf_str(&out));
    return 0;
}

static void write_source(struct cli *c, struct str path, struct str content, bool last)
{
    cli_write(c, STR("---\n# Source: "));
    if (last && trim_space(content).n == 0) {
        cli_write(c, trim_space(path));
        return;
    }
    cli_write(c, path);
    cli_write(c, STR("\n"));
    if (!last) {
        cli_write(c, content);
        cli_write(c, STR("\n"));
        return;
    }
    content.n = (size_t)(trim_space(content).p - content.p) + trim_space(content).n;
    cli_write(c, content);
}

/* The manifest text without the white space at its end. */
static void write_manifest(const struct template_job *j)
{
    const struct chart_rendered *res = j->rendered;
    size_t n_crds = cli_bool(j->c, "include-crds") ? res->n_crds : 0;

    if (cli_string(j->c, "output-dir")[0])
        return;
    for (size_t i = 0; i < n_crds; i++)
        write_source(j->c, res->crds[i].path, res->crds[i].data, i + 1 == n_crds && res->n_manifests == 0);
    for (size_t i = 0; i < res->n_manifests; i++)
        write_source(j->c, res->manifests[i].path, res->manifests[i].content, i + 1 == res->n_manifests);
}

int template_print(struct template_job *j, struct err **err)
{
    const struct chart_rendered *res = j->rendered;
    const char *dir = cli_string(j->c, "output-dir");
    CLEANUP(buf_done) struct buf hooks = BUF_INIT(2 * TEMPLATE_OUTPUT_MAX);
    size_t n;
    int r;

    for (size_t i = 0; !dir[0] && i < res->n_hooks && !cli_bool(j->c, "no-hooks"); i++)
        if (is_shown(j->c, &res->hooks[i]))
            print_hook(&hooks, &res->hooks[i]);
    if (dir[0]) {
        r = write_files(j, dir, err);
        if (r < 0) /* helm does this while it renders */
            return template_failed(j, NULL, -ERRC_TEMPLATE, err);
        r = write_hooks(j, dir, err);
        if (r < 0)
            return r;
    }
    if (cli_list(j->c, "show-only", &n)) {
        struct str all =
            arena_printf(j->arena, STR_FMT "\n%s", STR_ARG(trim_space(res->manifest)), buf_z(&hooks));

        return show_only(j, all, err);
    }
    write_manifest(j);
    cli_write(j->c, STR("\n"));
    cli_write(j->c, buf_str(&hooks));
    return 0;
}
