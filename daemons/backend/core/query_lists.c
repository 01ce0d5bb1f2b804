/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <catalogue/reason.h>
#include <catalogue/state.h>

#include "query.h"

/* Most rows that are read, so that meta can say how many of them a list leaves out. */
static const uint64_t LIST_MAX = 20000;

static char *copy_text(text value)
{
    char *out = malloc(value.length + 1);

    if (out == NULL)
        return NULL;
    if (value.length > 0)
        memcpy(out, value.data, value.length);
    out[value.length] = '\0';
    return out;
}

/* Makes room for one more item; NULL when there is no memory. Doubles the room at powers of two. */
static void *grow(void *items, size_t count, size_t item_size)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return items;
    return realloc(items, (count == 0 ? 1 : 2 * count) * item_size);
}

/* ---- services ---- */

typedef struct service_reader {
    service_list *list;
    size_t limit;
    size_t total;
    size_t cursor; /* the current row of the types, which have the same order */
} service_reader;

static int on_service(void *context, const service_row *row)
{
    service_reader *r = context;
    service_list *list = r->list;

    if (r->total++ >= r->limit)
        return 0;
    service_entry *items = grow(list->items, list->count, sizeof(*items));
    if (items == NULL)
        return -1;
    list->items = items;
    service_entry *entry = &items[list->count++];
    memset(entry, 0, sizeof(*entry));
    entry->cluster = copy_text(row->key.cluster);
    entry->namespace_name = copy_text(row->key.namespace_name);
    entry->workload = copy_text(row->key.workload);
    entry->targets = row->targets;
    entry->last_seen_ms = row->last_seen_ms;
    return entry->cluster != NULL && entry->namespace_name != NULL && entry->workload != NULL ? 0
                                                                                              : -1;
}

static int compare_text(const char *a, text b)
{
    size_t length = strlen(a);
    size_t shorter = length < b.length ? length : b.length;
    int order = shorter > 0 ? memcmp(a, b.data, shorter) : 0;

    if (order != 0)
        return order;
    return length < b.length ? -1 : length > b.length;
}

static int compare_key(const service_entry *entry, const service_key *key)
{
    int order = compare_text(entry->cluster, key->cluster);

    if (order == 0)
        order = compare_text(entry->namespace_name, key->namespace_name);
    return order != 0 ? order : compare_text(entry->workload, key->workload);
}

static int on_type(void *context, const type_row *row)
{
    service_reader *r = context;
    service_list *list = r->list;

    while (r->cursor < list->count && compare_key(&list->items[r->cursor], &row->key) < 0)
        r->cursor++;
    if (r->cursor == list->count || compare_key(&list->items[r->cursor], &row->key) != 0)
        return 0;
    service_entry *entry = &list->items[r->cursor];
    if (entry->type_count < QUERY_TYPES_MAX) {
        entry->types[entry->type_count].type = row->type;
        entry->types[entry->type_count].raw_total = row->raw_total;
        entry->types[entry->type_count++].value_total = row->value_total;
    }
    return 0;
}

query_code query_services(const query *q, const store_filter *filter, service_list *out,
                          query_meta *meta, store_error *err)
{
    service_reader r = {.list = out, .limit = (size_t)filter->limit};
    store_filter wide = *filter;

    wide.limit = LIST_MAX;
    query_code code = query_fresh(q, filter, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(
            q->store.profiles->read_services(q->store.self, &wide, on_service, &r, err));
    if (code == QUERY_OK)
        code = query_code_of(q->store.profiles->read_types(q->store.self, &wide, on_type, &r, err));
    meta->rows_scanned = r.total;
    meta->nodes_omitted = r.total - out->count;
    return code;
}

void service_list_free(service_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].cluster);
        free(list->items[i].namespace_name);
        free(list->items[i].workload);
    }
    free(list->items);
    *list = (service_list){NULL, 0};
}

/* ---- pools ---- */

typedef struct pool_reader {
    pool_list *list;
    size_t limit, total;
} pool_reader;

static int on_pool(void *context, const pool_row *row)
{
    pool_reader *r = context;

    if (r->total++ >= r->limit)
        return 0;
    char **names = grow(r->list->names, r->list->count, sizeof(*names));
    if (names == NULL)
        return -1;
    r->list->names = names;
    names[r->list->count] = copy_text(row->pool);
    return names[r->list->count++] != NULL ? 0 : -1;
}

query_code query_pools(const query *q, const store_filter *filter, pool_list *out, query_meta *meta,
                       store_error *err)
{
    pool_reader r = {.list = out, .limit = (size_t)filter->limit};
    store_filter wide = *filter;

    wide.limit = LIST_MAX;
    query_code code =
        query_code_of(q->store.profiles->read_pools(q->store.self, &wide, on_pool, &r, err));
    meta->rows_scanned += r.total;
    meta->nodes_omitted += r.total - out->count;
    return code;
}

void pool_list_free(pool_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (pool_list){NULL, 0};
}

/* ---- targets ---- */

/* All JVMs of a report have the same time; a report that is newer by this much does not contain the
 * JVM. */
static const uint64_t SAME_REPORT_MS = 1000;

typedef struct target_reader {
    target_list *list;
    uint64_t silent_before_ms;
    size_t limit;
    size_t total;
} target_reader;

