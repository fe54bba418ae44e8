/* SPDX-License-Identifier: Apache-2.0 */
/* Why a twin is what it seems: the other entry was read by the quick reader, so it has no anchors, tags or tabs, and each line
 * at the column of its keys is a key of it (there are as many as it has keys). A line that ends in ": word" or "- word" has
 * the same meaning for YAML with another word of the same kind, wherever it stands: as a value, in a quoted text, in a block of
 * text. What the word means to Helm depends on the key above it alone. */
#include "registry/twin.h"

#include <stdlib.h>

#include "semver/semver.h"
#include "yaml/yaml.h"

enum rule {
    RULE_SAME,  /* as it is */
    RULE_WORD,  /* the last word may be another string */
    RULE_TEXT,  /* within a block of text */
    RULE_TITLE, /* words on one line */
    RULE_VERSION,
    RULE_APP_VERSION,
};

/* The keys that Helm knows. What may differ decides neither whether the entry is valid nor what it is found by. */
static const struct section {
    struct str key;
    enum rule rule, below; /* of its own line, and of those under it */
} sections[] = {
    { { "annotations", 11 }, RULE_SAME, RULE_WORD },
    { { "apiVersion", 10 }, RULE_SAME, RULE_SAME },
    { { "appVersion", 10 }, RULE_APP_VERSION, RULE_SAME },
    { { "condition", 9 }, RULE_SAME, RULE_SAME },
    { { "created", 7 }, RULE_WORD, RULE_WORD },
    { { "dependencies", 12 }, RULE_SAME, RULE_WORD },
    { { "deprecated", 10 }, RULE_SAME, RULE_SAME },
    { { "description", 11 }, RULE_TITLE, RULE_SAME },
    { { "digest", 6 }, RULE_WORD, RULE_WORD },
    { { "engine", 6 }, RULE_SAME, RULE_SAME },
    { { "home", 4 }, RULE_WORD, RULE_WORD },
    { { "icon", 4 }, RULE_WORD, RULE_WORD },
    { { "keywords", 8 }, RULE_SAME, RULE_SAME },
    { { "kubeVersion", 11 }, RULE_WORD, RULE_WORD },
    { { "maintainers", 11 }, RULE_SAME, RULE_WORD },
    { { "name", 4 }, RULE_SAME, RULE_SAME },
    { { "sources", 7 }, RULE_SAME, RULE_WORD },
    { { "tags", 4 }, RULE_SAME, RULE_SAME },
    { { "tillerVersion", 13 }, RULE_SAME, RULE_SAME },
    { { "type", 4 }, RULE_SAME, RULE_SAME },
    { { "urls", 4 }, RULE_SAME, RULE_WORD },
    { { "version", 7 }, RULE_VERSION, RULE_SAME },
};

void index_twin_done(struct index_twin *t)
{
    buf_done(&t->text);
    free(t->lines);
    t->lines = NULL;
    t->n_lines = t->cap_lines = 0;
}

/* ---- lines, each with its newline ---------------------------------------------------------------------------------------- */

static size_t column(struct str line)
{
    size_t n = 0;

    while (line.p[n] == ' ')
        n++;
    return n;
}

/* The key that the line has at the column; empty when none is there for certain. */
static struct str key_at(struct str line, size_t from)
{
    size_t to = from;

    while (to < line.n && (ascii_is_alnum(line.p[to]) || (to > from && memchr("-./_", line.p[to], 4))))
        to++;
    if (to + 1 < line.n && line.p[to] == ':' && (line.p[to + 1] == ' ' || line.p[to + 1] == '\n'))
        return str_sub(line, from, to);
    return STR("");
}

static const bool word_chars[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['.'] = true, ['-'] = true,
    ['/'] = true,         [':'] = true,         ['_'] = true,         ['+'] = true, ['~'] = true,
};

static bool is_word_char(char c)
{
    return word_chars[(unsigned char)c];
}

/* Without a branch for each of them. */
static bool all_word_chars(struct str s)
{
    bool all = true;

    for (size_t i = 0; i < s.n; i++)
        all &= word_chars[(unsigned char)s.p[i]];
    return all;
}

