/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encode.h"
#include "lib/check.h"
#include "mirror/serve_int.h"

/* `openssl passwd -6 -salt abcdefgh secret` */
#define ANN                                                                                       \
    "ann:$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/1GM/" \
    "O6IND4WQhG.\n"

static struct mirror_auth *make(const char *htpasswd, const char *read_token, const char *push_token)
{
    struct mirror_serve_options o = { .htpasswd = str_from(htpasswd),
                                      .read_token = str_from(read_token),
                                      .push_token = str_from(push_token) };
    struct mirror_auth *a = NULL;
    struct err *err = NULL;

    assert_ok(mirror_auth_new(&o, &a, &err), err);
    return a;
}

/* What is written here as "Basic user:password" is encoded first. */
static enum mirror_right right_of(struct mirror_auth *a, const char *header)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4096);
    struct str plain = str_trim_prefix(str_from(header), STR("Basic "));

    if (plain.n == strlen(header))
        return mirror_auth_right(a, str_from(header));
    buf_adds(&text, "Basic ");
    base64_encode(BASE64_STD, plain, &text);
    return mirror_auth_right(a, buf_str(&text));
}

static void test_rights(void **state)
{
    static const struct {
        const char *htpasswd, *read_token, *push_token, *header;
        enum mirror_right want;
    } cases[] = {
        { "", "", "", "", MIRROR_MAY_READ },
        { "", "", "", "Basic ann:anything", MIRROR_MAY_READ },
        { "", "", "p", "", MIRROR_MAY_READ },
        { "", "", "p", "Bearer p", MIRROR_MAY_PUSH },
        { "", "", "p", "bearer p", MIRROR_MAY_PUSH },
        { "", "", "p", "Bearer ", MIRROR_MAY_NOTHING },
        { "", "", "p", "Bearer pp", MIRROR_MAY_NOTHING },
        { "", "", "p", "Basic any:p", MIRROR_MAY_PUSH },
        { "", "", "p", "Basic p:", MIRROR_MAY_NOTHING },
        { "", "", "p", "Basic", MIRROR_MAY_NOTHING },
        { "", "", "p", "Digest p", MIRROR_MAY_NOTHING },
        { "", "r", "", "", MIRROR_MAY_NOTHING },
        { "", "r", "", "Bearer r", MIRROR_MAY_READ },
        { "", "r", "p", "Basic any:r", MIRROR_MAY_READ },
        { "", "r", "p", "Basic any:p", MIRROR_MAY_PUSH },
        { ANN, "", "", "", MIRROR_MAY_NOTHING },
        { ANN, "", "", "Basic ann:secret", MIRROR_MAY_READ },
        { ANN, "", "", "Basic ann:Secret", MIRROR_MAY_NOTHING },
        { ANN, "", "", "Basic bob:secret", MIRROR_MAY_NOTHING },
        { ANN, "", "", "Basic :secret", MIRROR_MAY_NOTHING },
        { ANN, "", "", "Basic ann:", MIRROR_MAY_NOTHING },
        { ANN, "", "p", "Basic ann:p", MIRROR_MAY_PUSH },
        { ANN, "", "p", "Basic ann:secret", MIRROR_MAY_READ },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct mirror_auth *a = make(cases[i].htpasswd, cases[i].read_token, cases[i].push_token);

        assert_case_num(cases[i].header, right_of(a, cases[i].header), cases[i].want);
        assert_case_num(cases[i].header, right_of(a, cases[i].header), cases[i].want); /* remembered */
        mirror_auth_free(a);
    }
}

static void test_a_bad_htpasswd_is_refused(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "ann\n", "htpasswd: line 1: want user:hash" },
        { "# all\n\n:x\n", "htpasswd: line 3: want user:hash" },
        { "ann:secret\n", "htpasswd: line 1: the hash of ann is of a kind that is not taken; `htpasswd -B` "
                          "makes a good one" },
        { "ann:$apr1$x$y\n", "htpasswd: line 1: the hash of ann is of a kind that is not taken; `htpasswd "
                             "-B` makes a good one" },
        { "# nobody\n", "htpasswd: there is no user in it" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct mirror_serve_options o = { .htpasswd = str_from(cases[i].text) };
        struct mirror_auth *a = NULL;
        struct err *err = NULL;

        assert_fails(mirror_auth_new(&o, &a, &err), ERRC_INVALID, err, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rights),
        cmocka_unit_test(test_a_bad_htpasswd_is_refused),
    };

    return RUN_TESTS(tests);
}
