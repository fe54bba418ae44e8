/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* validate: the rules of built-in kinds that chart authors break, with kube-apiserver's texts (pkg/apis/.../validation).
 * Objects are defaulted. Causes come in the real server's order. */
#include "apiserver/invalid.h"
#include "apiserver/kinds.h"

void api_validate_create(const struct api_kind *k, struct value obj, struct api_causes *causes);
void api_validate_update(const struct api_kind *k, struct value obj, struct value old,
                         struct api_causes *causes);

enum api_name_rule { API_NAME_SUBDOMAIN, API_NAME_LABEL, API_NAME_LABEL_1035, API_NAME_PATH_SEGMENT };
/* metadata of any object, custom ones too: name, labels, annotations, owners, finalizers. `old` null on create. */
void api_validate_metadata(struct value obj, struct value old, bool namespaced, enum api_name_rule rule,
                           struct api_causes *causes);
