/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files with cells of built-in kinds share. */
#include <stdlib.h>

#include "apiserver/printer_int.h"
#include "base/limits.h"

static inline struct value at(struct value v, const char *path)
{
    return value_path(v, path);
}

static inline struct str text(struct value v, const char *path)
{
    return value_str(value_path(v, path));
}

static inline int64_t number(struct value v, const char *path)
{
    return value_int(value_path(v, path), 0);
}

static inline void add_name(struct printer_row *r)
{
    printer_add_str(r, text(r->object, "metadata.name"));
}

static inline void add_age(struct printer_row *r)
{
    printer_add_since(r, at(r->object, "metadata.creationTimestamp"));
}

static inline void add_text(struct printer_row *r, struct str s, const char *otherwise)
{
    printer_add_str(r, s.n > 0 ? s : str_from(otherwise));
}

/* "a,b,c + 2 more..." */
struct joined {
    struct buf b;
    size_t n, max;
};

static inline void join(struct joined *j, struct str s)
{
    if (j->n++ < j->max)
        buf_addf(&j->b, "%s" STR_FMT, j->b.n ? "," : "", STR_ARG(s));
}

static inline void add_joined(struct printer_row *r, struct joined *j, const char *otherwise)
{
    if (j->n > j->max)
        buf_addf(&j->b, " + %zu more...", j->n - j->max);
    add_text(r, buf_str(&j->b), otherwise);
    buf_done(&j->b);
}

static inline int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static inline void join_strings(struct joined *j, struct value list)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        join(j, value_str(it.v));
}

/* printer_cluster.c */
void printer_volume_row(struct printer_row *r);
void printer_claim_row(struct printer_row *r);
void printer_storage_class_row(struct printer_row *r);
void printer_autoscaler_row(struct printer_row *r);
void printer_disruption_budget_row(struct printer_row *r);
void printer_quota_row(struct printer_row *r);
void printer_priority_class_row(struct printer_row *r);
void printer_node_row(struct printer_row *r);
void printer_webhooks_row(struct printer_row *r);
void printer_admission_policy_row(struct printer_row *r);
void printer_admission_binding_row(struct printer_row *r);
void printer_api_service_row(struct printer_row *r);
void printer_runtime_class_row(struct printer_row *r);
void printer_flow_schema_row(struct printer_row *r);
void printer_priority_level_row(struct printer_row *r);
void printer_csi_driver_row(struct printer_row *r);
void printer_csi_node_row(struct printer_row *r);
void printer_attachment_row(struct printer_row *r);
void printer_attributes_class_row(struct printer_row *r);
void printer_signing_request_row(struct printer_row *r);
void printer_ip_address_row(struct printer_row *r);
void printer_service_cidr_row(struct printer_row *r);
