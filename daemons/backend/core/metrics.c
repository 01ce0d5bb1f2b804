/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct metric {
    const char *name, *help, *label, *value;
    metric_kind kind;
    uint64_t number;
} metric;

struct metrics {
    pthread_mutex_t lock;
    size_t count;
    metric all[METRICS_MAX]; /* those of one name stand together */
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

static bool same_label(const metric *entry, const char *value)
{
    return (entry->value == NULL && value == NULL) ||
           (entry->value != NULL && value != NULL && strcmp(entry->value, value) == 0);
}

/* The metric, made behind the others of its name where it is new; NULL when there is no room. */
static metric *find(metrics *m, const metric *wanted)
{
    size_t place = m->count;

    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->all[i].name, wanted->name) != 0)
            continue;
        if (same_label(&m->all[i], wanted->value))
            return &m->all[i];
        place = i + 1;
    }
    if (m->count == METRICS_MAX)
        return NULL;
    memmove(&m->all[place + 1], &m->all[place], (m->count - place) * sizeof(m->all[0]));
    m->count++;
    m->all[place] = *wanted;
    return &m->all[place];
}

void metrics_add(metrics *m, const char *name, const char *help, const char *label,
                 const char *value, uint64_t amount)
{
    const metric wanted = {name, help, label, value, METRIC_COUNTER, 0};

    pthread_mutex_lock(&m->lock);
    metric *entry = find(m, &wanted);
    if (entry != NULL)
        entry->number += amount;
    pthread_mutex_unlock(&m->lock);
}

void metrics_set(metrics *m, metric_kind kind, const char *name, const char *help, uint64_t amount)
{
    const metric wanted = {name, help, NULL, NULL, kind, 0};

    pthread_mutex_lock(&m->lock);
    metric *entry = find(m, &wanted);
    if (entry != NULL)
        entry->number = amount;
    pthread_mutex_unlock(&m->lock);
}

static void write_metric(FILE *to, const metric *entry, bool first)
{
    if (first)
        fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", entry->name, entry->help, entry->name,
                entry->kind == METRIC_COUNTER ? "counter" : "gauge");
    if (entry->label != NULL)
        fprintf(to, "%s{%s=\"%s\"} %llu\n", entry->name, entry->label, entry->value,
                (unsigned long long)entry->number);
    else
        fprintf(to, "%s %llu\n", entry->name, (unsigned long long)entry->number);
}

char *metrics_text(metrics *m, size_t *length)
{
    char *out = NULL;
    FILE *to = open_memstream(&out, length);

    if (to == NULL)
        return NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->count; i++)
        write_metric(to, &m->all[i], i == 0 || strcmp(m->all[i].name, m->all[i - 1].name) != 0);
    pthread_mutex_unlock(&m->lock);
    if (fclose(to) != 0) {
        free(out);
        return NULL;
    }
    return out;
}
