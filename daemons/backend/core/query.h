/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/query.h: the use cases behind the query API (docs/reference/query-api.md). Thread rule: any
 * thread; each call uses only its arguments and the store's read port.
 */
#ifndef BACKEND_QUERY_H
#define BACKEND_QUERY_H

#include <stackagg/stackagg.h>

#include "stack_cache.h"
#include "store.h"

typedef struct query {
    store store;
    stack_cache *stacks; /* NULL: frames are read for every graph */
    uint64_t retention_ms;
    uint64_t silent_ms; /* a collector counts as silent after so long without a report */
    uint64_t (*now_ms)(void *clock); /* Unix time */
    void *clock;
} query;

typedef enum query_code {
    QUERY_OK,
    QUERY_FORBIDDEN,   /* outside the user's scope */
    QUERY_EXPIRED,     /* the whole range is older than retention */
    QUERY_NOT_FOUND,   /* no such service in the range */
    QUERY_UNAVAILABLE, /* the store is down or busy */
    QUERY_TIMEOUT,
    QUERY_FAILED
} query_code;

/* Figures about the data besides the answer; see meta in query-api.md. */
typedef struct query_meta {
    uint64_t from_ms, to_ms;
    uint64_t fresh_until_ms; /* 0: no window in the range */
    uint64_t fingerprint;    /* of the windows of the selection; it changes when their samples do */
    uint64_t rows_scanned;
    uint64_t nodes_omitted;
    bool truncated;
    bool missing_stacks;
    uint64_t asked_ms, recorded_ms, lost_windows; /* as store_freshness; 0 without a single type */
    unsigned reason;                              /* enum reason of the newest of lost_windows */
    uint64_t lost_events; /* lost before they were counted; 0 without a single type */
    uint64_t seen, cut, dropped, omitted; /* sums of values, in the type's unit */
    store_loss loss;                      /* batches of the range that were lost */
} query_meta;

/* Checks whether the query is allowed: QUERY_OK, QUERY_FORBIDDEN or QUERY_EXPIRED. A range that
 * begins before the retention is shortened, because the store may still have rows that have
 * expired. */
query_code query_check(const query *q, store_filter *filter);

/* Returns the first millisecond within the retention. */
uint64_t query_oldest_ms(const query *q);

/* ---- lists ---- */

enum { QUERY_TYPES_MAX = 16 };

typedef struct service_entry {
    char *cluster, *namespace_name, *workload;
    uint64_t targets;
    uint64_t last_seen_ms;
    struct {
        unsigned type;
        uint64_t raw_total, value_total;
    } types[QUERY_TYPES_MAX];
    size_t type_count;
} service_entry;

typedef struct service_list {
    service_entry *items;
    size_t count;
} service_list;

/* filter->limit is the most entries; meta says how many more there are. Free with
 * service_list_free, also after a failure. */
query_code query_services(const query *q, const store_filter *filter, service_list *out,
                          query_meta *meta, store_error *err);
void service_list_free(service_list *list);

/* The thread pools of a selection. */
typedef struct pool_list {
    char **names;
    size_t count;
} pool_list;

/* Reads the pools that were sampled, the most frequent first; those beyond filter->limit are added
 * to meta. Free with pool_list_free, also after a failure. */
query_code query_pools(const query *q, const store_filter *filter, pool_list *out, query_meta *meta,
                       store_error *err);
void pool_list_free(pool_list *list);

typedef struct target_entry {
    char *cluster, *namespace_name, *workload, *pod, *container, *node, *service;
    char *version, *jvm_version, *detail;
    uint64_t target, pid, state, reason, session, mode;
    uint64_t until_ms; /* end of a temporary mode; 0 = it is not temporary */
    uint64_t last_length_ms, last_covered_ms;
    uint64_t collector_ns; /* of the collector for the last window, plus 1; 0 = unknown */
    uint64_t since_ms;     /* of a history: the first of the equal observations */
    uint64_t started_ms, last_window_ms, observed_ms;
} target_entry;

typedef struct target_list {
    target_entry *items;
    size_t count;
} target_list;

/*
 * Reads the last verdict on each JVM of the range, and completes it: a JVM that is missing from its
 * collector's newer reports has exited, and one whose collector was silent up to the range's end
 * (or to now) is marked so.
 */
query_code query_targets(const query *q, const store_filter *filter, target_list *out,
                         query_meta *meta, store_error *err);
/* The same for callers that have called query_fresh. */
query_code query_judged_targets(const query *q, const store_filter *filter, target_list *out,
                                query_meta *meta, store_error *err);

/*
 * Reads the collector's reports on filter->target in the range, newest first. Equal reports without
 * a silence between them make one entry. Unlike in query_targets, the entries are not completed.
 */
query_code query_target_history(const query *q, const store_filter *filter, target_list *out,
                                query_meta *meta, store_error *err);
void target_list_free(target_list *list);

/* ---- profiles ---- */

/* All stacks of a selection, summed. */
typedef struct profile {
    sagg *stacks;
} profile;

/* filter must have namespace, workload and type, and query_fresh must have filled meta. Free with
 * profile_free, also after a failure. */
query_code query_profile(const query *q, const store_filter *filter, profile *out, query_meta *meta,
                         store_error *err);
void profile_free(profile *p);

/* Makes a flame tree of at most `nodes` nodes; adds the value of omitted nodes to meta. NULL: no
 * memory. Free it with sagg_tree_free. */
sagg_tree *profile_tree(const profile *p, unsigned type, bool lines, uint32_t nodes,
                        query_meta *meta);

/* One row of the top table; texts are borrowed from the profile. */
typedef struct top_row {
    sagg_frame frame; /* its line is 0 unless lines are told apart */
    uint64_t self, total;
} top_row;

typedef struct top_table {
    top_row *rows;
    size_t count;
} top_table;

/* Makes the table from all stacks, with at most `limit` rows; adds the omitted rows to meta.
 * Returns 0, or -1: no memory. */
int profile_top(const profile *p, bool lines, size_t limit, top_table *out, query_meta *meta);
void top_table_free(top_table *table);

/* A type's value over time: the range from its begin on, in buckets of filter->bucket_ms. */
typedef struct timeline {
    uint64_t *values; /* one per bucket, in the type's unit */
    bool *recorded;   /* whether a window reaches the bucket that recorded something */
    size_t count;
} timeline;

/* filter must have namespace, workload, type and bucket_ms; adds the values to meta. Free with
 * timeline_free, also after a failure. */
query_code query_timeline(const query *q, const store_filter *filter, timeline *out,
                          query_meta *meta, store_error *err);
void timeline_free(timeline *t);

/* Fills the members of meta about the windows of a selection. */
query_code query_fresh(const query *q, const store_filter *filter, query_meta *meta,
                       store_error *err);

/* ---- shared inside the core ---- */
query_code query_code_of(int store_code);

/* Reads frames from the cache, and the others from the store. */
int query_frames(const query *q, const store_filter *filter, const uint8_t *const *ids,
                 size_t count, stack_fn each, void *context, store_error *err);

#endif
