/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* crd: CustomResourceDefinitions as the real server's apiextensions controllers leave them, at once. */
#include "apiserver/request.h"

#define API_CRD_ID "customresourcedefinitions.apiextensions.k8s.io"
#define API_CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* Defaults, checks (422) and status of a new or changed CRD; `live` null on create. */
int api_crd_admit(struct api_request *rq, struct value obj, struct value live);
