/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "release/manager.h"
#include "release/observe.h"
#include "release/rights.h"
#include "json/json.h"

/* ---- rendering ------------------------------------------------------------------------------------------------- */

static int look_up(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                   struct str name, struct value *ret, struct err **err)
{
    struct observation *o = ctx;
    struct kube_request rq = { .verb = name.n ? KUBE_GET : KUBE_LIST,
                               .ref = { api_version, kind, ns, name } };
    int r = kube_do(o->as, a, &rq, ret, err);

    if (r != -ERRC_NOT_FOUND || (err && kube_err_is_no_match(*err)))
        return r;
    err_clear(err);
    *ret = value_new_map(a);
    return 0;
}

/* Appends "group/version" and "group/version/Kind" of what CRDs that are not there yet will serve. Room for `max`. */
static size_t coming_versions(struct observation *o, struct str *names, size_t n, size_t max)
{
    for (size_t i = 0; i < o->plan.crds.n; i++) {
        struct value spec = value_getz(o->plan.crds.items[i].body, "spec");
        struct str group = value_str(value_getz(spec, "group")),
                   kind = value_str(value_path(spec, "names.kind"));

        for (struct value_iter it = value_iter(value_getz(spec, "versions"));
             value_next(&it) && n + 2 <= max;) {
            names[n] = arena_printf(o->arena, "%.*s/%.*s", STR_ARG(group),
                                    STR_ARG(value_str(value_getz(it.v, "name"))));
            names[n + 1] = arena_printf(o->arena, "%.*s/%.*s", STR_ARG(names[n]), STR_ARG(kind));
            n += 2;
        }
    }
    return n;
}

static int read_capabilities(struct observation *o, struct chart_capabilities *ret, struct err **err)
{
    struct value version, list;
    struct str *names;
    size_t coming = 0, max;
    int r = kube_server_version(o->as, o->arena, &version, err);

    if (r == 0)
        r = kube_api_versions(o->as, o->arena, &list, err);
    if (r < 0)
        return err_wrap(err, r, "capabilities of the cluster");
    for (size_t i = 0; i < o->plan.crds.n; i++)
        coming += 2 * value_len(value_path(o->plan.crds.items[i].body, "spec.versions"));
    max = value_len(list) + coming;
    names = ARENA_ARRAY(o->arena, struct str, max);
    for (struct value_iter it = value_iter(list); value_next(&it);)
        names[it.i] = value_str(it.v);
    *ret = (struct chart_capabilities){
        .version = value_str(value_getz(version, "gitVersion")),
        .major = value_str(value_getz(version, "major")),
        .minor = value_str(value_getz(version, "minor")),
        .api_versions = names,
        .n_api_versions = coming_versions(o, names, value_len(list), max),
    };
    return 0;
}

static int render(struct observation *o, bool fresh, struct err **err)
{
    struct chart_capabilities capabilities;
    struct chart_render_options options = {
        .release_name = o->spec.release,
        .ns = o->spec.target_ns,
        .revision = o->decision.revision,
        .is_upgrade = !fresh,
        .capabilities = &capabilities,
        .lookup = look_up,
        .lookup_ctx = o,
        .subchart_notes = o->config.sub_notes,
    };
    int r;

    o->stage = RELEASE_STAGE_RENDER;
    r = chart_check_installable(o->chart, err);
    if (r == 0)
        r = read_capabilities(o, &capabilities, err);
    return r < 0 ? r : chart_render(o->chart, o->values, &options, NULL, &o->rendered, err);
}

/* ---- the record ------------------------------------------------------------------------------------------------- */

static struct value strings(struct arena *a, const struct str *items, size_t n)
{
    struct value_list l = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < n; i++)
        value_list_add(&l, value_from_str(arena_dup(a, items[i])));
    return value_list_done(&l);
}

