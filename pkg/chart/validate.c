/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "chart/chart_int.h"
#include "schema/schema.h"
#include "json/json.h"

/* Helm's ValidateAgainstSchema(): the chart's own schema, then those of its subcharts on their parts of the values. */

void chart_log_schema(const struct chart_log *log, struct str schema)
{
    CLEANUP(arena_free) struct arena *a = NULL;
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(8 * ARCHIVE_FILE_MAX);
    struct value v;

    if (!log || !log->debug)
        return;
    a = arena_new(VALUES_MEMORY_MAX);
    if (json_parse(a, schema, NULL, &v, NULL) < 0)
        return;
    chart_log_attr(&attrs, "schema", schema);
    chart_log_debug(log, buf_z(&attrs), "unmarshalled JSON schema");
}

static void log_chart(const struct chart_log *log, const struct chart_node *n)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(KIB);

    if (!n->chart->schema)
        return;
    chart_log_attr(&attrs, "chart-name", chart_node_name(n));
    chart_log_debug(log, buf_z(&attrs), "chart name");
    chart_log_schema(log, n->chart->schema->data);
}

static void log_dependencies(const struct chart_log *log, const struct chart_node *n)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(KIB);

    chart_log_attr(&attrs, "chart", chart_node_name(n));
    buf_addf(&attrs, " dependencies=%zu", n->n_subs);
    chart_log_debug(log, buf_z(&attrs), "number of dependencies in the chart");
}

/* The first render asks the schema as it stands; */
static bool is_surely_valid(struct chart *c, struct value values)
{
    bool first;

    pthread_mutex_lock(&c->sets_lock);
    first = !c->schema_asked;
    c->schema_asked = true;
    pthread_mutex_unlock(&c->sets_lock);
    return first && schema_is_surely_valid(c->schema->data, values);
}

/* Compiled when it is asked again, or has something to say, and kept, as the chart's file is what decides. */
static int get_schema(struct chart *c, const struct schema **ret, struct err **err)
{
    struct schema *s = NULL;
    int r = 0;

    pthread_mutex_lock(&c->sets_lock);
    if (!c->compiled) {
        r = schema_compile(c->schema->data, &s, err);
        c->compiled = s;
    }
    *ret = c->compiled;
    pthread_mutex_unlock(&c->sets_lock);
    return r;
}

/* The schema's own faults are part of the report, too. */
static int report_chart(struct chart *c, struct str name, struct value values, struct buf *report,
                        struct err **err)
{
    CLEANUP(buf_done) struct buf found = BUF_INIT(SCHEMA_REPORT_MAX);
    struct err *cause = NULL;
    const struct schema *s;
    int r;

    if (!c->schema || is_surely_valid(c, values))
        return 0;
    r = get_schema(c, &s, &cause);
    if (r >= 0)
        r = schema_validate(s, values, &found, &cause);
    if (r == -ERRC_LIMIT) {
        err_free(cause);
        return err_set(err, ERRC_LIMIT, STR_FMT ": the schema takes more work than allowed", STR_ARG(name));
    }
    if (r == 0)
        return 0;
    buf_addf(report, STR_FMT ":\n", STR_ARG(name));
    buf_adds(report, r < 0 ? err_message(cause) : buf_z(&found));
    err_free(cause);
    return 0;
}

static int report_tree(const struct chart_node *n, struct value values, const struct chart_log *log,
                       struct buf *report, struct err **err)
{
    int r;

    log_chart(log, n);
    r = report_chart((struct chart *)(uintptr_t)n->chart, chart_node_name(n), values, report, err);
    log_dependencies(log, n);

    for (size_t i = 0; i < n->n_subs && r >= 0; i++) {
        struct value below = value_get(values, chart_node_name(n->subs[i]));

        if (value_is_map(below)) /* coalescing has refused everything else */
            r = report_tree(n->subs[i], below, log, report, err);
    }
    return r;
}

int chart_validate_values(const struct chart_node *root, struct value values, const struct chart_log *log,
                          struct err **err)
{
    CLEANUP(buf_done) struct buf report = BUF_INIT(SCHEMA_REPORT_MAX);
    int r = report_tree(root, values, log, &report, err);

    if (r < 0)
        return r;
    if (report.n == 0)
        return 0;
    if (report.failed)
        return err_set(err, ERRC_LIMIT, "the report about the values has more than %zu bytes",
                       SCHEMA_REPORT_MAX);
    return err_set(err, ERRC_SCHEMA,
                   "values don't meet the specifications of the schema(s) in the following chart(s):\n%s",
                   buf_z(&report));
}
