/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encode.h"
#include "chart/chart_int.h"
#include "json/json.h"

/* chart.Chart as Helm's release records have it: Go's encoding/json, fields in the order of the struct. */

static bool has_time(struct wall_time t)
{
    return t.s != 0 || t.ns != 0;
}

static void print_time(struct wall_time t, struct buf *out)
{
    buf_addc(out, '"');
    clock_format_rfc3339_nano(t, out);
    buf_addc(out, '"');
}

static void print_bytes(struct str data, struct buf *out)
{
    buf_addc(out, '"');
    base64_encode(BASE64_STD, data, out);
    buf_addc(out, '"');
}

static void print_files(const char *name, const struct chart_file_list *files, struct buf *out)
{
    buf_addf(out, ",\"%s\":", name);
    if (files->n == 0) {
        buf_adds(out, "null");
        return;
    }
    for (size_t i = 0; i < files->n; i++) {
        const struct chart_file *f = files->items[i];

        buf_adds(out, i ? ",{\"name\":" : "[{\"name\":");
        json_print_string(f->name, JSON_ESCAPE_HTML, out);
        buf_adds(out, ",\"data\":");
        print_bytes(f->data, out);
        if (has_time(f->modified)) {
            buf_adds(out, ",\"modtime\":");
            print_time(f->modified, out);
        }
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}

static int print_values(struct value v, struct buf *out, struct err **err)
{
    buf_adds(out, ",\"values\":");
    if (!value_is_map(v)) {
        buf_adds(out, "null");
        return 0;
    }
    return json_print(v, JSON_ESCAPE_HTML, out, err);
}

int chart_rendered_print_chart_json(const struct chart_rendered *r, struct buf *out, struct err **err)
{
    const struct chart_node *n = r->root;
    const struct chart *c = n->chart;
    int rc;

    buf_adds(out, "{\"metadata\":");
    rc = metadata_print_json(n->metadata, out, err);
    if (rc < 0)
        return rc;
    buf_adds(out, ",\"lock\":");
    rc = metadata_lock_print_json(chart_lock(c), out, err);
    if (rc < 0)
        return rc;
    print_files("templates", &c->templates, out);
    rc = print_values(n->values, out, err);
    if (rc < 0)
        return rc;
    buf_adds(out, ",\"schema\":");
    if (c->schema)
        print_bytes(c->schema->data, out);
    else
        buf_adds(out, "null");
    buf_adds(out, ",\"schemamodtime\":");
    if (c->schema && has_time(c->schema->modified))
        print_time(c->schema->modified, out);
    else
        buf_adds(out, "\"0001-01-01T00:00:00Z\"");
    print_files("files", &c->plain, out);
    if (has_time(c->modified)) {
        buf_adds(out, ",\"modtime\":");
        print_time(c->modified, out);
    }
    buf_addc(out, '}');
    return buf_check(out, err);
}
