/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the files that write a batch's tables. */
#ifndef BACKEND_WRITE_IMPL_H
#define BACKEND_WRITE_IMPL_H

#include <string.h>

#include "table.h"

#define LOW    "LowCardinality(String)"
#define MOMENT "DateTime64(3, 'UTC')"
#define KEY                                                                                        \
    {"cluster", LOW}, {"namespace", LOW},                                                          \
    {                                                                                              \
        "workload", LOW                                                                            \
    }

static inline text string_of(const profile_batch *b, const u32s *column, uint32_t row)
{
    return string_at(&b->strings, column->at[row]);
}

/* Appends the service of a target to `rows` rows. */
static inline void put_service(table *t, const profile_batch *b, uint32_t target, size_t rows)
{
    table_put_text_times(t, b->collector.cluster, rows);
    table_put_text_times(t, string_of(b, &b->targets.namespace_name, target), rows);
    table_put_text_times(t, string_of(b, &b->targets.workload, target), rows);
}

static inline int insert_table(table *t, chs_transport *to, const batch_write *w, bool by_content,
                               store_error *err)
{
    const table_token token = {(const uint8_t *)w->batch->batch_id.data, by_content,
                               w->token_number};

    return table_insert(t, to, token, err);
}

/* The tables of a batch, in the order in which they are written. */
typedef enum batch_table {
    TABLE_STACKS,
    TABLE_THREADS,
    TABLE_SAMPLES,
    TABLE_WINDOWS, /* after their samples: a reader that sees a window finds its samples */
    TABLE_SNAPSHOTS,
    TABLE_DEADLOCKS,
    TABLE_RUNS, /* last: a reader that sees a run finds its rows */
    TABLE_LEDGER,
    TABLES
} batch_table;

/* Returns a number that distinguishes a batch from others with windows of the same JVM, source and
 * time. */
static inline uint32_t batch_mark(const profile_batch *b)
{
    uint32_t mark;

    memcpy(&mark, b->batch_id.data, sizeof(mark));
    return mark;
}

typedef enum block_state {
    BLOCK_NOT_ASKED, /* the batch has no row in the table, or the table may hold rows twice */
    BLOCK_MISSING,
    BLOCK_HELD
} block_state;

/*
 * Finds out whether a table has the block of a batch that is sent again. A block is written whole
 * or not at all, so that the key of the batch's first row in the table decides: the table then has
 * more rows with that key than other batches wrote. Returns 0 or a STORE_ERR_ code with err filled.
 */
int clickhouse__holds(chs_transport *to, const batch_write *w, batch_table of, block_state *state,
                      store_error *err);

/*
 * Finds out whether the table may have recorded the token of a block that it lost. That can happen
 * in a table of a single server that is killed between the two. Replicated tables record both in
 * one step, and a read there may miss rows of another replica. Returns 0 or a STORE_ERR_ code with
 * err filled.
 */
int clickhouse__may_lose_blocks(chs_transport *to, const char *name, bool *may, store_error *err);

/* Writes the ledger's row of a stored batch. Returns 0 or a STORE_ERR_ code with err filled. */
int clickhouse__write_ledger(chs_transport *to, const batch_write *w, store_error *err);

/* The tables of thread snapshots. Each returns 0 or a STORE_ERR_ code with err filled. */
int clickhouse__write_snapshot_runs(chs_transport *to, const batch_write *w, store_error *err);
int clickhouse__write_snapshots(chs_transport *to, const batch_write *w, store_error *err);
int clickhouse__write_deadlocks(chs_transport *to, const batch_write *w, store_error *err);

#endif