static struct value hook_json(struct arena *a, const struct chart_hook *h)
{
    struct value v = value_new_map(a), run = value_new_map(a);
    struct value_list events = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < h->n_events; i++)
        value_list_add(&events, value_from_str(str_from(chart_hook_event_name(h->events[i]))));
    value_setz(run, "phase", VALUE_STR(""));
    value_setz(v, "name", value_from_str(arena_dup(a, h->name)));
    value_setz(v, "kind", value_from_str(arena_dup(a, h->kind)));
    value_setz(v, "path", value_from_str(arena_dup(a, h->path)));
    value_setz(v, "manifest", value_from_str(arena_dup(a, h->content)));
    value_setz(v, "events", value_list_done(&events));
    value_setz(v, "last_run", run);
    if (h->weight != 0)
        value_setz(v, "weight", value_from_int(h->weight));
    if (h->n_delete_policies > 0)
        value_setz(v, "delete_policies", strings(a, h->delete_policies, h->n_delete_policies));
    if (h->n_output_log_policies > 0)
        value_setz(v, "output_log_policies", strings(a, h->output_log_policies, h->n_output_log_policies));
    return v;
}

static int add_chart(struct record *rec, const struct chart_rendered *rendered, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(RELEASE_RECORD_UNPACKED_MAX);
    struct value chart;
    int r = chart_rendered_print_chart_json(rendered, &text, err);

    if (r == 0)
        r = json_parse(rec->arena, buf_str(&text), NULL, &chart, err);
    if (r == 0)
        value_setz(rec->release, "chart", chart);
    return r;
}

/* Only what another attempt on this revision must know is taken over from it. */
static void add_intent(const struct observation *o, struct record *rec, struct str inputs)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64), attempt = BUF_INIT(64);
    int64_t before = 0;

    if (o->decision.retry && o->last)
        str_to_int64(record_annotation(o->last, RECORD_ANNOTATION_ATTEMPT), &before);
    buf_addf(&attempt, "%lld", (long long)before + 1);
    clock_format_rfc3339(clock_wall(), &now);
    record_set_annotation(rec, RECORD_ANNOTATION_OWNER, o->spec.uid);
    record_set_annotation(rec, RECORD_ANNOTATION_INPUTS, inputs);
    record_set_annotation(rec, RECORD_ANNOTATION_ATTEMPT, buf_str(&attempt));
    record_set_annotation(rec, RECORD_ANNOTATION_STARTED, buf_str(&now));
    record_set_annotation(rec, RECORD_ANNOTATION_STEP, STR("record"));
}

static int make_record(struct observation *o, const struct record *earlier, bool fresh, struct err **err)
{
    const struct chart_rendered *rendered = o->rendered;
    struct record *rec = o->made = record_new(o->spec.target_ns, o->spec.release, o->decision.revision);
    struct value_list hooks = VALUE_LIST_INIT(rec->arena);
    struct value info = value_getz(rec->release, "info");
    int r = add_chart(rec, rendered, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < rendered->n_hooks; i++)
        value_list_add(&hooks, hook_json(rec->arena, &rendered->hooks[i]));
    value_setz(rec->release, "manifest", value_from_str(arena_dup(rec->arena, rendered->manifest)));
    value_setz(rec->release, "hooks", value_list_done(&hooks));
    value_setz(rec->release, "config", value_copy(rec->arena, o->values, NULL));
    if (rendered->notes.n > 0)
        value_setz(info, "notes", value_from_str(arena_dup(rec->arena, rendered->notes)));
    if (earlier)
        value_setz(info, "first_deployed",
                   value_copy(rec->arena, value_path(earlier->release, "info.first_deployed"), NULL));
    add_intent(o, rec, str_from(o->inputs));
    record_set_deployed_now(rec);
    record_set_status(rec, fresh ? RECORD_PENDING_INSTALL : RECORD_PENDING_UPGRADE,
                      fresh ? STR("Initial install underway") : STR("Preparing upgrade"));
    if (o->decision.retry && o->last)
        rec->resource_version = arena_dup(rec->arena, o->last->resource_version);
    o->record = rec;
    return 0;
}

/* ---- what earlier revisions left ---------------------------------------------------------------------------------- */

static int read_head(struct observation *o, const struct record_head *h, struct record **ret,
                     struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "Secret", o->spec.target_ns, h->secret_name);
    struct value secret;
    int r = kube_get(o->as, o->arena, &ref, &secret, err);

    if (r == 0)
        r = record_decode(secret, ret, err);
    return r < 0 ? err_wrap(err, r, "release record %.*s", STR_ARG(h->secret_name)) : 0;
}

