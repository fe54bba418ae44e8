/* SPDX-License-Identifier: Apache-2.0 */
/* `template --dry-run=server`: what helm's install asks of the cluster before it would write (pkg/action/install.go). */
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/template_job.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- is it there? -------------------------------------------------------------------------------------------------- */

static void log_error(struct cli *c, const char *text)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    utf8_quote(str_from(text), &quoted);
    fprintf(c->errout, "level=ERROR msg=%s\n", buf_z(&quoted));
}

int template_server_connect(struct cli *c, struct arena *a, struct template_server *ret, struct err **err)
{
    CLEANUP(err_free) struct err *cause = NULL;
    int r = cli_connect_as_helm(c, &ret->cluster, &cause);

    ret->c = c;
    ret->arena = a;
    if (r == 0)
        r = kube_reach(ret->cluster.kube, &cause);
    if (r == 0)
        return 0;
    if (err_http_status(cause) == 401) {
        err_clear(&cause);
        IGNORE_ERROR(
            err_set(&cause, ERRC_UNAUTHORIZED, "the server has asked for the client to provide credentials"));
    }
    IGNORE_ERROR(err_wrap(&cause, r, "cluster reachability check failed: kubernetes cluster unreachable"));
    log_error(c, err_message(cause));
    if (err)
        *err = TAKE(cause);
    return r;
}

void template_server_done(struct template_server *s)
{
    cli_cluster_done(&s->cluster);
}

int template_server_prepare(struct template_server *s, struct chart *chart, struct value values,
                            struct chart_capabilities *ret, struct err **err)
{
    struct value version;
    struct chart_crd *crds;
    struct str *names;
    size_t n_crds;
    int r;

    /* What fails here fails again in the rendering, which tells. */
    if (!cli_bool(s->c, "skip-crds") &&
        chart_crds_for_values(chart, values, NULL, s->arena, &crds, &n_crds, NULL) == 0 && n_crds > 0)
        fprintf(s->c->errout, "level=WARN msg=\"This chart or one of its subcharts contains CRDs. "
                              "Rendering may fail or contain inaccuracies.\"\n");
    r = kube_server_version(s->cluster.kube, s->arena, &version, err);
    if (r < 0)
        return err_wrap(err, r, "could not get server version from Kubernetes");
    r = kube_api_versions(s->cluster.kube, s->arena, &s->versions, err);
    if (r < 0)
        return err_wrap(err, r, "could not get apiVersions from Kubernetes");
    names = ARENA_ARRAY(s->arena, struct str, value_len(s->versions));
    for (struct value_iter it = value_iter(s->versions); value_next(&it);)
        names[it.i] = value_str(it.v);
    *ret = (struct chart_capabilities){ .version = value_str(value_getz(version, "gitVersion")),
                                        .major = value_str(value_getz(version, "major")),
                                        .minor = value_str(value_getz(version, "minor")),
                                        .api_versions = names,
                                        .n_api_versions = value_len(s->versions) };
    return 0;
}

/* ---- lookup -------------------------------------------------------------------------------------------------------- */

/* client-go's words alone: without what kube puts in front, "get ConfigMap default/web: ". */
static int plain_words(const char *verb, const struct kube_ref *ref, int r, struct err **err)
{
    CLEANUP(buf_done) struct buf front = BUF_INIT(4 * KIB);
    CLEANUP(err_free) struct err *cause = NULL;

    if (!err)
        return r;
    buf_addf(&front, "%s ", verb);
    kube_ref_format(ref, &front);
    buf_adds(&front, ": ");
    cause = TAKE(*err);
    return err_set(err, (enum errc) - r, STR_FMT,
                   STR_ARG(str_trim_prefix(str_from(err_message(cause)), buf_str(&front))));
}

static bool is_served(const struct template_server *s, struct str api_version)
{
    for (struct value_iter it = value_iter(s->versions); value_next(&it);)
        if (str_eq(value_str(it.v), api_version))
            return true;
    return false;
}

static void split_version(struct str api_version, struct str *ret_group, struct str *ret_version)
{
    size_t slash = str_find_char(api_version, '/');

    *ret_group = slash == STR_NPOS ? STR("") : str_sub(api_version, 0, slash);
    *ret_version = slash == STR_NPOS ? api_version : str_sub(api_version, slash + 1, api_version.n);
    if (str_find_char(*ret_version, '/') != STR_NPOS) /* as schema.FromAPIVersionAndKind() */
        *ret_group = *ret_version = STR("");
}

/* Nobody serves this group and version: helm logs it twice. */
static int unserved(const struct template_server *s, struct str api_version, struct str kind,
                    struct err **err)
{
    struct str group, version;
    CLEANUP(buf_done) struct buf gv = BUF_INIT(4 * KIB), gvk = BUF_INIT(4 * KIB), line = BUF_INIT(16 * KIB);
    const char *why;

