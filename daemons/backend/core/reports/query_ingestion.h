/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/reports/query_ingestion.h: shows whether the data can be trusted: the collectors and their
 * losses, the fate of their batches, and the content of the store. None of this belongs to a
 * service, so that a user whose scope names namespaces or workloads may not ask.
 */
#ifndef BACKEND_QUERY_INGESTION_H
#define BACKEND_QUERY_INGESTION_H

#include <catalogue/drop_cause.h>

#include "../copies.h"
#include "../query.h"

enum { COLLECTOR_CAUSES_MAX = 16 };

/* A collector's newest heartbeat in the range, and its drops in the range. */
typedef struct collector_entry {
    collector_row row;
    bool silent; /* it sent nothing for a while before the range's end */
    drop_row drops[COLLECTOR_CAUSES_MAX];
    size_t drop_count;
} collector_entry;

typedef struct collector_list {
    collector_entry *items;
    size_t count;
    copies texts;
} collector_list;

typedef struct ingestion_report {
    uint64_t bucket_ms;
    outcome_row *buckets; /* buckets that have a batch, by time */
    size_t bucket_count;
    outcome_row all; /* sums over the range */
    refused_row *refused;
    size_t refused_count;
    store_events events;
    uint64_t dropped; /* batches, as the collectors report them */
    uint64_t dropped_by[DROP_END];
    copies texts;
} ingestion_report;

/* filter->limit is the most collectors; meta says how many more there are. Free with
 * collector_list_free, also after a failure. */
query_code query_collectors(const query *q, const store_filter *filter, collector_list *out,
                            query_meta *meta, store_error *err);
void collector_list_free(collector_list *list);

/* filter->limit is the most rows of refused batches, filter->bucket_ms the length of a bucket. Free
 * with ingestion_report_free, also after a failure. */
query_code query_ingestion(const query *q, const store_filter *filter, ingestion_report *out,
                           query_meta *meta, store_error *err);
void ingestion_report_free(ingestion_report *report);

typedef struct retention_report {
    stored_table *tables;
    size_t count;
    copies texts;
} retention_report;

/* Reads the content of each table of the store, for all clusters and times; the filter is used for
 * meta only. Free with retention_report_free, also after a failure. */
query_code query_retention(const query *q, const store_filter *filter, retention_report *out,
                           query_meta *meta, store_error *err);
void retention_report_free(retention_report *report);

#endif