struct word {
    struct str text;
    size_t before, behind; /* what is in front of it, with its quotation mark, and behind it */
    bool number; /* of digits alone: a string for Helm, but not to YAML, and perhaps not these digits */
};

enum { DIGITS_MAX = 64 };

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return s.n <= DIGITS_MAX;
}

/* The last word of a line, when it is all of a value. */
static bool last_word(struct str line, struct word *ret)
{
    size_t to = line.n - 1, from;
    char quote = to > 0 ? line.p[to - 1] : 0;
    bool quoted = quote == '"' || quote == '\'';

    to -= quoted;
    for (from = to; from > 0 && is_word_char(line.p[from - 1]);)
        from--;
    *ret = (struct word){ .text = str_sub(line, from, to), .before = from, .behind = line.n - to };
    if (from == to || !ascii_is_alnum(line.p[from]) || line.p[to - 1] == ':')
        return false;
    if (quoted && (from == 0 || line.p[--from] != quote))
        return false;
    ret->number = !quoted && is_number(ret->text);
    return from >= 2 && line.p[from - 1] == ' ' && (line.p[from - 2] == ':' || line.p[from - 2] == '-') &&
           (quoted || ret->number || yml_reads_as_string(ret->text));
}

/* Where the last word of the line is, if it is one: looked for once, for all that come after it. */
static bool find_word(struct twin_line *l, struct str line)
{
    struct word word;

    if (l->word == TWIN_WORD_UNKNOWN) {
        l->word = last_word(line, &word) ? TWIN_WORD : TWIN_WORD_NONE;
        l->before = (uint32_t)word.before;
        l->behind = (uint8_t)word.behind;
    }
    return l->word == TWIN_WORD;
}

/* last_word() of a line that should differ from `was` in its last word alone. */
static bool other_word(struct twin_line *l, struct str was, struct str is, struct word *ret)
{
    struct str word;
    bool quoted;

    if (!find_word(l, was) || is.n <= (size_t)l->before + l->behind || memcmp(was.p, is.p, l->before) != 0 ||
        memcmp(was.p + was.n - l->behind, is.p + is.n - l->behind, l->behind) != 0)
        return false;
    word = str_sub(is, l->before, is.n - l->behind);
    if (!all_word_chars(word) || !ascii_is_alnum(word.p[0]) || word.p[word.n - 1] == ':')
        return false;
    quoted = l->behind > 1;
    *ret = (struct word){
        .text = word, .before = l->before, .behind = l->behind, .number = !quoted && is_number(word)
    };
    return quoted || ret->number || yml_reads_as_string(word);
}

/* The value of a line with a key, when it is a string for certain: words without quotation marks and nothing that YAML looks at.
 * Empty otherwise. */
static struct str title(struct str line)
{
    size_t from = str_find(line, STR(": "));
    struct str text = from == STR_NPOS ? STR("") : str_sub(line, from + 2, line.n - 1);

    if (text.n == 0 || !ascii_is_alpha(text.p[0]) || text.p[text.n - 1] == ' ' || !yml_reads_as_string(text))
        return STR("");
    for (size_t i = 0; i < text.n; i++)
        if (!ascii_is_alnum(text.p[i]) && !memchr(" ,.()/_+-", text.p[i], 9))
            return STR("");
    return text;
}

/* ---- the entry that others are compared with --------------------------------------------------------------------------- */

static const struct section *find_section(struct str key)
{
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (str_eq(sections[i].key, key))
            return &sections[i];
    return NULL;
}

/* Names of dependencies decide which fault Helm meets first, when there is more than one: another alias, or null. */
static bool dependencies_are_plain(struct value entry)
{
    for (struct value_iter it = value_iter(value_getz(entry, "dependencies")); value_next(&it);) {
        if (!value_is_map(it.v))
            return false;
        for (struct value_iter member = value_iter(it.v); value_next(&member);)
            if (str_ieq(member.key, STR("alias")))
                return false;
    }
    return true;
}

/* A rule that is about the value of `key`: the line must hold all of it. */
static enum rule check_value(enum rule rule, struct str line, struct value entry, struct str key)
{
    struct value v = value_get(entry, key);
    struct word word;

