/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/store/clickhouse.h: the store's ports over libchsink, for the embedded engine or a
 * server.
 *
 * Connections: `writers` for the writer's threads, one for the rollups' thread, and `readers` for
 * queries, read-only; one thread at a time uses each.
 *
 * Durability: when write_batch has returned 0, all its rows are in files of the engine. They
 * survive a kill of this process (the kernel has the pages). They survive a crash of the machine
 * only if the file system has written them back (about 30 s), as in every ClickHouse table with the
 * default fsync_after_insert = 0.
 */
#ifndef BACKEND_CLICKHOUSE_H
#define BACKEND_CLICKHOUSE_H

#include <stdbool.h>

#include "metrics/metrics.h"
#include "rollups.h"
#include "store.h"

typedef struct clickhouse clickhouse;

/* The strings must live as long as the store. */
typedef struct clickhouse_options {
    const char *url;      /* NULL: the embedded engine */
    const char *user;     /* NULL: none */
    const char *password; /* NULL: none */
    const char *ca_file;  /* NULL: the system's certificates */
    const char *database;
    const char *library; /* embedded: libchdb.so; NULL: libchsink searches it */
    const char *path;    /* embedded: the data directory */
    uint64_t memory;     /* embedded: max_server_memory_usage */
    unsigned retention_days;
    unsigned readers, writers; /* number of connections, at most 16 each */
    uint32_t query_ms;         /* time limit of one read */
    size_t report_bytes;       /* most bytes of reports that wait to be written */
    uint32_t call_ms; /* time limit of a writer's call; after it the store counts as unavailable */
    metrics *metrics; /* receives durations and figures */
} clickhouse_options;

/*
 * Opens the connections. The embedded engine must start now; a server may be down. Returns 0 or a
 * STORE_ERR_ code. Close with clickhouse_close.
 */
int clickhouse_open(clickhouse **out, const clickhouse_options *options, store_error *err);
void clickhouse_close(clickhouse *store);

/* Sets the metrics of the tables' sizes and ages; only on the rollups' thread. Returns 0 or a
 * STORE_ERR_ code. */
int clickhouse_figures(clickhouse *store, store_error *err);

/*
 * Migrates the store to our schema if that has not been done; only on the writer's thread. Until it
 * has succeeded once, every call returns STORE_ERR_UNAVAILABLE with its message.
 */
int clickhouse_prepare(clickhouse *store, store_error *err);

/* Whether clickhouse_prepare has succeeded. Any thread. */
bool clickhouse_is_ready(const clickhouse *store);

/* Returns the ports of an open store. */
store clickhouse_ports(clickhouse *store);
/* The rollups' functions; their self is the store. One thread at a time. */
extern const rollup_ops clickhouse_rollups;

#endif
