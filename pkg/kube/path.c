/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/kube_int.h"

/* A name becomes a segment of the path: what would change the path is refused, as the server refuses it. */
static int check_segment(const char *what, struct str s, struct err **err)
{
    bool bad = str_eq(s, STR(".")) || str_eq(s, STR("..")) || s.n > 253;

    for (size_t i = 0; i < s.n && !bad; i++)
        bad = s.p[i] == '/' || s.p[i] == '%' || (unsigned char)s.p[i] < ' ';
    if (bad)
        return err_set(err, ERRC_INVALID, "%s \"" STR_FMT "\" cannot be part of a path", what, STR_ARG(s));
    return 0;
}

int path_build(const struct kube_kind *kind, const struct kube_ref *ref, struct str subresource,
               struct buf *out, struct err **err)
{
    int r = check_segment("the name", ref->name, err);

    if (r == 0)
        r = check_segment("the namespace", ref->ns, err);
    if (r < 0)
        return r;
    buf_addf(out, "/%s/" STR_FMT, kind->group.n > 0 ? "apis" : "api", STR_ARG(kind->api_version));
    if (kind->namespaced && ref->ns.n > 0) {
        buf_adds(out, "/namespaces/");
        url_escape(ref->ns, "", out);
    }
    buf_addc(out, '/');
    buf_addstr(out, kind->plural);
    if (ref->name.n > 0) {
        buf_addc(out, '/');
        url_escape(ref->name, ":", out); /* RBAC names have colons */
    }
    if (subresource.n > 0) {
        buf_addc(out, '/');
        buf_addstr(out, subresource);
    }
    return 0;
}

void query_add(struct buf *url, const char *name, struct str value)
{
    if (value.n == 0)
        return;
    buf_addc(url, str_find_char(buf_str(url), '?') == STR_NPOS ? '?' : '&');
    buf_adds(url, name);
    buf_addc(url, '=');
    url_escape(value, "", url);
}

void query_add_int(struct buf *url, const char *name, int64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    query_add(url, name, str_from(text));
}
