/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Between the files of validate. */
#include "apiserver/validate.h"

struct check {
    struct api_causes *causes;
    struct arena *a;
};

/* "spec.ports[0].name" */
const char *vpath(struct check *c, const char *fmt, ...) PRINTF(2, 3);

struct str vtext(struct value v, const char *path);
bool vset(struct value v, const char *path); /* there and not null */

/* One of apimachinery's name rules; each fault is one cause. */
enum name_rule {
    RULE_SUBDOMAIN,
    RULE_LABEL,
    RULE_LABEL_1035,
    RULE_PATH_SEGMENT,
    RULE_QUALIFIED,
    RULE_CONFIG_KEY,
    RULE_PORT_NAME
};
void vname(struct check *c, enum name_rule rule, struct str name, const char *path);
/* What is wrong with it, or NULL. */
const char *vname_fault(struct check *c, enum name_rule rule, struct str name);
void vlabels(struct check *c, struct value labels, const char *path);
void vlabel_selector(struct check *c, struct value selector, const char *path);
void venum(struct check *c, struct value v, const char *const *allowed, size_t n, const char *path);
void vnot_negative(struct check *c, struct value v, const char *path); /* null is fine */
void vport(struct check *c, struct value v, const char *path);         /* 1 to 65535 */
void vpercent_or_int(struct check *c, struct value v, const char *path);
/* Do the labels satisfy a LabelSelector? */
bool vselector_matches(struct value selector, struct value labels);

bool vis_ip(struct str s);
/* A cause whose bad value is this text: structs that Go prints with its own field names and order. */
void vinvalid_shown(struct check *c, const char *path, const char *reason, const char *words,
                    const char *shown, const char *detail);
void vpod_spec(struct check *c, struct value spec, const char *path);
void vpod_template(struct check *c, struct value template, const char *path);

void vcheck_workload(struct check *c, const struct api_kind *k, struct value obj);
void vcheck_core(struct check *c, const struct api_kind *k, struct value obj);
void vcheck_update(struct check *c, const struct api_kind *k, struct value obj, struct value old);
