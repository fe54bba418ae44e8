/* SPDX-License-Identifier: Apache-2.0 */
/* What `kubectl apply --server-side` does, in its words. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "pintle/cluster.h"
#include "pintle/commands.h"
#include "yaml/yaml.h"
#include "json/json.h"

#define KIND_WAIT_MS 10000 /* for the kind of a definition that was applied just before */
#define KIND_POLL_US 200000

static const struct cli_flag flags[] = {
    { "dry-run", 0, CLI_STRING, "none", "server", "\"server\": everything runs, nothing is stored", NULL },
    { "field-manager", 0, CLI_STRING, "pintle-apply", NULL, "name that the fields are owned under", NULL },
    { "filename", 'f', CLI_LIST, NULL, NULL, "files, directories or - with what to apply", NULL },
    { "force-conflicts", 0, CLI_BOOL, NULL, NULL, "take fields over that others own", NULL },
    { "recursive", 'R', CLI_BOOL, NULL, NULL, "also the directories below", NULL },
    { "server-side", 0, CLI_BOOL, "true", NULL, "always so; for command lines written for kubectl", NULL },
    CLI_FLAGS_END,
};

struct apply {
    struct cli *c;
    struct cli_cluster *cluster;
    struct arena *a;
    struct value_list objects;
    bool dry_run;
    size_t failed, new_kinds;
};

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static void add_object(struct apply *x, struct value v)
{
    struct value items = value_getz(v, "items");
    bool is_list = str_has_suffix(value_str(value_getz(v, "kind")), STR("List")) && value_is_list(items);

    if (value_is_null(v))
        return;
    for (size_t i = 0; is_list && i < value_len(items); i++)
        add_object(x, value_at(items, i));
    if (!is_list)
        value_list_add(&x->objects, v);
}

static int add_file(struct apply *x, const char *path, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(YAML_TEXT_MAX);
    struct value docs;
    int r = fs_read_file(path, &text, err);

    if (r < 0)
        return r;
    if (str_has_prefix(str_trim(buf_str(&text)), STR("{"))) {
        r = json_parse(x->a, arena_dup(x->a, buf_str(&text)), NULL, &docs, err);
        if (r >= 0)
            add_object(x, docs);
        return r < 0 ? err_wrap(err, r, "%s", path) : 0;
    }
    r = yml_parse_all(x->a, arena_dup(x->a, buf_str(&text)), &(struct yml_options){ .strict = true }, &docs,
                      err);
    if (r < 0)
        return err_wrap(err, r, "%s", path);
    for (size_t i = 0; i < value_len(docs); i++)
        add_object(x, value_at(docs, i));
    return 0;
}

static bool is_manifest(const char *name)
{
    static const char *const suffixes[] = { ".json", ".yaml", ".yml" };

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (str_has_suffix(str_from(name), str_from(suffixes[i])))
            return true;
    return false;
}

static int add_path(struct apply *x, const char *path, int depth, struct err **err)
{
    char **names;
    size_t n;
    int r = 0;

    if (strcmp(path, "-") == 0 || !fs_is_dir(path))
        return add_file(x, path, err);
    if (depth > 0 && !cli_bool(x->c, "recursive"))
        return 0;
    if (depth > FS_TREE_DEPTH_MAX)
        return err_set(err, ERRC_LIMIT, "%s: folders are nested too deeply", path);
    r = fs_list_dir(path, &names, &n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r >= 0; i++) {
        CLEANUP(free_ptr) char *below = fs_join(path, names[i]);

        if (fs_is_dir(below) || is_manifest(names[i]))
            r = add_path(x, below, depth + 1, err);
    }
    fs_names_free(names, n);
    return r;
}

/* ---- applying ----------------------------------------------------------------------------------------------------- */

/* A kind that a definition of this very run brings may take a moment to be served. */
static int find_kind(struct apply *x, const struct kube_ref *ref, const struct kube_kind **ret,
                     struct err **err)
{
    int64_t deadline = clock_mono_ms() + (x->new_kinds ? KIND_WAIT_MS : 0);

    for (;;) {
        CLEANUP(err_free) struct err *e = NULL;
        int r = kube_kind_find(x->cluster->kube, ref->api_version, ref->kind, ret, &e);

        if (r >= 0 || !kube_err_is_no_match(e) || clock_mono_ms() >= deadline) {
            if (r < 0 && err)
                *err = TAKE(e);
            return r;
        }
        usleep(KIND_POLL_US);
    }
}

