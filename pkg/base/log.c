/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/utf8.h"

#define MODULES_MAX 32

static const char *const level_names[] = { "error", "warn", "info", "debug", "trace" };

struct setting {
    enum log_level level;
    size_t n;
    struct {
        char name[32];
        enum log_level level;
    } modules[MODULES_MAX];
};

/* Written before threads start (log_configure), read everywhere. */
static struct setting setting = { .level = LOG_INFO };
static pthread_once_t setting_once = PTHREAD_ONCE_INIT;
static int out_fd = STDERR_FILENO;
static enum log_format out_format;
static _Thread_local struct str context;

static bool parse_level(struct str s, enum log_level *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(level_names); i++) {
        if (str_eq(s, str_from(level_names[i]))) {
            *ret = (enum log_level)i;
            return true;
        }
    }
    return false;
}

static bool parse_setting(struct str spec, struct setting *ret)
{
    struct setting s = { .level = LOG_INFO };
    struct str part, name;
    enum log_level level;

    while (str_split(&spec, ',', &part)) {
        struct str rest = part;

        if (str_find_char(part, '=') == STR_NPOS) {
            if (!parse_level(part, &s.level))
                return false;
            continue;
        }
        str_split(&rest, '=', &name);
        if (!parse_level(rest, &level) || name.n >= sizeof(s.modules[0].name) || s.n == MODULES_MAX)
            return false;
        memcpy(s.modules[s.n].name, name.p, name.n);
        s.modules[s.n].name[name.n] = '\0';
        s.modules[s.n++].level = level;
    }
    *ret = s;
    return true;
}

static void setting_init(void)
{
    const char *env = getenv("LOG");

    if (env && *env)
        parse_setting(str_from(env), &setting);
}

bool log_configure(struct str spec)
{
    pthread_once(&setting_once, setting_init);
    return parse_setting(spec, &setting);
}

void log_set_format(enum log_format format)
{
    out_format = format;
}

void log_set_fd(int fd)
{
    out_fd = fd;
}

void log_set_context(struct str object)
{
    context = object;
}

bool log_enabled(enum log_level level, const char *module)
{
    pthread_once(&setting_once, setting_init);
    for (size_t i = 0; i < setting.n; i++)
        if (strcmp(setting.modules[i].name, module) == 0)
            return level <= setting.modules[i].level;
    return level <= setting.level;
}

/* Cuts at a rune's start. */
static struct str shorten(struct str s)
{
    size_t n = LOG_FIELD_MAX;

    if (s.n <= n)
        return s;
    while (n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return str_sub(s, 0, n);
}

static void add_json_string(struct str s, struct buf *out)
{
    CLEANUP(buf_done) struct buf safe = BUF_INIT(8 * LOG_FIELD_MAX);
    struct str part = shorten(s);

    escape_controls(part, &safe);
    if (part.n < s.n)
        buf_adds(&safe, "...");
    buf_addc(out, '"');
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '"' || safe.p[i] == '\\')
            buf_addc(out, '\\');
        buf_addc(out, safe.p[i]);
    }
    buf_addc(out, '"');
}

static void add_field(const struct log_field *f, struct buf *out)
{
    switch (f->kind) {
    case LOG_FIELD_STR:
        add_json_string(f->s, out);
        break;
    case LOG_FIELD_INT:
        buf_addf(out, "%lld", (long long)f->i);
        break;
    case LOG_FIELD_BOOL:
        buf_adds(out, f->b ? "true" : "false");
        break;
    }
}

static void format_json(enum log_level level, const char *module, const char *message,
                        const struct log_field *fields, size_t n, struct buf *out)
{
    buf_adds(out, "{\"ts\":\"");
    clock_format_rfc3339_micro(clock_wall(), out);
    buf_addf(out, "\",\"level\":\"%s\",\"module\":\"%s\",\"msg\":", level_names[level], module);
    add_json_string(str_from(message), out);
    if (context.n > 0) {
        buf_adds(out, ",\"object\":");
        add_json_string(context, out);
    }
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, ",\"%s\":", fields[i].name);
        add_field(&fields[i], out);
    }
    buf_adds(out, "}\n");
}

static void format_text(enum log_level level, const char *module, const char *message,
                        const struct log_field *fields, size_t n, struct buf *out)
{
    CLEANUP(buf_done) struct buf time = BUF_INIT(64);

    clock_format_rfc3339(clock_wall(), &time);
    buf_addf(out, "%.8s %-5s %s: %s", buf_z(&time) + 11, level_names[level], module, message);
    if (context.n > 0) {
        buf_adds(out, " object=");
        add_json_string(context, out);
    }
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, " %s=", fields[i].name);
        add_field(&fields[i], out);
    }
    buf_addc(out, '\n');
}

void log_write(enum log_level level, const char *module, const char *message, const struct log_field *fields,
               size_t n)
{
    CLEANUP(buf_done) struct buf line = BUF_INIT(64 * LOG_FIELD_MAX);
    bool text = out_format == LOG_FORMAT_TEXT || (out_format == LOG_FORMAT_AUTO && isatty(out_fd));

    if (text)
        format_text(level, module, message, fields, n, &line);
    else
        format_json(level, module, message, fields, n, &line);
    if (write(out_fd, buf_z(&line), line.n) < 0)
        return; /* there is nowhere left to say so */
}