static void free_record(void *r)
{
    record_free(r);
}

static int add_before(struct observation *o, struct record *rec, struct err **err)
{
    struct release_objects set, all;
    int r = release_objects_parse_known(o->as, o->arena, record_manifest(rec), &o->owner, &set, err);

    if (r < 0)
        return r;
    all.items = ARENA_ARRAY(o->arena, struct release_object, o->before.n + set.n);
    all.n = o->before.n + set.n;
    if (o->before.n > 0)
        memcpy(all.items, o->before.items, o->before.n * sizeof(*all.items));
    if (set.n > 0)
        memcpy(all.items + o->before.n, set.items, set.n * sizeof(*all.items));
    o->before = all;
    return 0;
}

/* May this revision have left objects that the next one must take care of? The deployed one, and whatever failed after. */
static bool leaves_objects(const struct observation *o, size_t i, int64_t deployed)
{
    const struct record_head *h = &o->heads[i];

    if (o->decision.resume && h->revision == o->decision.revision && o->decision.op != OPERATION_UNINSTALL)
        return false;
    if (h->revision == deployed || (h->revision > deployed && h->status != RECORD_UNINSTALLED))
        return true;
    return false;
}

/* *ret_base is the record that values are compared with: the deployed one, else the newest. Owned by the arena. */
static int read_before(struct observation *o, struct record **ret_base, struct err **err)
{
    int64_t deployed = 0;

    for (size_t i = 0; i < o->n_heads; i++)
        if (o->heads[i].status == RECORD_DEPLOYED)
            deployed = o->heads[i].revision;
    *ret_base = NULL;
    for (size_t i = 0; i < o->n_heads; i++) {
        struct record *rec;
        int r;

        if (!leaves_objects(o, i, deployed))
            continue;
        r = read_head(o, &o->heads[i], &rec, err);
        if (r < 0)
            return r;
        arena_on_free(o->arena, free_record, rec);
        o->client_side |= !record_is_ssa(rec);
        r = add_before(o, rec, err);
        if (r < 0)
            return r;
        if (!*ret_base || o->heads[i].revision == deployed)
            *ret_base = rec;
    }
    return 0;
}

int release_recall_changes(struct observation *o, struct err **err)
{
    struct record *before;
    size_t i = o->n_heads;
    int r;

    while (i > 0 &&
           (o->heads[i - 1].revision >= o->decision.revision || o->heads[i - 1].status != RECORD_SUPERSEDED))
        i--;
    if (i == 0)
        return 0;
    r = read_head(o, &o->heads[i - 1], &before, err);
    if (r < 0)
        return r;
    arena_on_free(o->arena, free_record, before);
    o->changes = value_diff(o->arena, values_floats(o->arena, record_config(before)), o->values,
                            RELEASE_CHANGES_MAX, &o->n_changes);
    return 0;
}

/* ---- what could stand in the way ------------------------------------------------------------------------------------ */

/* The objects of the hooks that this operation runs. */
static int hook_objects(struct observation *o, bool fresh, struct release_objects *ret, struct err **err)
{
    const enum chart_hook_event events[] = { fresh ? CHART_HOOK_PRE_INSTALL : CHART_HOOK_PRE_UPGRADE,
                                             fresh ? CHART_HOOK_POST_INSTALL : CHART_HOOK_POST_UPGRADE };
    struct release_objects all = { 0 }, set;

    for (size_t i = 0; i < o->rendered->n_hooks && !o->config.disable_hooks; i++) {
        const struct chart_hook *h = &o->rendered->hooks[i];
        bool runs = false;
        int r;

        for (size_t e = 0; e < h->n_events; e++)
            runs |= h->events[e] == events[0] || h->events[e] == events[1];
        if (!runs)
            continue;
        r = release_objects_parse(o->as, o->arena, h->content, &o->owner, &set, err);
        if (r < 0)
            return err_wrap(err, r, "hook %.*s", STR_ARG(h->path));
        all.items =
            arena_grow(o->arena, all.items, all.n * sizeof(*all.items), (all.n + set.n) * sizeof(*all.items));
        for (size_t k = 0; k < set.n; k++)
            all.items[all.n++] = set.items[k];
    }
    *ret = all;
    return 0;
}