    if (rule == RULE_TITLE && value_is_string(v) && v.n > 0 && str_eq(title(line), value_str(v)))
        return rule;
    if (rule != RULE_VERSION && rule != RULE_APP_VERSION)
        return rule == RULE_TITLE ? RULE_SAME : rule;
    return value_is_string(v) && last_word(line, &word) && str_eq(word.text, value_str(v)) ? rule : RULE_SAME;
}

/* Marks the lines of one block of text behind its key. Returns the line behind it. */
static size_t mark_text(struct index_twin *t, struct str text, size_t i, size_t end, size_t key_column)
{
    size_t first = 0;

    for (; i < end; i++) {
        struct str line = str_sub(text, 0, t->lines[i].n);
        size_t at = column(line);

        text = str_sub(text, line.n, text.n);
        if (line.n == 1)
            continue;
        if (at <= key_column)
            break;
        first = first ? first : at;
        if (at >= first)
            t->lines[i].rule = RULE_TEXT;
    }
    return i;
}

static bool starts_text(struct str line)
{
    return str_has_suffix(line, STR(": |\n")) || str_has_suffix(line, STR(": |-\n")) ||
           str_has_suffix(line, STR(": |+\n"));
}

/* Blocks of text among the annotations, whose lines are [from, end), when each line at their column is certainly a key. */
static void mark_annotations(struct index_twin *t, struct str text, size_t from, size_t end, struct value map)
{
    struct str rest = text;
    size_t at = column(text), keys = 0;

    for (size_t i = from; i < end; i++) {
        struct str line = str_sub(rest, 0, t->lines[i].n);

        rest = str_sub(rest, line.n, rest.n);
        if (line.n > 1 && (column(line) < at || (column(line) == at && key_at(line, at).n == 0)))
            return;
        keys += line.n > 1 && column(line) == at;
    }
    if (!value_is_map(map) || keys != value_len(map))
        return;
    for (size_t i = from; i < end;) {
        struct str line = str_sub(text, 0, t->lines[i].n);
        size_t next = i + 1;

        text = str_sub(text, line.n, text.n);
        if (column(line) == at && starts_text(line))
            next = mark_text(t, text, next, end, at);
        for (; ++i < next;)
            text = str_sub(text, t->lines[i].n, text.n);
    }
}

struct marking {
    struct index_twin *twin;
    struct value entry;
    size_t column; /* of the keys */
    const struct section *section;
    size_t keys;
    bool plain_dependencies;
    struct str annotations; /* the text from their first line on */
    size_t first, end;      /* their lines; 0: none */
};

static enum rule rule_below(const struct marking *m, struct str line)
{
    if (line.n == 1 || (str_eq(m->section->key, STR("dependencies")) && !m->plain_dependencies))
        return RULE_SAME;
    return m->section->below;
}

/* The line of a key. False when it is none that is known. */
static bool begin_section(struct marking *m, struct str text, struct str line, enum rule *ret)
{
    struct str key = key_at(line, m->column);

    m->section = find_section(key);
    if (!m->section)
        return false;
    m->keys++;
    *ret = check_value(m->section->rule, line, m->entry, key);
    if (str_eq(key, STR("annotations")) && line.n == m->column + key.n + 2) {
        m->annotations = str_sub(text, line.n, text.n);
        m->first = m->end = m->twin->n_lines + 1;
    }
    return true;
}

/* `text` begins with the line, whose first byte of content is at the column. */
static bool mark_line(struct marking *m, struct str text, struct str line, size_t at)
{
    struct index_twin *t = m->twin;
    enum rule rule;

    if (t->n_lines > 0 && (line.n == 1 || at > m->column || (at == m->column && line.p[at] == '-'))) {
        rule = rule_below(m, line);
        if (str_eq(m->section->key, STR("annotations")) && m->end == t->n_lines)
            m->end++;
    } else if (at != m->column || !begin_section(m, text, line, &rule)) {
        return false;
    }
    ARRAY_GROW(t->lines, t->cap_lines, t->n_lines + 1);
    t->lines[t->n_lines++] = (struct twin_line){ .n = (uint32_t)line.n, .rule = (uint8_t)rule };
    return true;
}

