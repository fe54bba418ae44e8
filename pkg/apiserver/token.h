/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* token: tokens of service accounts. */
#include "apiserver/request.h"

/* POST serviceaccounts/NAME/token. */
int api_token_request(struct api_request *rq);
/* The token that a Secret of type kubernetes.io/service-account-token holds. */
int api_token_for_secret(struct api_request *rq, struct value account, struct value secret, struct str *ret);