static int check_object(struct apply *x, struct value object, const struct kube_ref *ref, struct err **err)
{
    if (!value_is_map(object) || ref->api_version.n == 0 || ref->kind.n == 0)
        return err_set(err, ERRC_INVALID, "apiVersion and kind are required");
    if (ref->name.n == 0)
        return err_set(err, ERRC_INVALID, "%.*s: metadata.name is required", STR_ARG(ref->kind));
    if (cli_given(x->c, "namespace") && ref->ns.n > 0 && !str_eq(ref->ns, x->cluster->ns))
        return err_set(
            err, ERRC_INVALID,
            "the namespace from the provided object \"%.*s\" does not match the namespace \"%.*s\". You must "
            "pass '--namespace=%.*s' to perform this operation.",
            STR_ARG(ref->ns), STR_ARG(x->cluster->ns), STR_ARG(ref->ns));
    return 0;
}

static int apply_object(struct apply *x, struct value object, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_APPLY,
                               .ref = kube_ref_of(object),
                               .object = object,
                               .field_manager = str_from(cli_string(x->c, "field-manager")),
                               .force = cli_bool(x->c, "force-conflicts"),
                               .field_validation = STR("Strict"),
                               .dry_run = x->dry_run };
    const struct kube_kind *kind;
    CLEANUP(buf_done) struct buf name = BUF_INIT(FS_PATH_MAX);
    int r = check_object(x, object, &rq.ref, err);

    if (r >= 0)
        r = find_kind(x, &rq.ref, &kind, err);
    if (r < 0)
        return r;
    if (!kind->namespaced)
        rq.ref.ns = STR_NONE;
    else if (rq.ref.ns.n == 0)
        rq.ref.ns = x->cluster->ns;
    r = kube_do(x->cluster->kube, x->a, &rq, NULL, err);
    if (r < 0)
        return r;
    x->new_kinds += str_eq(kind->kind, STR("CustomResourceDefinition"));
    cli_resource_name(kind, rq.ref.name, &name);
    cli_printf(x->c, "%s serverside-applied%s\n", buf_z(&name), x->dry_run ? " (server dry run)" : "");
    return 0;
}

static int read_flags(struct apply *x, struct err **err)
{
    const char *dry_run = cli_string(x->c, "dry-run");
    size_t n;
    const char *const *files = cli_list(x->c, "filename", &n);

    if (n == 0)
        return err_set(err, ERRC_INVALID, "must specify -f");
    if (strcmp(dry_run, "none") != 0 && strcmp(dry_run, "server") != 0)
        return err_set(err, ERRC_INVALID, "--dry-run: \"%s\" is neither none nor server", dry_run);
    x->dry_run = strcmp(dry_run, "server") == 0;
    for (size_t i = 0; i < n; i++) {
        int r = add_path(x, files[i], 0, err);
        if (r < 0)
            return r;
    }
    return x->objects.n > 0 ? 0 : err_set(err, ERRC_INVALID, "no objects passed to apply");
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    CLEANUP(cli_cluster_done) struct cli_cluster cluster = { 0 };
    struct apply x = { .c = c, .cluster = &cluster, .a = a, .objects = VALUE_LIST_INIT(a) };
    int r = read_flags(&x, err);

    if (r < 0)
        return r;
    r = cli_connect(c, &cluster, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < x.objects.n; i++) {
        CLEANUP(err_free) struct err *e = NULL;

        if (apply_object(&x, x.objects.items[i], &e) < 0) {
            fflush(c->out);
            fprintf(c->errout, "Error: %s\n", err_message(e));
            x.failed++;
        }
    }
    return x.failed > 0;
}

const struct cli_command cmd_apply = {
    .name = "apply",
    .usage = "-f FILENAME",
    .brief = "apply manifests to a cluster",
    .help = "Apply manifests to a cluster, as `kubectl apply --server-side` does: files, directories or - "
            "(standard\n"
            "input), YAML or JSON, in the order given. The others go on when one fails; the exit status is "
            "then 1.\n",
    .flags = flags,
    .run = run,
};
