/* SPDX-License-Identifier: Apache-2.0 */
/* WWW-Authenticate (RFC 9110 11.6.1): a list of challenges, each a scheme with name="value" parameters. */
#include "oci/oci_int.h"

static bool is_token_char(char c)
{
    return ascii_is_alnum(c) || ascii_is_one_of(c, "!#$%&'*+-.^_`|~");
}

static struct str take_token(struct str *s)
{
    struct str t = { s->p, 0 };

    while (t.n < s->n && is_token_char(s->p[t.n]))
        t.n++;
    *s = str_sub(*s, t.n, s->n);
    return t;
}

static void skip_blanks(struct str *s)
{
    while (s->n > 0 && (s->p[0] == ' ' || s->p[0] == '\t'))
        *s = str_sub(*s, 1, s->n);
}

/* A token or a quoted string, without its quotes and backslashes. */
static struct str take_value(struct arena *a, struct str *s)
{
    char *out;
    size_t n = 0, i = 1;

    if (s->n == 0 || s->p[0] != '"')
        return arena_dup(a, take_token(s));
    out = arena_alloc_bytes(a, s->n);
    for (; i < s->n && s->p[i] != '"'; i++) {
        if (s->p[i] == '\\' && i + 1 < s->n)
            i++;
        out[n++] = s->p[i];
    }
    *s = str_sub(*s, MIN(i + 1, s->n), s->n);
    return (struct str){ out, n };
}

/* The parameters behind a scheme. Stops in front of the next scheme: a token without '='. */
static void take_params(struct arena *a, struct str *s, struct oci_challenge *ch)
{
    for (;;) {
        struct str before, name, value;

        skip_blanks(s);
        while (s->n > 0 && s->p[0] == ',') {
            *s = str_sub(*s, 1, s->n);
            skip_blanks(s);
        }
        before = *s;
        name = take_token(s);
        skip_blanks(s);
        if (name.n == 0 || s->n == 0 || s->p[0] != '=') {
            *s = before;
            return;
        }
        *s = str_sub(*s, 1, s->n);
        skip_blanks(s);
        value = take_value(a, s);
        if (str_ieq(name, STR("realm")))
            ch->realm = value;
        else if (str_ieq(name, STR("service")))
            ch->service = value;
    }
}

void oci_challenge_parse(struct arena *a, struct str header, struct oci_challenge *ret)
{
    struct str s = header;

    *ret = (struct oci_challenge){ 0 };
    while (s.n > 0) {
        struct oci_challenge ch = { 0 };
        struct str scheme;

        skip_blanks(&s);
        scheme = take_token(&s);
        if (scheme.n == 0)
            return;
        ch.scheme = str_ieq(scheme, STR("Bearer"))  ? OCI_AUTH_BEARER
                    : str_ieq(scheme, STR("Basic")) ? OCI_AUTH_BASIC
                                                    : OCI_AUTH_NONE;
        take_params(a, &s, &ch);
        if (ch.scheme != OCI_AUTH_NONE) {
            *ret = ch;
            return;
        }
    }
}
