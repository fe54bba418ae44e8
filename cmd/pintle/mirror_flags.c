/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/mirror_flags.h"

bool mirror_flags_size(struct str text, int64_t *ret)
{
    static const struct {
        const char *suffix;
        int64_t factor;
    } units[] = {
        { "Ki", (int64_t)1 << 10 },
        { "Mi", (int64_t)1 << 20 },
        { "Gi", (int64_t)1 << 30 },
        { "Ti", (int64_t)1 << 40 },
        { "k", 1000 },
        { "M", 1000000 },
        { "G", 1000000000 },
        { "T", 1000000000000 },
        { "", 1 }, /* last: every text ends with it */
    };
    int64_t n;
    size_t i = 0;

    while (!str_has_suffix(text, str_from(units[i].suffix)))
        i++;
    if (!str_to_int64(str_trim_suffix(text, str_from(units[i].suffix)), &n) || n <= 0 ||
        n > INT64_MAX / units[i].factor)
        return false;
    *ret = n * units[i].factor;
    return true;
}

int mirror_flags_read(struct cli *c, struct stack_options *o, struct err **err)
{
    const char *size = cli_string(c, "mirror-max-size");

    if (!mirror_flags_size(str_from(size), &o->mirror.bytes_max))
        return err_set(err, ERRC_INVALID, "--mirror-max-size: \"%s\" is no size such as " MIRROR_SIZE_DEFAULT,
                       size);
    o->mirror.listen = *cli_string(c, "mirror-listen") ? cli_string(c, "mirror-listen") : NULL;
    o->mirror.url = cli_string(c, "mirror-url");
    return 0;
}
