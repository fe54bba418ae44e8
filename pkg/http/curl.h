/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The functions of libcurl that http uses, opened at first use. */
#include <curl/curl.h>

#include "base/err.h"

/* The type checks of curl's headers wrap the variadic functions in macros of the same names. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct curl_table {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_pause)(CURL *easy, int bits);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *fds, unsigned n, int timeout_ms, int *ret);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    time_t (*getdate)(const char *text, const time_t *unused);
    CURLU *(*url)(void);
    void (*url_cleanup)(CURLU *url);
    CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **ret, unsigned flags);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned flags);
    const char *(*url_strerror)(CURLUcode code);
    void (*free)(void *p);
};
extern struct curl_table curl;

/* Opens libcurl and initialises it. UNSUPPORTED when it is not there. */
NODISCARD int curl_open(struct err **err);
