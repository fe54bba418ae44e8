/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* services: cluster addresses (10.96.0.0/16) and node ports (30000 to 32767) of Services. */
#include "apiserver/request.h"

struct api_ips *api_ips_new(void);
void api_ips_free(struct api_ips *p);
/* Marks what the stored Services have. */
NODISCARD int api_ips_load(struct api_ips *p, struct api_store *s, struct err **err);

/* Fills in clusterIP, clusterIPs and node ports of a new or changed Service; what `live` (null on create) had stays.
 * 422 for an address or port that is taken or out of range. */
int api_service_assign(struct api_request *rq, struct value obj, struct value live);
void api_service_release(struct api_request *rq, struct value obj);
