/* SPDX-License-Identifier: Apache-2.0 */
/* The report port: collects rows in blocks, and writes one block per table at a time. */
#include <stdlib.h>

#include "read.h"
#include "sql.h"
#include "write_ledger.h"
#include "write_reports.h"

/* The block of one table that receives rows, and the block that is being written. */
typedef struct gathering {
    table adding, writing;
    bool is_adding, is_writing;
    size_t bytes, written_bytes; /* of the two blocks */
} gathering;

typedef enum report_kind { REPORT_STATUS, REPORT_HEARTBEAT, REPORT_KINDS } report_kind;

struct gathered_reports {
    pthread_mutex_t lock;
    gathering of[REPORT_KINDS];
    size_t most_bytes;
};

static const struct {
    int (*begin)(table *t, store_error *err);
    void (*put)(table *t, const void *report);
    size_t (*weigh)(const void *report);
} kinds[REPORT_KINDS] = {
    [REPORT_STATUS] = {clickhouse__begin_status, clickhouse__put_status, clickhouse__weigh_status},
    [REPORT_HEARTBEAT] = {clickhouse__begin_heartbeat, clickhouse__put_heartbeat,
                          clickhouse__weigh_heartbeat},
};

gathered_reports *clickhouse__gather(size_t most_bytes)
{
    gathered_reports *g = calloc(1, sizeof(*g));

    if (g == NULL)
        return NULL;
    pthread_mutex_init(&g->lock, NULL);
    g->most_bytes = most_bytes;
    return g;
}

void clickhouse__gathered_free(gathered_reports *g)
{
    if (g == NULL)
        return;
    for (report_kind kind = 0; kind < REPORT_KINDS; kind++) {
        if (g->of[kind].is_adding)
            table_end(&g->of[kind].adding);
        if (g->of[kind].is_writing)
            table_end(&g->of[kind].writing);
    }
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static size_t held_bytes(const gathered_reports *g)
{
    size_t bytes = 0;

    for (report_kind kind = 0; kind < REPORT_KINDS; kind++)
        bytes += g->of[kind].bytes + g->of[kind].written_bytes;
    return bytes;
}

/* With the lock held. */
static int add_rows(gathered_reports *g, report_kind kind, const void *report, size_t bytes,
                    store_error *err)
{
    gathering *to = &g->of[kind];

    if (bytes > g->most_bytes)
        return sql_fail(err, STORE_ERR_FAILED,
                        "The report takes %zu bytes in memory; ingest.report_bytes allows %zu.",
                        bytes, g->most_bytes);
    if (held_bytes(g) + bytes > g->most_bytes)
        return sql_fail(err, STORE_ERR_BUSY,
                        "The reports that wait for the store take all of ingest.report_bytes.");
    if (!to->is_adding && kinds[kind].begin(&to->adding, err) != 0)
        return err->code;
    to->is_adding = true;
    to->bytes += bytes;
    kinds[kind].put(&to->adding, report);
    return 0;
}

static int add_report(clickhouse *c, report_kind kind, const void *report, store_error *err)
{
    size_t bytes = kinds[kind].weigh(report);

    pthread_mutex_lock(&c->reports->lock);
    int rc = add_rows(c->reports, kind, report, bytes, err);
    pthread_mutex_unlock(&c->reports->lock);
    return rc;
}

static int add_status(void *self, const status_batch *report, store_error *err)
{
    return add_report(self, REPORT_STATUS, report, err);
}

static int add_heartbeat(void *self, const heartbeat *beat, uint64_t received_ms, store_error *err)
{
    const heartbeat_row row = {beat, received_ms};

    return add_report(self, REPORT_HEARTBEAT, &row, err);
}

/* ---- writing ---- */

/* Makes the collected rows the ones to write, unless earlier ones could not be written yet. */
static void begin_writing(gathered_reports *g)
{
    pthread_mutex_lock(&g->lock);
    for (report_kind kind = 0; kind < REPORT_KINDS; kind++) {
        gathering *one = &g->of[kind];
        if (one->is_writing || !one->is_adding)
            continue;
        one->writing = one->adding;
        one->written_bytes = one->bytes;
        one->is_writing = true;
        one->is_adding = false;
        one->bytes = 0;
    }
    pthread_mutex_unlock(&g->lock);
}

static void end_writing(gathered_reports *g, gathering *one)
{
    table_end(&one->writing);
    pthread_mutex_lock(&g->lock);
    one->is_writing = false;
    one->written_bytes = 0;
    pthread_mutex_unlock(&g->lock);
}

/* Writes a block, and drops one that the store will never accept, as it would block all others. */
static int write_kind(gathered_reports *g, gathering *one, chs_transport *to, store_error *err)
{
    if (!one->is_writing)
        return 0;
    int rc = table_insert(&one->writing, to, (table_token){.by_content = true}, err);
    if (rc == 0 || rc == STORE_ERR_FAILED)
        end_writing(g, one);
    return rc;
}

static int flush(void *self, const refusal *refused, size_t count, store_error *err)
{
    clickhouse *c = self;

    begin_writing(c->reports);
    if (count == 0 && !c->reports->of[REPORT_STATUS].is_writing &&
        !c->reports->of[REPORT_HEARTBEAT].is_writing)
        return 0;
    chs_transport *to = clickhouse__take(c, &c->writers, err);
    if (to == NULL)
        return err->code;
    int rc = clickhouse__write_refused(to, refused, count, err);
    for (report_kind kind = 0; kind < REPORT_KINDS && rc == 0; kind++)
        rc = write_kind(c->reports, &c->reports->of[kind], to, err);
    clickhouse__give(c, &c->writers, to);
    return rc;
}

static int count_collectors(void *self, uint64_t since_ms, uint64_t *count, store_error *err)
{
    clickhouse *c = self;
    chs_transport *to = clickhouse__take(c, &c->writers, err);
    statement s;

    if (to == NULL)
        return err->code;
    sql_begin(&s);
    sql_add(&s, "SELECT uniqExact(cluster, instance) AS found FROM collector_heartbeats WHERE "
                "received >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')");
    sql_number(&s, "since", since_ms);
    int rc = sql_query(&s, to, 0, read_found, count, err);
    sql_end(&s);
    clickhouse__give(c, &c->writers, to);
    return rc;
}

const report_port clickhouse_reports = {add_status, add_heartbeat, flush, count_collectors};
