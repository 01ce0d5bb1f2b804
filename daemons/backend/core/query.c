/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <stdlib.h>

#include "ingest.h"

query_code query_code_of(int store_code)
{
    switch (store_code) {
    case STORE_OK:
        return QUERY_OK;
    case STORE_ERR_TIMEOUT:
        return QUERY_TIMEOUT;
    case STORE_ERR_FAILED:
        return QUERY_FAILED;
    default:
        return QUERY_UNAVAILABLE;
    }
}

static bool allows(const char *const *list, size_t count, const char *value)
{
    return value == NULL || scope_allows(list, count, text_of(value));
}

uint64_t query_oldest_ms(const query *q)
{
    uint64_t now_ms = q->now_ms(q->clock);

    /* The store keeps whole days. */
    return now_ms < q->retention_ms ? 0 : (now_ms - q->retention_ms) / DAY_MS * DAY_MS + DAY_MS;
}

query_code query_check(const query *q, store_filter *f)
{
    const scope *s = f->scope;
    uint64_t oldest_ms = query_oldest_ms(q);

    if (!allows(s->clusters, s->cluster_count, f->cluster) ||
        !allows(s->namespaces, s->namespace_count, f->namespace_name) ||
        !allows(s->workloads, s->workload_count, f->workload))
        return QUERY_FORBIDDEN;
    if (f->to_ms <= oldest_ms)
        return QUERY_EXPIRED;
    f->from_ms = f->from_ms > oldest_ms ? f->from_ms : oldest_ms;
    return QUERY_OK;
}

query_code query_fresh(const query *q, const store_filter *filter, query_meta *meta,
                       store_error *err)
{
    meta->from_ms = filter->from_ms;
    meta->to_ms = filter->to_ms;
    store_freshness fresh = {0};
    query_code code =
        query_code_of(q->store.profiles->read_fresh(q->store.self, filter, &fresh, err));
    if (code == QUERY_OK)
        code =
            query_code_of(q->store.ingestion->read_loss(q->store.self, filter, &meta->loss, err));
    meta->fresh_until_ms = fresh.until_ms;
    meta->fingerprint = fresh.fingerprint;
    if (filter->type != 0) {
        meta->lost_events = fresh.lost_events;
        meta->asked_ms = fresh.asked_ms;
        meta->recorded_ms = fresh.recorded_ms;
        meta->lost_windows = fresh.lost_windows;
        meta->reason = (unsigned)fresh.reason;
    }
    return code;
}

/* ---- frames ---- */

typedef struct frame_reader {
    stack_cache *cache;
    stack_fn each;
    void *context;
} frame_reader;

static int keep_and_give(void *context, const stack_row *row)
{
    const frame_reader *r = context;

    stack_cache_put(r->cache, row);
    return r->each(r->context, row);
}

int query_frames(const query *q, const store_filter *filter, const uint8_t *const *ids,
                 size_t count, stack_fn each, void *context, store_error *err)
{
    const uint8_t **missing = malloc((count + 1) * sizeof(*missing));
    frame_reader r = {q->stacks, each, context};
    size_t missing_count = 0;
    int rc = missing != NULL ? 0 : STORE_ERR_BUSY;

    for (size_t i = 0; i < count && rc == 0; i++) {
        bool found;
        rc = stack_cache_give(q->stacks, ids[i], each, context, &found);
        if (!found && missing != NULL)
            missing[missing_count++] = ids[i];
    }
    if (rc == 0 && missing_count > 0)
        rc = q->store.profiles->read_frames(q->store.self, filter, missing, missing_count,
                                            keep_and_give, &r, err);
    free(missing);
    return rc;
}
