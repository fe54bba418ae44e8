/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* log: structured lines on standard error. A message is a constant; what varies goes into typed fields.
 *
 *     log_info("release upgraded", LOG_STR("release", name), LOG_INT("revision", rev));
 *
 * One line, one write: {"ts":…,"level":"info","module":…,"msg":…,fields}, or text on a terminal. Control characters
 * are escaped, long fields cut. Library modules log at debug and trace only; what came from a Secret is never logged.
 * A file names its module with #define LOG_MODULE "kube" before this header. Safe from any thread. */
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

#ifndef LOG_MODULE
#define LOG_MODULE "main"
#endif

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

struct log_field {
    const char *name;
    enum { LOG_FIELD_STR, LOG_FIELD_INT, LOG_FIELD_BOOL } kind;
    union {
        struct str s;
        int64_t i;
        bool b;
    };
};
#define LOG_STR(name, str) ((struct log_field){ (name), LOG_FIELD_STR, { .s = (str) } })
#define LOG_Z(name, z) ((struct log_field){ (name), LOG_FIELD_STR, { .s = str_from(z) } })
#define LOG_INT(name, v) ((struct log_field){ (name), LOG_FIELD_INT, { .i = (int64_t)(v) } })
#define LOG_BOOL(name, v) ((struct log_field){ (name), LOG_FIELD_BOOL, { .b = (v) } })
#define LOG_ERR(e) LOG_Z("error", err_message(e)) /* the whole chain */

/* "info", or "info,template=trace,kube=debug". False on an unknown level; the old setting stays. From $LOG at start. */
bool log_configure(struct str spec);
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_JSON, LOG_FORMAT_TEXT };
void log_set_format(enum log_format format); /* AUTO: text on a terminal, JSON otherwise */
void log_set_fd(int fd);                     /* default: standard error; borrowed */

/* What every line of this thread carries until it is set again: the object being reconciled, e.g. "Release ns/web".
 * Borrowed; STR_NONE clears. */
void log_set_context(struct str object);

bool log_enabled(enum log_level level, const char *module);
void log_write(enum log_level level, const char *module, const char *message, const struct log_field *fields,
               size_t n);

#define LOG_AT(level, message, ...)                                                                      \
    do {                                                                                                 \
        if (log_enabled((level), LOG_MODULE)) {                                                          \
            const struct log_field log_fields_[] = { { "", LOG_FIELD_INT, { .i = 0 } }, ##__VA_ARGS__ }; \
            log_write((level), LOG_MODULE, (message), log_fields_ + 1, ARRAY_SIZE(log_fields_) - 1);     \
        }                                                                                                \
    } while (0)
#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_info(...) LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) LOG_AT(LOG_TRACE, __VA_ARGS__)
