/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "chart/chart_int.h"

/* What helm v4.2.4 has without a cluster: the version that its client-go stands for, and every group version in
 * client-go's scheme with the two of apiextensions, in the scheme's order. */
static const struct str known_versions[] = {
    STR("v1"),
    STR("admissionregistration.k8s.io/v1"),
    STR("admissionregistration.k8s.io/v1alpha1"),
    STR("admissionregistration.k8s.io/v1beta1"),
    STR("internal.apiserver.k8s.io/v1alpha1"),
    STR("apps/v1"),
    STR("apps/v1beta1"),
    STR("apps/v1beta2"),
    STR("authentication.k8s.io/v1"),
    STR("authentication.k8s.io/v1alpha1"),
    STR("authentication.k8s.io/v1beta1"),
    STR("authorization.k8s.io/v1"),
    STR("authorization.k8s.io/v1beta1"),
    STR("autoscaling/v1"),
    STR("autoscaling/v2"),
    STR("batch/v1"),
    STR("batch/v1beta1"),
    STR("certificates.k8s.io/v1"),
    STR("certificates.k8s.io/v1beta1"),
    STR("certificates.k8s.io/v1alpha1"),
    STR("coordination.k8s.io/v1alpha2"),
    STR("coordination.k8s.io/v1beta1"),
    STR("coordination.k8s.io/v1"),
    STR("discovery.k8s.io/v1"),
    STR("discovery.k8s.io/v1beta1"),
    STR("events.k8s.io/v1"),
    STR("events.k8s.io/v1beta1"),
    STR("extensions/v1beta1"),
    STR("flowcontrol.apiserver.k8s.io/v1"),
    STR("flowcontrol.apiserver.k8s.io/v1beta1"),
    STR("flowcontrol.apiserver.k8s.io/v1beta2"),
    STR("flowcontrol.apiserver.k8s.io/v1beta3"),
    STR("networking.k8s.io/v1"),
    STR("networking.k8s.io/v1beta1"),
    STR("node.k8s.io/v1"),
    STR("node.k8s.io/v1alpha1"),
    STR("node.k8s.io/v1beta1"),
    STR("policy/v1"),
    STR("policy/v1beta1"),
    STR("rbac.authorization.k8s.io/v1"),
    STR("rbac.authorization.k8s.io/v1beta1"),
    STR("rbac.authorization.k8s.io/v1alpha1"),
    STR("resource.k8s.io/v1"),
    STR("resource.k8s.io/v1beta2"),
    STR("resource.k8s.io/v1beta1"),
    STR("resource.k8s.io/v1alpha3"),
    STR("scheduling.k8s.io/v1alpha2"),
    STR("scheduling.k8s.io/v1beta1"),
    STR("scheduling.k8s.io/v1"),
    STR("storage.k8s.io/v1beta1"),
    STR("storage.k8s.io/v1"),
    STR("storage.k8s.io/v1alpha1"),
    STR("storagemigration.k8s.io/v1beta1"),
    STR("apiextensions.k8s.io/v1beta1"),
    STR("apiextensions.k8s.io/v1"),
};

const struct chart_capabilities *chart_capabilities_default(void)
{
    static const struct chart_capabilities caps = {
        .version = STR("v1.36.0"),
        .normalized = STR("v1.36.0"),
        .major = STR("1"),
        .minor = STR("36"),
        .api_versions = known_versions,
        .n_api_versions = ARRAY_SIZE(known_versions),
    };

    return &caps;
}

static int refuse(struct err **err, const char *before, struct str quoted, const char *between,
                  struct str text)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * KIB);

    buf_adds(&out, before);
    utf8_quote(quoted, &out);
    if (between) {
        buf_adds(&out, between);
        utf8_quote(text, &out);
    } else {
        buf_addstr(&out, text);
    }
    return err_set(err, ERRC_INVALID, "%s", buf_z(&out));
}

/* ParseGeneric() of k8s.io/apimachinery/pkg/util/version: "v1.33.4-gke.1" has the numbers 1.33.4. */
static struct str leading_numbers(struct str text)
{
    size_t n = 0;

    while (text.n > 0 && (ascii_is_space(text.p[0]) && text.p[0] != '\v'))
        text = str_sub(text, 1, text.n);
    text = str_trim_prefix(text, STR("v"));
    while (n < text.n && (ascii_is_digit(text.p[n]) ||
                          (n > 0 && text.p[n] == '.' && n + 1 < text.n && ascii_is_digit(text.p[n + 1]))))
        n++;
    return str_sub(text, 0, n);
}

static int check_component(struct str part, size_t i, struct str text, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(4 * KIB);
    uint64_t number;

    if (i == 0 && part.n > 1 && part.p[0] == '0')
        return refuse(err, "illegal zero-prefixed version component ", part, " in ", text);
    if (number_parse_uint(part, 10, 64, &number) == NUMBER_OK)
        return 0;
    utf8_quote(text, &quoted);
    return err_set(err, ERRC_INVALID,
                   "illegal non-numeric version component \"" STR_FMT
                   "\" in %s: strconv.ParseUint: parsing \"" STR_FMT "\": value out of range",
                   STR_ARG(part), buf_z(&quoted), STR_ARG(part));
}

int chart_kube_version_parse(struct arena *a, struct str text, struct chart_capabilities *ret,
                             struct err **err)
{
    struct str numbers = leading_numbers(text), rest = numbers, part, parts[2] = { STR(""), STR("") };
    size_t n = 0;

    if (numbers.n == 0)
        return refuse(err, "could not parse ", text, NULL, STR(" as version"));
    if (str_find_char(numbers, '.') == STR_NPOS)
        return refuse(err, "illegal version string ", text, NULL, STR(""));
    for (; str_split(&rest, '.', &part); n++) {
        int r = check_component(part, n, text, err);

        if (r < 0)
            return r;
        if (n < ARRAY_SIZE(parts))
            parts[n] = part;
    }
    ret->version =
        str_has_prefix(text, STR("v")) ? arena_dup(a, text) : arena_printf(a, "v" STR_FMT, STR_ARG(text));
    ret->normalized = arena_printf(a, "v" STR_FMT, STR_ARG(numbers));
    ret->major = arena_dup(a, parts[0]);
    ret->minor = arena_dup(a, parts[1]);
    return 0;
}