    split_version(api_version, &group, &version);
    if (group.n > 0)
        buf_addf(&gv, STR_FMT "/", STR_ARG(group));
    buf_addstr(&gv, version);
    buf_addf(&gvk, STR_FMT "/" STR_FMT ", Kind=" STR_FMT, STR_ARG(group), STR_ARG(version), STR_ARG(kind));
    why = gv.n > 0 ? "the server could not find the requested resource" : "groupVersion shouldn't be empty";
    utf8_quote(buf_str(&gvk), &line);
    fprintf(s->c->errout,
            "level=ERROR msg=\"unable to retrieve resource list\" GroupVersion=%s error=\"%s\"\n",
            gv.n > 0 ? buf_z(&gv) : "\"\"", why);
    fprintf(s->c->errout, "level=ERROR msg=\"unable to get apiresource\" groupVersionKind=%s error=\"%s\"\n",
            buf_z(&line), why);
    return err_set(err, ERRC_NOT_FOUND, "unable to get apiresource from unstructured: %s: %s", buf_z(&gvk),
                   why);
}

static int check_name(const char *what, struct str name, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(4 * KIB);
    const char *why = NULL;

    if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
        why = name.n == 1 ? "may not be '.'" : "may not be '..'";
    else if (str_find_char(name, '/') != STR_NPOS)
        why = str_find_char(name, '%') == STR_NPOS ? "may not contain '/'"
                                                   : "may not contain '/' may not contain '%'";
    else if (str_find_char(name, '%') != STR_NPOS)
        why = "may not contain '%'";
    if (!why)
        return 0;
    utf8_quote(name, &quoted);
    return err_set(err, ERRC_INVALID, "invalid %s %s: [%s]", what, buf_z(&quoted), why);
}

/* A kind that its group does not have makes client-go ask for "/api" itself: the list is the API's versions. */
static int list_nothing(struct template_server *s, struct arena *a, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    int r = kube_raw_get(s->cluster.kube, "/api", NULL, &text, err);

    if (r == 0)
        r = json_parse(a, arena_dup(a, buf_str(&text)), NULL, ret, err);
    if (r == 0)
        value_setz(*ret, "items", value_from_list(NULL, 0));
    return r;
}

static int ask(struct template_server *s, struct arena *a, const struct kube_ref *ref, struct value *ret,
               struct err **err)
{
    struct kube_request rq = { .verb = ref->name.n > 0 ? KUBE_GET : KUBE_LIST, .ref = *ref };
    int r = kube_do(s->cluster.kube, a, &rq, ret, err);

    if (r != -ERRC_NOT_FOUND)
        return r < 0 ? plain_words(ref->name.n > 0 ? "get" : "list", ref, r, err) : 0;
    err_clear(err);
    *ret = value_new_map(a);
    return 0;
}

int template_server_lookup(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                           struct str name, struct value *ret, struct err **err)
{
    struct template_server *s = ctx;
    struct kube_ref ref = { api_version, kind, ns, name };
    const struct kube_kind *k = NULL;
    int r;

    if (!is_served(s, api_version))
        return unserved(s, api_version, kind, err);
    r = kube_kind_find(s->cluster.kube, api_version, kind, &k, NULL);
    if (r < 0 || !k->namespaced)
        ref.ns = STR("");
    r = check_name("namespace", ref.ns, err);
    if (r == 0)
        r = check_name("resource name", name, err);
    if (r < 0)
        return r;
    if (!k && name.n == 0)
        return list_nothing(s, a, ret, err);
    if (!k || (k->namespaced && ns.n == 0 && name.n > 0)) { /* such a path is 404 */
        *ret = value_new_map(a);
        return 0;
    }
    return ask(s, a, &ref, ret, err);
}

/* ---- does it know the kinds? --------------------------------------------------------------------------------------- */

struct check {
    struct template_server *s;
    const struct chart_render_options *o;
    struct value_list objects; /* lists taken apart */
    struct value_list errors;
};

static void check_failed(struct check *x, struct str text)
{
    for (size_t i = 0; i < x->errors.n; i++)
        if (str_eq(value_str(x->errors.items[i]), text))
            return;
    value_list_add(&x->errors, value_from_str(text));
}

