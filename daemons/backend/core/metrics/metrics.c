/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper bounds of a histogram's buckets, in milliseconds; a last bucket has none. */
static const uint64_t bounds_ms[] = {5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000};
enum { BOUNDS = sizeof(bounds_ms) / sizeof(bounds_ms[0]), NS_PER_MS = 1000000 };

/* One combination of a family's labels. */
typedef struct series {
    metric_id id;
    const char *values[METRIC_LABELS_MAX];
    uint64_t number; /* of a histogram: the sum of all durations in nanoseconds */
    uint64_t buckets[BOUNDS + 1];
} series;

struct metrics {
    pthread_mutex_t lock;
    size_t count;
    series all[METRICS_MAX];
};

metrics *metrics_new(void)
{
    metrics *m = calloc(1, sizeof(*m));

    if (m != NULL)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_free(metrics *m)
{
    if (m == NULL)
        return;
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Returns the series, which is added if it is new; NULL when there is no room. With the lock
 * held. */
static series *find(metrics *m, metric_id id, const char *first, const char *second)
{
    for (size_t i = 0; i < m->count; i++) {
        series *s = &m->all[i];
        if (s->id == id && same(s->values[0], first) && same(s->values[1], second))
            return s;
    }
    if (m->count == METRICS_MAX)
        return NULL;
    m->all[m->count] = (series){.id = id, .values = {first, second}};
    return &m->all[m->count++];
}

void metrics_add(metrics *m, metric_id id, const char *first, const char *second, uint64_t amount)
{
    pthread_mutex_lock(&m->lock);
    series *s = find(m, id, first, second);
    if (s != NULL)
        s->number += amount;
    pthread_mutex_unlock(&m->lock);
}

void metrics_set(metrics *m, metric_id id, const char *first, uint64_t amount)
{
    pthread_mutex_lock(&m->lock);
    series *s = find(m, id, first, NULL);
    if (s != NULL)
        s->number = amount;
    pthread_mutex_unlock(&m->lock);
}

void metrics_observe(metrics *m, metric_id id, const char *first, uint64_t ns)
{
    size_t bucket = 0;

    while (bucket < BOUNDS && ns > bounds_ms[bucket] * NS_PER_MS)
        bucket++;
    pthread_mutex_lock(&m->lock);
    series *s = find(m, id, first, NULL);
    if (s != NULL) {
        s->number += ns;
        s->buckets[bucket]++;
    }
    pthread_mutex_unlock(&m->lock);
}

/* Writes the labels of a series and, unless it is NULL, a histogram's bound: {a="b",le="1"}. */
static void write_labels(FILE *to, const series *s, const char *bound)
{
    const metric_family *family = &metric_families[s->id];
    const char *before = "{";

    for (size_t i = 0; i < METRIC_LABELS_MAX && family->labels[i] != NULL; i++) {
        fprintf(to, "%s%s=\"%s\"", before, family->labels[i], s->values[i]);
        before = ",";
    }
    if (bound != NULL) {
        fprintf(to, "%sle=\"%s\"", before, bound);
        before = ",";
    }
    if (before[0] == ',')
        fputs("}", to);
}

static void write_sample(FILE *to, const series *s, const char *suffix, const char *bound,
                         uint64_t number)
{
    fprintf(to, "%s%s", metric_families[s->id].name, suffix);
    write_labels(to, s, bound);
    fprintf(to, " %llu\n", (unsigned long long)number);
}

static void write_histogram(FILE *to, const series *s)
{
    uint64_t so_far = 0;
    char bound[24];

    for (size_t i = 0; i < BOUNDS; i++) {
        so_far += s->buckets[i];
        snprintf(bound, sizeof(bound), "%g", (double)bounds_ms[i] / 1000);
        write_sample(to, s, "_bucket", bound, so_far);
    }
    so_far += s->buckets[BOUNDS];
    write_sample(to, s, "_bucket", "+Inf", so_far);
    fprintf(to, "%s_sum", metric_families[s->id].name);
    write_labels(to, s, NULL);
    fprintf(to, " %.9f\n", (double)s->number / 1e9);
    write_sample(to, s, "_count", NULL, so_far);
}

static void write_family(FILE *to, const metrics *m, metric_id id)
{
    static const char *const kinds[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    const metric_family *family = &metric_families[id];
    bool first = true;

    for (size_t i = 0; i < m->count; i++) {
        const series *s = &m->all[i];
        if (s->id != id)
            continue;
        if (first)
            fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
                    kinds[family->kind]);
        first = false;
        if (family->kind == METRIC_HISTOGRAM)
            write_histogram(to, s);
        else
            write_sample(to, s, "", NULL, s->number);
    }
}

char *metrics_text(metrics *m, size_t *length)
{
    char *out = NULL;
    FILE *to = open_memstream(&out, length);

    if (to == NULL)
        return NULL;
    pthread_mutex_lock(&m->lock);
    for (metric_id id = 0; id < METRICS; id++)
        write_family(to, m, id);
    pthread_mutex_unlock(&m->lock);
    if (fclose(to) != 0) {
        free(out);
        return NULL;
    }
    return out;
}
