/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/store/clickhouse.h: the store port over libchsink, to the embedded engine or a server.
 *
 * Connections: `writers` for the writer's threads, one for the rollups' thread, and `readers` for
 * queries, read-only; each is used by one thread at a time.
 *
 * What is promised: when write_batch has returned 0, all its rows are in files of the engine. They
 * outlive a kill of this process (the kernel holds the pages). They outlive a crash of the machine
 * only as far as the file system's own write-back has come (about 30 s), as with every ClickHouse
 * table whose fsync_after_insert is off, the default.
 */
#ifndef BACKEND_CLICKHOUSE_H
#define BACKEND_CLICKHOUSE_H

#include <stdbool.h>

#include "metrics/metrics.h"
#include "rollups.h"
#include "store.h"

typedef struct clickhouse clickhouse;

/* Strings are borrowed for the life of the store. */
typedef struct clickhouse_options {
    const char *url;      /* NULL: the embedded engine */
    const char *user;     /* NULL: none */
    const char *password; /* NULL: none */
    const char *ca_file;  /* NULL: the system's */
    const char *database;
    const char *library; /* embedded: libchdb.so; NULL: found by libchsink */
    const char *path;    /* embedded: the data directory */
    uint64_t memory;     /* embedded: max_server_memory_usage */
    unsigned retention_days;
    unsigned readers, writers; /* connections, 16 at most each */
    uint32_t query_ms;         /* budget of one read */
    size_t report_bytes;       /* most that reports waiting to be written take */
    uint32_t call_ms;          /* of a writer's call, after which the store counts as away */
    metrics *metrics;          /* where durations and figures go */
} clickhouse_options;

/*
 * Opens the connections. The embedded engine must start now, or this fails; a server may be down.
 * 0 or a STORE_ERR_ code. Close with clickhouse_close.
 */
int clickhouse_open(clickhouse **out, const clickhouse_options *options, store_error *err);
void clickhouse_close(clickhouse *store);

/* Sets the metrics of the tables' sizes and ages; on the rollups' thread only. 0 or a STORE_ERR_
 * code. */
int clickhouse_figures(clickhouse *store, store_error *err);

/*
 * Brings the store to our schema if that is not done yet; on the writer's thread only. Until it has
 * succeeded once, every call answers STORE_ERR_UNAVAILABLE with what it said.
 */
int clickhouse_prepare(clickhouse *store, store_error *err);

/* True once clickhouse_prepare has succeeded. Any thread. */
bool clickhouse_is_ready(const clickhouse *store);

/* The ports of an open store. */
store clickhouse_ports(clickhouse *store);
/* Its functions take the store, on one thread at a time. */
extern const rollup_ops clickhouse_rollups;

#endif
