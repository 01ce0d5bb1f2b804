/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/store/read.h: reads share this: a statement, a reader, and rows out of blocks. */
#ifndef BACKEND_READ_H
#define BACKEND_READ_H

#include "clickhouse_impl.h"
#include "sql.h"

/* Runs a filtered read on a reader of its own and ends the statement. */
int read_run(clickhouse *c, statement *s, chs_block_fn on_block, void *context, store_error *err);

/* Columns of a block by name; -1 when one is not there or of another kind. */
int read_uints(chs_uints *out, const chs_result *block, const char *name);
int read_strings(chs_strings *out, const chs_result *block, const char *name);

text read_text(const chs_strings *column, uint64_t row);

/* cluster, namespace and workload of a block. */
typedef struct key_columns {
    chs_strings cluster, namespace_name, workload;
} key_columns;

int read_keys(key_columns *out, const chs_result *block);
service_key read_key(const key_columns *columns, uint64_t row);

#endif