/* The column behind the dash and its blanks. */
static size_t first_column(struct str line, size_t dash)
{
    size_t at = dash + 1;

    while (at < line.n && line.p[at] == ' ')
        at++;
    return at;
}

void index_twin_set(struct index_twin *t, struct str text, struct value entry)
{
    struct marking m = { .twin = t, .entry = entry, .plain_dependencies = dependencies_are_plain(entry) };
    struct str rest = text;
    bool certain = text.n > 0 && text.p[text.n - 1] == '\n';

    t->n_lines = 0;
    for (bool first = true; certain && rest.n > 0; first = false) {
        struct str line = str_sub(rest, 0, str_find_char(rest, '\n') + 1);
        size_t at = column(line);

        if (first) {
            t->indent = at;
            at = m.column = first_column(line, at);
        }
        certain = mark_line(&m, rest, line, at);
        rest = str_sub(rest, line.n, rest.n);
    }
    if (!certain || m.keys != value_len(entry)) {
        t->n_lines = 0;
        return;
    }
    if (m.end > m.first)
        mark_annotations(t, m.annotations, m.first, m.end, value_getz(entry, "annotations"));
    t->text.max = SIZE_MAX;
    buf_clear(&t->text);
    buf_addstr(&t->text, text);
}

/* ---- comparing ------------------------------------------------------------------------------------------------------------ */

static bool is_text(struct str was, struct str is)
{
    size_t at = column(was);

    if (column(is) != at || is.n == at + 1)
        return false;
    for (size_t i = at; i + 1 < is.n; i++)
        if (is.p[i] < ' ' || is.p[i] > '~')
            return false;
    return true;
}

/* The same key, and another title. */
static bool is_title(struct str was, struct str is, struct str *ret)
{
    size_t at = (size_t)(title(was).p - was.p);

    *ret = title(is);
    return ret->n > 0 && (size_t)(ret->p - is.p) == at && memcmp(was.p, is.p, at) == 0;
}

static bool may_replace(struct twin_line *l, struct str was, struct str is, struct index_twin_found *found)
{
    enum rule rule = l->rule;
    struct word new;
    struct semver v;

    if (rule == RULE_SAME || rule == RULE_TEXT)
        return rule == RULE_TEXT && is_text(was, is);
    if (rule == RULE_TITLE)
        return is_title(was, is, &found->description);
    if (!other_word(l, was, is, &new) || (rule != RULE_WORD && new.number))
        return false;
    if (rule == RULE_VERSION)
        found->version = new.text;
    if (rule == RULE_APP_VERSION)
        found->app_version = new.text;
    return rule != RULE_VERSION || semver_parse(new.text, &v, NULL) == 0;
}

/* Is the entry over with what comes here? */
static bool is_over(const struct index_twin *t, struct str rest)
{
    size_t at = 0;

    while (at < rest.n && rest.p[at] == ' ')
        at++;
    return at < rest.n && at <= t->indent && rest.p[at] != '\n';
}

bool index_twin_match(struct index_twin *t, struct str text, struct index_twin_found *ret)
{
    struct index_twin_found found = { 0 };
    struct str was = buf_str(&t->text), rest = text;

    if (t->n_lines == 0)
        return false;
    for (size_t i = 0; i < t->n_lines; i++) {
        struct twin_line *l = &t->lines[i];
        struct str old = str_sub(was, 0, l->n);

        l->next = l->n;
        if (rest.n < l->n || memcmp(rest.p, old.p, l->n) != 0) {
            size_t end = str_find_char(rest, '\n');

            if (end >= UINT32_MAX || !may_replace(l, old, str_sub(rest, 0, end + 1), &found))
                return false;
            l->next = (uint32_t)end + 1;
        }
        was = str_sub(was, l->n, was.n);
        rest = str_sub(rest, l->next, rest.n);
    }
    if (!is_over(t, rest))
        return false;
    found.text = str_sub(text, 0, text.n - rest.n);
    *ret = found;
    return true;
}

void index_twin_accept(struct index_twin *t, const struct index_twin_found *found)
{
    buf_clear(&t->text);
    buf_addstr(&t->text, found->text);
    for (size_t i = 0; i < t->n_lines; i++)
        t->lines[i].n = t->lines[i].next;
}
