/* SPDX-License-Identifier: Apache-2.0 */
/* Private to adapters/store: declarations that its files share. */
#ifndef BACKEND_CLICKHOUSE_IMPL_H
#define BACKEND_CLICKHOUSE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include <chsink/chsink.h>

#include "clickhouse.h"

enum { CONNECTIONS_MAX = 16 };

/* Connections of one kind; one thread at a time uses each. */
typedef struct connections {
    chs_transport *all[CONNECTIONS_MAX];
    bool taken[CONNECTIONS_MAX];
    uint32_t wait_ms; /* how long to wait for a free one */
} connections;

/* Rows of reports that wait to be written (write_reports.c). */
typedef struct gathered_reports gathered_reports;

struct clickhouse {
    clickhouse_options options;
    gathered_reports *reports;
    chs_transport *maintainer; /* for the schema until it is ready, then for the rollups' thread */
    atomic_bool ready;
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t returned;
    store_error problem; /* why the store is not ready */
    connections readers; /* read-only */
    connections writers;
};

/* Returns a connection for this thread; give it back with clickhouse__give. Waits for a free one,
 * at most the connections' wait_ms (STORE_ERR_BUSY). err->code is 0, or NULL is returned and err
 * filled. */
chs_transport *clickhouse__take(clickhouse *c, connections *from, store_error *err);
void clickhouse__give(clickhouse *c, connections *to, const chs_transport *one);

/* Returns 0 when the store is ready, else STORE_ERR_UNAVAILABLE with the reason. */
int clickhouse__check_ready(clickhouse *c, store_error *err);

/* A table whose rows expire, and the time column from which its retention counts. */
typedef struct kept_table {
    const char *name, *time;
} kept_table;

enum { KEPT_TABLES = 12 };
extern const kept_table clickhouse__kept[KEPT_TABLES];

/* The functions of the ports, by file. */
int clickhouse__find_batch(void *self, const uint8_t batch_id[16], ledger_entry *out,
                           store_error *err);
int clickhouse__find_stacks(void *self, const service_key *service, uint32_t day,
                            const uint8_t *const *ids, size_t count, bool *known, store_error *err);
int clickhouse__write_batch(void *self, const batch_write *write, store_error *err);
int clickhouse__read_services(void *self, const store_filter *filter, service_fn each,
                              void *context, store_error *err);
int clickhouse__read_types(void *self, const store_filter *filter, type_fn each, void *context,
                           store_error *err);
int clickhouse__read_pools(void *self, const store_filter *filter, pool_fn each, void *context,
                           store_error *err);
int clickhouse__read_sums(void *self, const store_filter *filter, sum_fn each, void *context,
                          store_error *err);
int clickhouse__read_timeline(void *self, const store_filter *filter, bucket_fn each, void *context,
                              store_error *err);
int clickhouse__read_fresh(void *self, const store_filter *filter, store_freshness *out,
                           store_error *err);
int clickhouse__read_sources(void *self, const store_filter *filter, source_fn each, void *context,
                             store_error *err);
int clickhouse__read_threads(void *self, thread_read what, const store_filter *filter,
                             thread_fn each, void *context, store_error *err);
int clickhouse__read_sightings(void *self, const store_filter *filter, sighting_fn each,
                               void *context, store_error *err);
int clickhouse__read_frames(void *self, const store_filter *filter, const uint8_t *const *ids,
                            size_t count, stack_fn each, void *context, store_error *err);
int clickhouse__read_targets(void *self, const store_filter *filter, target_fn each, void *context,
                             store_error *err);
int clickhouse__read_history(void *self, const store_filter *filter, target_fn each, void *context,
                             store_error *err);
int clickhouse__read_tables(void *self, stored_table_fn each, void *context, store_error *err);
extern const report_port clickhouse_reports;
extern const ingestion_port clickhouse_ingestion;

/* Returns NULL without memory. */
gathered_reports *clickhouse__gather(size_t most_bytes);
void clickhouse__gathered_free(gathered_reports *g);

#endif
