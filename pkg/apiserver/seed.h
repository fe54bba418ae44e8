/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* seed: what every cluster has from its first moment; made again when it is missing at a start. */
#include "apiserver/server.h"

NODISCARD int api_seed(struct apiserver *s, struct err **err);
/* ServiceAccount default and ConfigMap kube-root-ca.crt of a namespace. */
void api_seed_namespace(struct apiserver *s, struct str ns);
