/* SPDX-License-Identifier: Apache-2.0 */
#include "http/curl.h"

#include "base/dynlib.h"

struct curl_table curl;

#define SYMBOL(member) DYNLIB_SYMBOL(curl, member, "curl_" #member)
static const struct dynlib_symbol symbols[] = {
    SYMBOL(global_init),   SYMBOL(easy_init),      SYMBOL(easy_cleanup),     SYMBOL(easy_setopt),
    SYMBOL(easy_getinfo),  SYMBOL(easy_pause),     SYMBOL(easy_strerror),    SYMBOL(multi_init),
    SYMBOL(multi_cleanup), SYMBOL(multi_setopt),   SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
    SYMBOL(multi_perform), SYMBOL(multi_poll),     SYMBOL(multi_wakeup),     SYMBOL(multi_info_read),
    SYMBOL(slist_append),  SYMBOL(slist_free_all), SYMBOL(getdate),          SYMBOL(url),
    SYMBOL(url_cleanup),   SYMBOL(url_get),        SYMBOL(url_set),          SYMBOL(url_strerror),
    SYMBOL(free),
};
/* The first is the system's libcurl.a with what HTTP needs and nothing else (tools/slim_curl.sh): the other takes six times
 * as long to open. */
static struct dynlib library = DYNLIB("libcurl", "libcurl4", &curl, symbols, "$ORIGIN/pintle-curl.so",
                                      "$ORIGIN/../lib/pintle/pintle-curl.so", "libcurl.so.4");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode init_code;

static void init(void)
{
    init_code = curl.global_init(CURL_GLOBAL_DEFAULT);
}

int curl_open(struct err **err)
{
    int r = dynlib_open(&library, err);

    if (r < 0)
        return r;
    pthread_once(&once, init);
    if (init_code != CURLE_OK)
        return err_set(err, ERRC_UNSUPPORTED, "libcurl cannot be used: %s", curl.easy_strerror(init_code));
    return 0;
}
