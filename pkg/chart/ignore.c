/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/limits.h"
#include "chart/chart_int.h"

struct ignore_rule {
    struct str pattern; /* into chart_ignore.text */
    bool negate, only_dirs, whole_path;
};

struct chart_ignore {
    char *text;
    struct ignore_rule *rules;
    size_t n, cap;
};

void chart_ignore_free(struct chart_ignore *r)
{
    free(r->text);
    free(r->rules);
    free(r);
}

static int add_rule(struct chart_ignore *rules, struct str line, struct err **err)
{
    struct ignore_rule r = { 0 };

    line = str_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return 0;
    if (str_contains(line, STR("**")))
        return err_set(err, ERRC_INVALID, "double-star (**) syntax is not supported");
    if (chart_path_match(line, STR("abc")) < 0)
        return err_set(err, ERRC_INVALID, "syntax error in pattern");
    r.negate = line.p[0] == '!';
    if (r.negate)
        line = str_sub(line, 1, line.n);
    r.only_dirs = str_has_suffix(line, STR("/"));
    line = str_trim_suffix(line, STR("/"));
    r.whole_path = str_find_char(line, '/') != STR_NPOS;
    r.pattern = str_trim_prefix(line, STR("/"));
    ARRAY_GROW(rules->rules, rules->cap, rules->n + 1);
    rules->rules[rules->n++] = r;
    return 0;
}

int chart_ignore_parse(struct str text, struct chart_ignore **ret, struct err **err)
{
    static const char defaults[] = "\ntemplates/.?*"; /* helm's AddDefaults() */
    CLEANUP(chart_ignore_free) struct chart_ignore *rules = xcalloc(1, sizeof(*rules));
    struct str rest, line;
    int r;

    text = str_trim_prefix(text, STR("\xef\xbb\xbf"));
    rules->text = xasprintf(STR_FMT "%s", STR_ARG(text), defaults);
    rest = str_from(rules->text);
    while (str_split(&rest, '\n', &line)) {
        if (line.n >= IGNORE_LINE_MAX)
            return err_set(err, ERRC_LIMIT, "bufio.Scanner: token too long");
        r = add_rule(rules, line, err);
        if (r < 0)
            return r;
    }
    *ret = TAKE(rules);
    return 0;
}

/* First decision wins. A negated rule ignores what it does not match: unlike in git, "!x" alone ignores all but x. */
bool chart_ignore_match(const struct chart_ignore *rules, struct str path, bool is_dir)
{
    if (path.n == 0 || str_eq(path, STR(".")) || str_eq(path, STR("./")))
        return false;
    for (size_t i = 0; i < rules->n; i++) {
        const struct ignore_rule *r = &rules->rules[i];
        bool matches;

        if (r->only_dirs && !is_dir) {
            if (r->negate)
                return true;
            continue;
        }
        matches = chart_path_match(r->pattern, r->whole_path ? path : str_basename(path)) == 1;
        if (matches != r->negate)
            return true;
    }
    return false;
}
