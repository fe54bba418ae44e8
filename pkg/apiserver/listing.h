/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* listing: what lists and watches have in common: their options and the resourceVersion rules. */
#include "apiserver/request.h"
#include "apiserver/select.h"

enum api_match { API_MATCH_UNSET, API_MATCH_EXACT, API_MATCH_NOT_OLDER };

struct api_list_options {
    struct api_selector *selector;
    bool has_rv;
    int64_t rv;
    enum api_match match;
    int64_t limit;
    struct str token; /* continue */
    bool initial_events, has_initial_events, bookmarks;
    int64_t timeout_s; /* 0: not given */
};

/* 400 for what cannot be parsed, 422 for what does not go together. */
int api_list_options_parse(struct api_request *rq, bool watch, struct api_list_options *ret);
/* Waits until the store has reached rv, 3 s at most; then 504 with cause ResourceVersionTooLarge. */
int api_wait_for_rv(struct api_request *rq, int64_t rv);