/* kubectl's validation when the server looks at the fields itself: apiVersion and kind alone. False: it ends here. */
static bool check_type(struct check *x, struct value object)
{
    static const char *const members[] = { "apiVersion", "kind" };
    struct arena *a = x->s->arena;
    struct str wrong = STR("");
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        struct value v = value_get(object, str_from(members[i]));

        if (!value_is_string(v))
            wrong = arena_printf(a, STR_FMT "%s%s %s", STR_ARG(wrong), n++ > 0 ? ", " : "", members[i],
                                 value_is_null(v) ? "not set" : "isn't string type");
    }
    if (n > 0)
        check_failed(x, arena_printf(a, "error validating \"\": error validating data: %s" STR_FMT "%s",
                                     n > 1 ? "[" : "", STR_ARG(wrong), n > 1 ? "]" : ""));
    return n == 0;
}

static bool is_known(struct check *x, struct value object, struct str *ret_why)
{
    struct kube_ref ref = kube_ref_of(object);
    CLEANUP(err_free) struct err *cause = NULL;
    const struct kube_kind *kind;

    if (kube_kind_find(x->s->cluster.kube, ref.api_version, ref.kind, &kind, &cause) == 0)
        return true;
    *ret_why = arena_dup(x->s->arena, str_from(err_message(cause)));
    return false;
}

static void add_items(struct check *x, struct value list)
{
    struct str why;

    for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it);) {
        if (value_is_list(value_getz(it.v, "items")))
            add_items(x, it.v);
        else if (is_known(x, it.v, &why))
            value_list_add(&x->objects, it.v);
        else
            check_failed(x, arena_printf(x->s->arena, "unable to recognize " STR_FMT, STR_ARG(why)));
    }
}

/* False: kubectl's builder ends here. */
static bool add_object(struct check *x, struct value object)
{
    struct arena *a = x->s->arena;
    CLEANUP(buf_done) struct buf name = BUF_INIT(4 * KIB), ns = BUF_INIT(4 * KIB);
    bool is_list = value_is_list(value_getz(object, "items"));
    struct str why;

    if (value_is_null(object))
        return true;
    if (!check_type(x, object))
        return false;
    if (!(is_list && str_eq(value_str(value_getz(object, "kind")), STR("List"))) &&
        !is_known(x, object, &why)) {
        utf8_quote(kube_name(object), &name);
        utf8_quote(kube_namespace(object), &ns);
        check_failed(x,
                     arena_printf(a,
                                  "resource mapping not found for name: %s namespace: %s from \"\": " STR_FMT
                                  "\nensure CRDs are installed first",
                                  buf_z(&name), buf_z(&ns), STR_ARG(why)));
    } else if (is_list) {
        add_items(x, object);
    } else {
        value_list_add(&x->objects, object);
    }
    return true;
}

static bool add_crds(struct check *x, const struct chart_rendered *rendered)
{
    struct arena *a = x->s->arena;

    for (size_t i = 0; i < rendered->n_crds; i++) {
        size_t n;
        struct str *docs = chart_split_manifests(a, rendered->crds[i].data, &n);

        for (size_t k = 0; k < n; k++) {
            struct value object;
            CLEANUP(err_free) struct err *cause = NULL;

            if (yml_parse(a, docs[k], NULL, &object, &cause) < 0) {
                check_failed(x, arena_printf(a, "error parsing : %s", err_message(cause)));
                return false;
            }
            if (!add_object(x, object))
                return false;
        }
    }
    return true;
}

/* KubeClient.Build() */
static int build(struct check *x, const struct chart_rendered *rendered, struct err **err)
{
    struct str all = STR("");
    bool goes_on = !x->o->include_crds || add_crds(x, rendered);

    for (size_t i = 0; i < rendered->n_manifests && goes_on; i++)
        goes_on = add_object(x, rendered->manifests[i].object);
    if (x->errors.n == 0)
        return 0;
    for (size_t i = 0; i < x->errors.n; i++)
        all = arena_printf(x->s->arena, STR_FMT "%s" STR_FMT, STR_ARG(all), i > 0 ? ", " : "",
                           STR_ARG(value_str(x->errors.items[i])));
    return err_set(err, ERRC_INVALID,
                   "unable to build kubernetes objects from release manifest: %s" STR_FMT "%s",
                   x->errors.n > 1 ? "[" : "", STR_ARG(all), x->errors.n > 1 ? "]" : "");
}

/* ---- are the objects there already? -------------------------------------------------------------------------------- */

static void require(struct str *wrong, struct arena *a, const char *what, struct value have, const char *key,
                    struct str want)
{
    struct value v = value_get(have, str_from(key));
    const char *sep = wrong->n > 0 ? "; " : "";
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB), current = BUF_INIT(64 * KIB);

    if (str_eq(value_str(v), want) && value_is_string(v))
        return;
    utf8_quote(want, &quoted);
    utf8_quote(value_str(v), &current);
    if (value_is_string(v))
        *wrong =
            arena_printf(a, STR_FMT "%s%s validation error: key \"%s\" must equal %s: current value is %s",
                         STR_ARG(*wrong), sep, what, key, buf_z(&quoted), buf_z(&current));
    else
        *wrong = arena_printf(a, STR_FMT "%s%s validation error: missing key \"%s\": must be set to %s",
                              STR_ARG(*wrong), sep, what, key, buf_z(&quoted));
}

