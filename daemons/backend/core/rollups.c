/* SPDX-License-Identifier: Apache-2.0 */
#include "rollups.h"

#include <stdlib.h>
#include <string.h>

enum { HOUR_MS = 3600000 };

/* The hours of a pass, with copies of the texts, as the store's are freed before an hour is
 * rolled. */
typedef struct hour_list {
    rollup_hour *items;
    size_t count;
} hour_list;

void rollups_init(rollups *r, const rollup_options *options)
{
    *r = (rollups){.options = *options};
    pthread_mutex_init(&r->lock, NULL);
}

void rollups_destroy(rollups *r)
{
    pthread_mutex_destroy(&r->lock);
}

static void free_key(const service_key *key)
{
    free((char *)(uintptr_t)key->cluster.data);
    free((char *)(uintptr_t)key->namespace_name.data);
    free((char *)(uintptr_t)key->workload.data);
}

static void free_hours(hour_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_key(&list->items[i].key);
    free(list->items);
}

static text copy_text(text from)
{
    char *data = malloc(from.length + 1);

    if (data != NULL && from.length > 0)
        memcpy(data, from.data, from.length);
    return (text){data, from.length};
}

static int keep_hour(void *context, const rollup_hour *hour)
{
    hour_list *list = context;
    rollup_hour *items = realloc(list->items, (list->count + 1) * sizeof(*items));

    if (items == NULL)
        return -1;
    list->items = items;
    rollup_hour *to = &items[list->count++];
    *to = *hour;
    to->key = (service_key){copy_text(hour->key.cluster), copy_text(hour->key.namespace_name),
                            copy_text(hour->key.workload)};
    return to->key.cluster.data != NULL && to->key.namespace_name.data != NULL &&
                   to->key.workload.data != NULL
               ? 0
               : -1;
}

/* Returns a generation that is greater than every earlier one, and different from one that another
 * backend makes at the same moment. */
static uint64_t next_generation(const rollup_options *o)
{
    return o->now_ms(o->clock) << 20 | (o->random(o->clock) & 0xfffff);
}

static void count_hour(rollups *r)
{
    pthread_mutex_lock(&r->lock);
    r->stats.hours++;
    r->stats.dirty -= r->stats.dirty > 0;
    pthread_mutex_unlock(&r->lock);
}

static int roll_all(rollups *r, const hour_list *list, store_error *err)
{
    const rollup_options *o = &r->options;
    int rc = 0;

    for (size_t i = 0; i < list->count && rc == 0; i++) {
        rc = o->ops->roll(o->self, &list->items[i], next_generation(o), err);
        if (rc == 0)
            count_hour(r);
    }
    return rc;
}

int rollups_pass(rollups *r, store_error *err)
{
    const rollup_options *o = &r->options;
    uint64_t now_ms = o->now_ms(o->clock), dirty = 0;
    uint64_t to_ms = now_ms > o->grace_ms ? (now_ms - o->grace_ms) / HOUR_MS * HOUR_MS : 0;
    uint64_t from_ms = now_ms > o->retention_ms ? now_ms - o->retention_ms : 0;
    hour_list list = {0};
    bool drifted = false;

    int rc = o->ops->find_dirty(o->self, from_ms, to_ms, o->hours, keep_hour, &list, &dirty, err);
    pthread_mutex_lock(&r->lock);
    if (rc == 0)
        r->stats.dirty = dirty;
    pthread_mutex_unlock(&r->lock);
    if (rc == 0)
        rc = roll_all(r, &list, err);
    if (rc == 0)
        rc = o->ops->verify(o->self, from_ms, to_ms, o->random(o->clock), &drifted, err);
    free_hours(&list);
    pthread_mutex_lock(&r->lock);
    r->stats.passes++;
    r->stats.failures += rc != 0;
    r->stats.drifted += drifted;
    if (rc == 0)
        r->stats.last_ms = o->now_ms(o->clock);
    pthread_mutex_unlock(&r->lock);
    return rc;
}

rollup_stats rollups_read(rollups *r)
{
    pthread_mutex_lock(&r->lock);
    rollup_stats stats = r->stats;
    pthread_mutex_unlock(&r->lock);
    return stats;
}
