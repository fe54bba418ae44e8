/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics in Prometheus' text format 0.0.4. */
#include "base/number.h"
#include "controller/controller_int.h"

#define BUCKETS_MAX 32

static const double default_seconds[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                          1,     2.5,    5,     10,   30,    60,   120, 300,  0 };

struct series {
    struct str labels[METRIC_LABELS_MAX]; /* owned */
    double value;                         /* histograms: the sum */
    uint64_t count, buckets[BUCKETS_MAX];
};

struct family {
    const struct metric *m;
    struct map series; /* label values joined -> struct series */
};

struct metrics {
    pthread_mutex_t lock;
    struct map families; /* name -> struct family */
    size_t n_series;
    uint64_t dropped;
};

struct metrics *metrics_new(void)
{
    struct metrics *m = xcalloc(1, sizeof(*m));

    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void series_free(struct series *s)
{
    for (int i = 0; i < METRIC_LABELS_MAX; i++)
        free((char *)(uintptr_t)s->labels[i].p);
    free(s);
}

void metrics_free(struct metrics *m)
{
    void *family, *series;

    if (!m)
        return;
    for (size_t i = 0; map_next(&m->families, &i, NULL, &family);) {
        struct family *f = family;

        for (size_t k = 0; map_next(&f->series, &k, NULL, &series);)
            series_free(series);
        map_done(&f->series);
        free(f);
    }
    map_done(&m->families);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static size_t n_labels(const struct metric *m)
{
    size_t n = 0;

    while (n < METRIC_LABELS_MAX && m->labels[n])
        n++;
    return n;
}

static const double *bounds(const struct metric *m)
{
    return m->buckets ? m->buckets : default_seconds;
}

static void label_key(const struct metric *m, const struct str *labels, struct buf *out)
{
    for (size_t i = 0; i < n_labels(m); i++) {
        buf_addstr(out, labels[i]);
        buf_addc(out, '\0');
    }
}

/* Under the lock. NULL when there are too many. */
static struct series *find_series(struct metrics *m, const struct metric *family, const struct str *labels,
                                  bool make)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(64 * KIB);
    struct family *f = map_get(&m->families, str_from(family->name));
    struct series *s;

    if (!f && !make)
        return NULL;
    if (!f) {
        f = xcalloc(1, sizeof(*f));
        f->m = family;
        map_put(&m->families, str_from(family->name), f);
    }
    label_key(family, labels, &key);
    s = map_get(&f->series, buf_str(&key));
    if (s || !make)
        return s;
    if (m->n_series >= METRICS_SERIES_MAX) {
        m->dropped++;
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    for (size_t i = 0; i < n_labels(family); i++)
        s->labels[i] = (struct str){ str_dup(labels[i]), labels[i].n };
    map_put(&f->series, buf_str(&key), s);
    m->n_series++;
    return s;
}

void metrics_add(struct metrics *m, const struct metric *family, const struct str *labels, double v)
{
    struct series *s;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    s = find_series(m, family, labels, true);
    if (s)
        s->value += v;
    pthread_mutex_unlock(&m->lock);
}

void metrics_set(struct metrics *m, const struct metric *family, const struct str *labels, double v)
{
    struct series *s;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    s = find_series(m, family, labels, true);
    if (s)
        s->value = v;
    pthread_mutex_unlock(&m->lock);
}

void metrics_observe(struct metrics *m, const struct metric *family, const struct str *labels, double v)
{
    const double *b = bounds(family);
    struct series *s;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    s = find_series(m, family, labels, true);
    if (s) {
        s->value += v;
        s->count++;
        for (size_t i = 0; i < BUCKETS_MAX && b[i] > 0; i++)
            s->buckets[i] += v <= b[i];
    }
    pthread_mutex_unlock(&m->lock);
}

void metrics_forget(struct metrics *m, const struct metric *family, const struct str *labels)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(64 * KIB);
    struct family *f;
    struct series *s = NULL;

    if (!m)
        return;
    label_key(family, labels, &key);
    pthread_mutex_lock(&m->lock);
    f = map_get(&m->families, str_from(family->name));
    if (f)
        s = map_remove(&f->series, buf_str(&key));
    if (s)
        m->n_series--;
    pthread_mutex_unlock(&m->lock);
    if (s)
        series_free(s);
}

double metrics_value(const struct metrics *m, const struct metric *family, const struct str *labels)
{
    struct metrics *w = (struct metrics *)(uintptr_t)m;
    struct series *s;
    double v;

    pthread_mutex_lock(&w->lock);
    s = find_series(w, family, labels, false);
    v = s ? s->value : 0;
    pthread_mutex_unlock(&w->lock);
    return v;
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            buf_adds(out, "\\n");
        else if (s.p[i] == '"' || s.p[i] == '\\')
            buf_addf(out, "\\%c", s.p[i]);
        else
            buf_addc(out, s.p[i]);
    }
}

/* name{a="b",le="…"}; `le` may be NULL. */
static void add_name(struct buf *out, const struct metric *m, const char *suffix, const struct series *s,
                     const char *le)
{
    size_t n = n_labels(m);

    buf_addf(out, "%s%s", m->name, suffix);
    if (n == 0 && !le) {
        buf_addc(out, ' ');
        return;
    }
    buf_addc(out, '{');
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "%s%s=\"", i ? "," : "", m->labels[i]);
        add_escaped(out, s->labels[i]);
        buf_addc(out, '"');
    }
    if (le)
        buf_addf(out, "%sle=\"%s\"", n ? "," : "", le);
    buf_adds(out, "} ");
}

static void add_number(struct buf *out, double v)
{
    number_format_float(v, 'g', -1, 64, out);
    buf_addc(out, '\n');
}

static void add_histogram(struct buf *out, const struct metric *m, const struct series *s)
{
    const double *b = bounds(m);

    for (size_t i = 0; i < BUCKETS_MAX && b[i] > 0; i++) {
        CLEANUP(buf_done) struct buf le = BUF_INIT(64);

        number_format_float(b[i], 'g', -1, 64, &le);
        add_name(out, m, "_bucket", s, buf_z(&le));
        buf_addf(out, "%llu\n", (unsigned long long)s->buckets[i]);
    }
    add_name(out, m, "_bucket", s, "+Inf");
    buf_addf(out, "%llu\n", (unsigned long long)s->count);
    add_name(out, m, "_sum", s, NULL);
    add_number(out, s->value);
    add_name(out, m, "_count", s, NULL);
    buf_addf(out, "%llu\n", (unsigned long long)s->count);
}

static void add_family(struct buf *out, const struct family *f)
{
    static const char *const types[] = { "counter", "gauge", "histogram" };
    void *series;

    buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", f->m->name, f->m->help, f->m->name, types[f->m->kind]);
    for (size_t i = 0; map_next(&f->series, &i, NULL, &series);) {
        const struct series *s = series;

        if (f->m->kind == METRIC_HISTOGRAM) {
            add_histogram(out, f->m, s);
        } else {
            add_name(out, f->m, "", s, NULL);
            add_number(out, s->value);
        }
    }
}

void metrics_format(const struct metrics *m, struct buf *out)
{
    struct metrics *w = (struct metrics *)(uintptr_t)m;
    void *family;

    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; map_next(&w->families, &i, NULL, &family);)
        add_family(out, family);
    buf_addf(out,
             "# HELP pintle_metrics_dropped_total Series that were not made because there are too many.\n"
             "# TYPE pintle_metrics_dropped_total counter\npintle_metrics_dropped_total %llu\n",
             (unsigned long long)w->dropped);
    pthread_mutex_unlock(&w->lock);
}
