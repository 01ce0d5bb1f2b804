/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files that write a batch's tables. */
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

/* The service of a target, for `rows` rows. */
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
    TABLE_WINDOWS, /* after their samples: who sees a window sees what it sums */
    TABLE_SNAPSHOTS,
    TABLE_DEADLOCKS,
    TABLE_RUNS, /* who sees a run sees what it saw */
    TABLE_LEDGER,
    TABLES
} batch_table;

/* What tells a batch from others that have windows of the same JVM, source and time. */
static inline uint32_t batch_mark(const profile_batch *b)
{
    uint32_t mark;

    memcpy(&mark, b->batch_id.data, sizeof(mark));
    return mark;
}

typedef enum block_state {
    BLOCK_NOT_ASKED, /* the batch has no row in the table, or its rows may stand twice */
    BLOCK_MISSING,
    BLOCK_HELD
} block_state;

/*
 * Whether a table has the block of this batch, which comes again. A block is there whole or not at
 * all, so the key of the batch's first row in the table decides: the table has more rows of it than
 * other batches wrote. 0 or a STORE_ERR_ code with err filled.
 */
int clickhouse__holds(chs_transport *to, const batch_write *w, batch_table of, block_state *state,
                      store_error *err);

/*
 * Whether the table may have noted the token of a block that it lost: a table of this server alone,
 * killed between the two. Replicated tables note both in one step, and a read there may lack what
 * another replica has. 0 or a STORE_ERR_ code with err filled.
 */
int clickhouse__may_lose_blocks(chs_transport *to, const char *name, bool *may, store_error *err);

/* The ledger's row of a batch that is stored. 0 or a STORE_ERR_ code with err filled. */
int clickhouse__write_ledger(chs_transport *to, const batch_write *w, store_error *err);

/* The tables of thread snapshots. Each returns 0 or a STORE_ERR_ code with err filled. */
int clickhouse__write_snapshot_runs(chs_transport *to, const batch_write *w, store_error *err);
int clickhouse__write_snapshots(chs_transport *to, const batch_write *w, store_error *err);
int clickhouse__write_deadlocks(chs_transport *to, const batch_write *w, store_error *err);

#endif