static int check_rights(struct observation *o, bool fresh, struct err **err)
{
    struct rights_needs *needs = rights_needs_new(o->arena);
    struct release_objects hooks;
    int r;

    o->stage = RELEASE_STAGE_RIGHTS;
    r = hook_objects(o, fresh, &hooks, err);
    if (r < 0)
        return r;
    rights_need(needs, o->as, STR("v1"), STR("Secret"), o->spec.target_ns, "get list create update delete");
    rights_need_objects(needs, o->as, &o->plan.crds, "get create");
    rights_need_objects(needs, o->as, &hooks, "get create patch delete");
    rights_need_objects(needs, o->as, &o->plan.objects, "get list create patch");
    rights_need_objects(needs, o->as, &o->plan.removed, "get delete");
    return rights_check(o->as, o->arena, needs, err);
}

/* New objects, by kind and namespace: one metadata-only list each shows what exists already. */
static int check_ownership_of(struct observation *o, struct kube_ref ref, struct err **err)
{
    struct value list;
    int r;

    ref.name = STR_NONE;
    r = kube_do(o->as, o->arena,
                &(struct kube_request){ .verb = KUBE_LIST, .ref = ref, .metadata_only = true }, &list, err);
    if (r == -ERRC_NOT_FOUND) { /* of a kind that is not served yet nothing exists */
        err_clear(err);
        return 0;
    }
    if (r < 0)
        return err_wrap(err, r, "listing %.*s", STR_ARG(ref.kind));
    for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it);) {
        struct kube_ref live = { ref.api_version, ref.kind, kube_namespace(it.v), kube_name(it.v) };
        CLEANUP(buf_done) struct buf why = BUF_INIT(4 * KIB);

        if (!release_objects_find(&o->plan.objects, &live) || release_objects_find(&o->before, &live) ||
            release_owner_matches(it.v, &o->owner))
            continue;
        release_owner_explain(it.v, &o->owner, &why);
        return err_set(
            err, ERRC_EXISTS,
            "%.*s \"%.*s\" in namespace \"%.*s\" exists and cannot be imported into the current release: "
            "invalid ownership metadata; %s",
            STR_ARG(ref.kind), STR_ARG(live.name), STR_ARG(live.ns), buf_z(&why));
    }
    return 0;
}

