/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* semver: versions and constraints exactly as Masterminds/semver 3.5.0, which Helm 4.2 uses. */
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define SEMVER_VERSION_MAX ((size_t)256)    /* bytes of a version */
#define SEMVER_CONSTRAINT_MAX ((size_t)512) /* bytes of a constraint */
#define SEMVER_GROUPS_MAX ((size_t)32)      /* alternatives between "||" */

struct semver {
    uint64_t major, minor, patch;
    struct str pre;      /* without the '-'; "" when there is none */
    struct str metadata; /* without the '+' */
    struct str original; /* the text that was parsed; all three are borrowed from it */
};

/* NewVersion: "v1", "1.2", "01.2.3" are taken too. PARSE with upstream's text: "invalid semantic version". */
NODISCARD int semver_parse(struct str text, struct semver *ret, struct err **err);
/* StrictNewVersion: SemVer 2.0.0 and nothing else. */
NODISCARD int semver_parse_strict(struct str text, struct semver *ret, struct err **err);

/* Precedence: below, equal to or above 0. Metadata does not count. */
int semver_cmp(const struct semver *a, const struct semver *b);
void semver_format(const struct semver *v,
                   struct buf *out); /* String(): "1.2.3-pre+meta", never a leading v */

/* A parsed constraint such as ">=1.2 <2 || ^3.1.0-0". Never changes: threads may share it. */
struct semver_constraint;
/* PARSE with upstream's text: improper constraint: "…"; also for what is longer than the limits above. */
NODISCARD int semver_constraint_parse(struct str text, struct semver_constraint **ret, struct err **err);
void semver_constraint_free(struct semver_constraint *c); /* c may be NULL */
DEFINE_CLEANUP(struct semver_constraint *, semver_constraint_free)

bool semver_constraint_check(const struct semver_constraint *c, const struct semver *v);
/* The same; when it does not hold, the reasons, one a line, go to `why`: "1.0.0" is less than "1.2". */
bool semver_constraint_validate(const struct semver_constraint *c, const struct semver *v, struct buf *why);