/* checkOwnership(): "" when the object belongs to the release. */
static struct str not_ours(const struct check *x, struct value object)
{
    struct value labels = value_path(object, "metadata.labels"),
                 annotations = value_path(object, "metadata.annotations");
    struct arena *a = x->s->arena;
    struct str wrong = STR("");

    require(&wrong, a, "label", labels, "app.kubernetes.io/managed-by", STR("Helm"));
    require(&wrong, a, "annotation", annotations, "meta.helm.sh/release-name", x->o->release_name);
    require(&wrong, a, "annotation", annotations, "meta.helm.sh/release-namespace", x->o->ns);
    return wrong;
}

static int conflict(const struct kube_ref *ref, const char *before, const char *after, struct str why,
                    struct err **err)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(4 * KIB), ns = BUF_INIT(4 * KIB);

    utf8_quote(ref->name, &name);
    utf8_quote(ref->ns, &ns);
    return err_set(err, ERRC_CONFLICT,
                   "unable to continue with install: %s" STR_FMT " %s in namespace %s%s" STR_FMT, before,
                   STR_ARG(ref->kind), buf_z(&name), buf_z(&ns), after, STR_ARG(why));
}

static bool is_generated(struct value object)
{
    return value_str(value_path(object, "metadata.generateName")).n > 0;
}

/* What is asked of the server about an object; the namespace of the release where it has none. */
static struct kube_ref live_ref(const struct check *x, struct value object)
{
    struct kube_ref ref = kube_ref_of(object);
    const struct kube_kind *kind;

    if (kube_kind_find(x->s->cluster.kube, ref.api_version, ref.kind, &kind, NULL) < 0 || !kind->namespaced)
        ref.ns = STR("");
    else if (ref.ns.n == 0)
        ref.ns = x->o->ns;
    return ref;
}

static int check_live(const struct check *x, struct value object, const struct kube_ref *ref,
                      struct kube_result *live, struct err **err)
{
    static const char failed[] = "could not get information about the resource ";
    struct str wrong;

    if (is_generated(object) && ref->name.n > 0)
        return err_set(err, ERRC_INVALID,
                       "unable to continue with install: metadata.name and metadata.generateName cannot both "
                       "be set");
    if (is_generated(object))
        return 0;
    if (ref->name.n == 0)
        return conflict(ref, failed, ": ", STR("resource name may not be empty"), err);
    if (live->r == -ERRC_NOT_FOUND)
        return 0;
    if (live->r < 0) {
        IGNORE_ERROR(plain_words("get", ref, live->r, &live->err));
        return conflict(ref, failed, ": ", str_from(err_message(live->err)), err);
    }
    wrong = cli_bool(x->s->c, "take-ownership") ? STR("") : not_ours(x, live->object);
    return wrong.n == 0
               ? 0
               : conflict(ref, "",
                          " exists and cannot be imported into the current release: invalid ownership "
                          "metadata; ",
                          wrong, err);
}

/* existingResourceConflict(): all are asked for at once, the first that is in the way is told. */
static int check_all_live(struct check *x, struct err **err)
{
    struct arena *a = x->s->arena;
    size_t n = x->objects.n;
    struct kube_request *rq = ARENA_ARRAY(a, struct kube_request, n);
    struct kube_result *live = ARENA_ARRAY(a, struct kube_result, n);
    int r = 0;

    for (size_t i = 0; i < n; i++)
        rq[i] = (struct kube_request){ .verb = KUBE_GET, .ref = live_ref(x, x->objects.items[i]) };
    IGNORE_ERROR(kube_do_all(x->s->cluster.kube, a, rq, n, 0, live));
    for (size_t i = 0; i < n && r == 0; i++)
        r = check_live(x, x->objects.items[i], &rq[i].ref, &live[i], err);
    kube_results_done(live, n);
    return r;
}

int template_server_check(struct template_server *s, const struct chart_rendered *rendered,
                          const struct chart_render_options *o, struct err **err)
{
    struct check x = {
        .s = s, .o = o, .objects = VALUE_LIST_INIT(s->arena), .errors = VALUE_LIST_INIT(s->arena)
    };
    int r;

    if (cli_string(s->c, "output-dir")[0]) /* helm has written the manifests by then and has none left */
        return 0;
    r = build(&x, rendered, err);
    if (r < 0 || o->is_upgrade || x.objects.n == 0)
        return r;
    return check_all_live(&x, err);
}