static int check_ownership(struct observation *o, struct err **err)
{
    const struct release_objects *all = &o->plan.objects;

    o->stage = RELEASE_STAGE_OWNERSHIP;
    for (size_t i = 0; i < all->n; i++) {
        const struct kube_ref *ref = &all->items[i].ref;
        bool seen = release_objects_find(&o->before, ref) != NULL;
        int r;

        for (size_t j = 0; j < i && !seen; j++)
            seen = str_eq(all->items[j].ref.kind, ref->kind) && str_eq(all->items[j].ref.ns, ref->ns) &&
                   str_eq(all->items[j].ref.api_version, ref->api_version) &&
                   !release_objects_find(&o->before, &all->items[j].ref);
        r = seen ? 0 : check_ownership_of(o, *ref, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- before the CRDs ---------------------------------------------------------------------------------------------- */

/* The kinds that the chart's CRDs will serve count as served, or not any more. */
static void serve_kinds(struct observation *o, bool served)
{
    for (size_t i = 0; i < o->plan.crds.n; i++) {
        struct value spec = value_getz(o->plan.crds.items[i].body, "spec");
        struct str kind = value_str(value_path(spec, "names.kind"));
        bool namespaced = str_eq(value_str(value_getz(spec, "scope")), STR("Namespaced"));

        for (struct value_iter it = value_iter(value_getz(spec, "versions")); value_next(&it);) {
            struct str api_version =
                arena_printf(o->arena, "%.*s/%.*s", STR_ARG(value_str(value_getz(spec, "group"))),
                             STR_ARG(value_str(value_getz(it.v, "name"))));

            if (served)
                kube_kind_add(o->as, api_version, kind, value_str(value_path(spec, "names.plural")),
                              namespaced);
            else
                kube_kind_forget(o->as, api_version, kind);
        }
    }
}

/* Everything that can be refused is refused before the first write, as if the chart's CRDs were there. Rendered again, and kept,
 * when they are. */
static int check_before_crds(struct observation *o, bool fresh, struct err **err)
{
    int r;

    serve_kinds(o, true);
    r = render(o, fresh, err);
    if (r == 0)
        r = release_objects_parse(o->as, o->arena, o->rendered->manifest, &o->owner, &o->plan.objects, err);
    if (r == 0)
        r = check_rights(o, fresh, err);
    if (r == 0 && !o->spec.take_ownership)
        r = check_ownership(o, err);
    if (r < 0)
        serve_kinds(o, false);
    o->plan.objects = (struct release_objects){ 0 };
    chart_rendered_free(TAKE(o->rendered));
    return r;
}

/* CRDs that are not there yet or not yet served; those that exist are left alone, as Helm leaves them. */
static int observe_crds(struct observation *o, struct err **err)
{
    struct release_objects missing = { 0 }, set;
    struct chart_crd *crds;
    size_t n;
    int r = chart_crds_for_values(o->chart, o->values, NULL, o->arena, &crds, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        r = release_objects_parse(o->as, o->arena, crds[i].data, &o->owner, &set, err);
        if (r < 0)
            return err_wrap(err, r, "%.*s", STR_ARG(crds[i].path));
        missing.items = arena_grow(o->arena, missing.items, missing.n * sizeof(*set.items),
                                   (missing.n + set.n) * sizeof(*set.items));
        for (size_t k = 0; k < set.n && r == 0; k++) {
            struct value live = VALUE_NONE;

            r = MIN(kube_find(o->as, o->arena, &set.items[k].ref, &live, err), 0);
            if (r == 0 && kube_status(o->arena, live, NULL, NULL) != KUBE_STATUS_CURRENT)
                missing.items[missing.n++] = set.items[k];
        }
    }
    o->plan.crds = missing;
    return r;
}

/* ---- putting it together --------------------------------------------------------------------------------------------- */

static bool fresh_install(const struct observation *o)
{
    for (size_t i = 0; i < o->n_heads; i++)
        if (o->heads[i].status == RECORD_DEPLOYED || o->heads[i].status == RECORD_SUPERSEDED)
            return false;
    return true;
}

static int resume_record(struct observation *o, struct err **err)
{
    int r = o->last ? 0 : read_head(o, &o->heads[o->n_heads - 1], &o->last, err);

    o->record = o->last;
    return r;
}

static void fill_plan(struct observation *o, bool fresh)
{
    struct plan_inputs *p = &o->plan;
    size_t have = o->n_heads + !(o->decision.resume || o->decision.retry);

    p->decision = o->decision;
    p->fresh_install = fresh;
    p->create_namespace = o->config.create_namespace && !o->decision.resume;
    p->disable_hooks = o->config.disable_hooks;
    p->wait = o->config.wait;
    p->namespace_terminating = o->namespace_terminating;
    p->client_side = o->client_side;
    p->record = o->record;
    p->n_over_limit = o->spec.max_history > 0 && have > (size_t)o->spec.max_history
                          ? have - (size_t)o->spec.max_history
                          : 0;
    for (size_t i = 0; i < o->n_heads; i++)
        p->n_earlier_deployed +=
            o->heads[i].status == RECORD_DEPLOYED && o->heads[i].revision < o->decision.revision;
}

static int prepare_deploy(struct observation *o, struct err **err)
{
    bool fresh = fresh_install(o), resume = o->decision.resume;
    struct record *base;
    int r = 0;

    if (o->decision.op == OPERATION_INSTALL && !resume && !o->config.skip_crds)
        r = observe_crds(o, err);
    if (r == 0 && o->plan.crds.n > 0)
        r = check_before_crds(o, fresh, err);
    if (r < 0 || o->plan.crds.n > 0) {
        o->plan.decision = o->decision;
        return r;
    }
    r = resume || o->decision.retry ? resume_record(o, err) : 0;
    if (r == 0)
        r = read_before(o, &base, err);
    if (r == 0 && !resume)
        r = render(o, fresh, err);
    if (r == 0 && !resume)
        r = make_record(o, base ? base : o->last, fresh, err);
    if (r == 0)
        r = release_objects_parse(o->as, o->arena, record_manifest(o->record), &o->owner, &o->plan.objects,
                                  err);
    if (r < 0)
        return r;
    o->plan.removed = release_objects_removed(o->arena, &o->before, &o->plan.objects);
    if (base)
        o->changes = value_diff(o->arena, values_floats(o->arena, record_config(base)), o->values,
                                RELEASE_CHANGES_MAX, &o->n_changes);
    if (!resume)
        r = check_rights(o, fresh, err);
    if (r == 0 && !resume && !o->spec.take_ownership)
        r = check_ownership(o, err);
    fill_plan(o, fresh);
    return r;
}

/* The newest revision that was deployed once. */
static const struct record_head *rollback_target(const struct observation *o)
{
    for (size_t i = o->n_heads; i-- > 0;)
        if (o->heads[i].revision < o->decision.revision &&
            (o->heads[i].status == RECORD_DEPLOYED || o->heads[i].status == RECORD_SUPERSEDED))
            return &o->heads[i];
    return NULL;
}

static int make_rollback_record(struct observation *o, struct err **err)
{
    const struct record_head *head = rollback_target(o);
    CLEANUP(record_free) struct record *target = NULL;
    struct str cause = o->last ? record_annotation(o->last, RECORD_ANNOTATION_UNDO) : STR("");
    int r;

    if (!head)
        return err_set(err, ERRC_NOT_FOUND,
                       "unable to find a previously successful release when attempting to rollback");
    r = read_head(o, head, &target, err);
    if (r < 0)
        return r;
    o->record = o->made = record_new_rollback(target, o->decision.revision);
    add_intent(o, o->made, record_annotation(target, RECORD_ANNOTATION_INPUTS));
    record_set_annotation(o->made, RECORD_ANNOTATION_UNDO, cause);
    record_set_annotation(o->made, RECORD_ANNOTATION_ROLLBACK,
                          arena_printf(o->arena, "%lld", (long long)head->revision));
    if (o->decision.retry)
        o->made->resource_version = arena_dup(o->made->arena, o->last->resource_version);
    return 0;
}

/* As helm rollback: the manifest and hooks of the stored revision are applied again, nothing is rendered. */
static int prepare_rollback(struct observation *o, struct err **err)
{
    struct record *base;
    int r = resume_record(o, err); /* the failed attempt, or the rollback that is under way */

    if (r == 0 && !o->decision.resume)
        r = make_rollback_record(o, err);
    if (r == 0)
        r = read_before(o, &base, err);
    if (r == 0)
        r = release_objects_parse(o->as, o->arena, record_manifest(o->record), &o->owner, &o->plan.objects,
                                  err);
    if (r < 0)
        return r;
    o->plan.removed = release_objects_removed(o->arena, &o->before, &o->plan.objects);
    fill_plan(o, false);
    return 0;
}

static int prepare_uninstall(struct observation *o, struct err **err)
{
    struct record *base;
    int r = resume_record(o, err);

    if (r == 0)
        r = read_before(o, &base, err);
    if (r < 0)
        return r;
    o->plan.all = release_objects_removed(o->arena, &o->before, &(struct release_objects){ 0 });
    fill_plan(o, false);
    return 0;
}

static int prepare_adopt(struct observation *o)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);

    clock_format_rfc3339(clock_wall(), &now);
    o->record = o->last;
    record_set_annotation(o->record, RECORD_ANNOTATION_OWNER, o->spec.uid);
    record_set_annotation(o->record, RECORD_ANNOTATION_INPUTS, str_from(o->inputs));
    record_set_annotation(o->record, RECORD_ANNOTATION_STARTED, buf_str(&now));
    record_set_annotation(o->record, RECORD_ANNOTATION_STEP, STR("adopted"));
    fill_plan(o, false);
    return 0;
}

int release_prepare(struct release_manager *m, struct observation *o, struct err **err)
{
    UNUSED(m);
    switch (o->decision.op) {
    case OPERATION_INSTALL:
    case OPERATION_UPGRADE:
        return prepare_deploy(o, err);
    case OPERATION_ROLLBACK:
        return prepare_rollback(o, err);
    case OPERATION_UNINSTALL:
        return prepare_uninstall(o, err);
    case OPERATION_ADOPT:
        return prepare_adopt(o);
    default:
        return 0;
    }
}
