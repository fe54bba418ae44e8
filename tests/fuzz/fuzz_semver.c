/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a constraint, the second a version. */
#include <assert.h>

#include "semver/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size }, constraint;
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 16), why = BUF_INIT(1 << 20);
    struct semver v, again;

    str_split(&text, '\n', &constraint);
    if (semver_constraint_parse(constraint, &c, NULL) < 0)
        c = NULL;
    if (!text.p || semver_parse(text, &v, NULL) < 0)
        return 0;
    semver_format(&v, &b);
    assert(semver_parse(buf_str(&b), &again, NULL) == 0 || b.n > SEMVER_VERSION_MAX);
    if (b.n <= SEMVER_VERSION_MAX)
        assert(semver_cmp(&v, &again) == 0);
    if (c)
        assert(semver_constraint_check(c, &v) == semver_constraint_validate(c, &v, &why));
    return 0;
}