static bool copy_target(target_entry *entry, const target_row *row)
{
    *entry = (target_entry){
        .cluster = copy_text(row->key.cluster),
        .namespace_name = copy_text(row->key.namespace_name),
        .workload = copy_text(row->key.workload),
        .pod = copy_text(row->pod),
        .container = copy_text(row->container),
        .node = copy_text(row->node),
        .service = copy_text(row->service),
        .version = copy_text(row->version),
        .jvm_version = copy_text(row->jvm_version),
        .detail = copy_text(row->detail),
        .target = row->target,
        .pid = row->pid,
        .state = row->state,
        .reason = row->reason,
        .session = row->session,
        .mode = row->mode,
        .until_ms = row->until_ms,
        .last_length_ms = row->last_length_ms,
        .last_covered_ms = row->last_covered_ms,
        .collector_ns = row->collector_ns,
        .started_ms = row->started_ms,
        .last_window_ms = row->last_window_ms,
        .observed_ms = row->observed_ms,
    };
    return entry->cluster != NULL && entry->namespace_name != NULL && entry->workload != NULL &&
           entry->pod != NULL && entry->container != NULL && entry->node != NULL &&
           entry->service != NULL && entry->version != NULL && entry->jvm_version != NULL &&
           entry->detail != NULL;
}

/* Completes a JVM's last row: whether the JVM has exited, or its collector is silent. */
static void judge(const target_reader *r, target_entry *entry, const target_row *row)
{
    if (row->state == TARGET_STATE_EXITED)
        return;
    if (row->reported_ms > row->observed_ms + SAME_REPORT_MS) {
        entry->state = TARGET_STATE_EXITED;
        entry->reason = REASON_PROCESS_EXITED;
        entry->session = SESSION_STATE_NONE;
    } else if (row->reported_ms < r->silent_before_ms) {
        entry->state = TARGET_STATE_FAILED;
        entry->reason = REASON_COLLECTOR_SILENT;
        entry->session = SESSION_STATE_UNKNOWN;
    } else {
        return;
    }
    /* The detail belongs to the verdict that no longer applies. */
    entry->detail[0] = '\0';
}

static target_entry *add_target(target_list *list, const target_row *row)
{
    target_entry *items = grow(list->items, list->count, sizeof(*items));

    if (items == NULL)
        return NULL;
    list->items = items;
    target_entry *entry = &items[list->count++];
    return copy_target(entry, row) ? entry : NULL;
}

static int on_target(void *context, const target_row *row)
{
    target_reader *r = context;

    if (r->total++ >= r->limit)
        return 0;
    target_entry *entry = add_target(r->list, row);
    if (entry == NULL)
        return -1;
    judge(r, entry, row);
    return 0;
}

query_code query_judged_targets(const query *q, const store_filter *filter, target_list *out,
                                query_meta *meta, store_error *err)
{
    uint64_t now_ms = q->now_ms(q->clock);
    uint64_t end_ms = filter->to_ms < now_ms ? filter->to_ms : now_ms;
    target_reader r = {.list = out,
                       .limit = (size_t)filter->limit,
                       .silent_before_ms = end_ms > q->silent_ms ? end_ms - q->silent_ms : 0};
    store_filter wide = *filter;

    wide.limit = LIST_MAX;
    query_code code =
        query_code_of(q->store.status->read_targets(q->store.self, &wide, on_target, &r, err));
    meta->rows_scanned += r.total;
    meta->nodes_omitted += r.total - out->count;
    return code;
}

query_code query_targets(const query *q, const store_filter *filter, target_list *out,
                         query_meta *meta, store_error *err)
{
    query_code code = query_fresh(q, filter, meta, err);

    return code == QUERY_OK ? query_judged_targets(q, filter, out, meta, err) : code;
}

/* ---- history of one target ---- */

/* Most observations that are read: enough for a week with one every 30 s and many changes. */
static const uint64_t HISTORY_MAX = 100000;

typedef struct history_reader {
    target_list *list;
    target_list last; /* the entry that a row may continue, even if the list is full */
    uint64_t seen_ms; /* time of the row before */
    uint64_t silent_ms;
    size_t limit, rows, entries;
} history_reader;

static bool continues(const history_reader *r, const target_row *row)
{
    const target_entry *last = r->last.items;

    return r->last.count > 0 && r->seen_ms - row->observed_ms <= r->silent_ms &&
           last->state == row->state && last->reason == row->reason &&
           last->session == row->session && last->mode == row->mode &&
           last->until_ms == row->until_ms && text_equal(row->detail, text_of(last->detail));
}

static int on_observation(void *context, const target_row *row)
{
    history_reader *r = context;
    bool same = continues(r, row);

    r->rows++;
    r->seen_ms = row->observed_ms;
    if (!same) {
        r->entries++;
        target_list_free(&r->last);
        if (add_target(&r->last, row) == NULL ||
            (r->entries <= r->limit && add_target(r->list, row) == NULL))
            return -1;
    }
    if (r->entries <= r->limit)
        r->list->items[r->list->count - 1].since_ms = row->observed_ms;
    return 0;
}

query_code query_target_history(const query *q, const store_filter *filter, target_list *out,
                                query_meta *meta, store_error *err)
{
    history_reader r = {.list = out, .limit = (size_t)filter->limit, .silent_ms = q->silent_ms};
    store_filter wide = *filter;

    wide.limit = HISTORY_MAX;
    query_code code =
        query_code_of(q->store.status->read_history(q->store.self, &wide, on_observation, &r, err));
    target_list_free(&r.last);
    meta->rows_scanned += r.rows;
    meta->nodes_omitted += r.entries - out->count;
    return code;
}

void target_list_free(target_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        target_entry *entry = &list->items[i];
        free(entry->cluster);
        free(entry->namespace_name);
        free(entry->workload);
        free(entry->pod);
        free(entry->container);
        free(entry->node);
        free(entry->service);
        free(entry->version);
        free(entry->jvm_version);
        free(entry->detail);
    }
    free(list->items);
    *list = (target_list){NULL, 0};
}
