/* SPDX-License-Identifier: Apache-2.0 */
/* What registries and config files say: references, challenges, logins. */
#include <assert.h>

#include "base/limits.h"
#include "oci/oci.h"
#include "oci/oci_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ref(struct arena *a, struct str text)
{
    CLEANUP(buf_done) struct buf again = BUF_INIT(64 * KIB);
    struct oci_ref ref, back;

    if (oci_ref_parse(a, text, &ref, NULL) < 0)
        return;
    assert(oci_host_is_valid(ref.host));
    oci_ref_format(&ref, &again);
    assert(oci_ref_parse(a, buf_str(&again), &back, NULL) == 0);
    assert(str_eq(ref.host, back.host) && str_eq(ref.repository, back.repository) &&
           str_eq(ref.tag, back.tag));
}

static void check_login(struct arena *a, struct str text)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(4 * OCI_CONFIG_MAX);
    struct oci_login login = { .user = STR("ann"), .password = STR("pw") }, back;

    IGNORE_ERROR(oci_login_find(a, text, STR("r"), &back, NULL));
    if (oci_login_put(text, STR("r"), &login, &out, NULL) < 0)
        return;
    assert(oci_login_find(a, buf_str(&out), STR("r"), &back, NULL) == 1);
    assert(str_eq(back.user, STR("ann")) && str_eq(back.password, STR("pw")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct str text = { (const char *)data, size };
    struct oci_challenge ch;

    check_ref(a, text);
    oci_challenge_parse(a, text, &ch);
    assert(ch.scheme != OCI_AUTH_NONE || ch.realm.n == 0);
    check_login(a, text);
    return 0;
}
