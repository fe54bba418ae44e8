/* SPDX-License-Identifier: Apache-2.0 */
/* References as oras-go's registry.ParseReference() and Helm's newReference() read them. */
#include "base/digest.h"
#include "base/encode.h"
#include "oci/oci_int.h"

bool oci_is_url(struct str text)
{
    return str_has_prefix(text, STR(OCI_SCHEME));
}

static bool is_name_char(char c)
{
    return ascii_is_digit(c) || (c >= 'a' && c <= 'z');
}

bool oci_host_is_valid(struct str s)
{
    size_t colon = str_rfind_char(s, ':');
    struct str port = colon == STR_NPOS ? STR("") : str_sub(s, colon + 1, s.n);
    bool v6 = str_has_prefix(s, STR("["));
    uint64_t n;

    if (v6 && str_has_suffix(s, STR("]")))
        port = STR("");
    else if (colon != STR_NPOS && (!str_to_uint64(port, &n) || n > 65535 || !ascii_is_digit(port.p[0])))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], v6 ? ".-:[]" : ".-_:"))
            return false;
    return s.n > 0 && s.p[0] != ':';
}

/* [a-z0-9]+ parts with ".", "_", "__" or any number of "-" between them. */
static bool is_component(struct str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t start = i;

        while (i < s.n && is_name_char(s.p[i]))
            i++;
        if (i == start)
            return false;
        if (i == s.n)
            return true;
        start = i;
        while (i < s.n && s.p[i] == s.p[start] && ascii_is_one_of(s.p[i], "._-"))
            i++;
        if (i == start || (s.p[start] == '.' && i - start > 1) || (s.p[start] == '_' && i - start > 2))
            return false;
    }
    return false;
}

static bool is_repository(struct str s)
{
    struct str part;

    while (str_split(&s, '/', &part))
        if (!is_component(part))
            return false;
    return true;
}

static bool is_tag(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '_' && (i == 0 || (s.p[i] != '.' && s.p[i] != '-')))
            return false;
    return s.n > 0 && s.n <= 128;
}

bool oci_digest_is_valid(struct str digest)
{
    struct str hex = str_trim_prefix(digest, STR("sha256:"));

    if (digest.n != 7 + SHA256_HEX - 1 || hex.n != SHA256_HEX - 1)
        return false;
    for (size_t i = 0; i < hex.n; i++)
        if (!ascii_is_digit(hex.p[i]) && (hex.p[i] < 'a' || hex.p[i] > 'f'))
            return false;
    return true;
}

static struct str replace(struct arena *a, struct str s, char from, char to)
{
    char *p = arena_alloc_bytes(a, s.n + 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] == from ? to : s.p[i];
    p[s.n] = '\0';
    return (struct str){ p, s.n };
}

struct str oci_tag_of_version(struct arena *a, struct str version)
{
    return replace(a, version, '+', '_');
}

struct str oci_version_of_tag(struct arena *a, struct str tag)
{
    return replace(a, tag, '_', '+');
}

static int refuse(const char *what, struct str text, struct err **err)
{
    CLEANUP(buf_done) struct buf shown = BUF_INIT(HTTP_URL_MAX * 4);

    escape_controls(text, &shown);
    return err_set(err, ERRC_INVALID, "invalid reference: invalid %s \"%s\"", what, buf_z(&shown));
}

int oci_ref_parse(struct arena *a, struct str text, struct oci_ref *ret, struct err **err)
{
    struct oci_ref ref = { 0 };
    size_t at;

    if (text.n > HTTP_URL_MAX)
        return err_set(err, ERRC_INVALID, "invalid reference: longer than %zu bytes", HTTP_URL_MAX);
    text = arena_dup(a, str_trim_prefix(text, STR(OCI_SCHEME)));
    at = str_rfind_char(text, '@');
    if (at != STR_NPOS) {
        ref.digest = str_sub(text, at + 1, text.n);
        text = str_sub(text, 0, at);
    }
    at = str_find_char(text, '/');
    if (at == STR_NPOS)
        return err_set(err, ERRC_INVALID, "invalid reference: missing registry or repository");
    ref.host = str_sub(text, 0, at);
    ref.repository = str_sub(text, at + 1, text.n);
    at = str_find_char(ref.repository, ':');
    if (at != STR_NPOS) {
        ref.tag = oci_tag_of_version(a, str_sub(ref.repository, at + 1, ref.repository.n));
        ref.repository = str_sub(ref.repository, 0, at);
    }
    if (!oci_host_is_valid(ref.host))
        return refuse("registry", ref.host, err);
    if (!is_repository(ref.repository))
        return refuse("repository", ref.repository, err);
    if (ref.tag.n > 0 && !is_tag(ref.tag))
        return refuse("tag", ref.tag, err);
    if (ref.digest.n > 0 && !oci_digest_is_valid(ref.digest))
        return refuse("digest", ref.digest, err);
    *ret = ref;
    return 0;
}

void oci_ref_format(const struct oci_ref *ref, struct buf *out)
{
    buf_addf(out, STR_FMT "/" STR_FMT, STR_ARG(ref->host), STR_ARG(ref->repository));
    if (ref->tag.n > 0)
        buf_addf(out, ":" STR_FMT, STR_ARG(ref->tag));
    else if (ref->digest.n > 0)
        buf_addf(out, "@" STR_FMT, STR_ARG(ref->digest));
}
