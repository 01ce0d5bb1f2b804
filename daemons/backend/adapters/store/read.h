/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/store/read.h: shared by the reads: runs a statement on a reader, and gets rows from
 * blocks. */
#ifndef BACKEND_READ_H
#define BACKEND_READ_H

#include <stddef.h>

#include "clickhouse_impl.h"
#include "sql.h"

/* Runs a filtered read on a reader connection and ends the statement. */
int read_run(clickhouse *c, statement *s, chs_block_fn on_block, void *context, store_error *err);

/* Copies the number `found` of a block to *context, a uint64_t. */
int read_found(void *context, const chs_result *block);

/* Get columns of a block by name; -1 when a column is missing or has another type. */
int read_uints(chs_uints *out, const chs_result *block, const char *name);
int read_strings(chs_strings *out, const chs_result *block, const char *name);

/* A time in milliseconds since 1970. */
#define READ_MS(column) "toUInt64(toUnixTimestamp64Milli(" column "))"

/* A column of a block, and the field of a row, a uint64_t or a text, that receives its values. */
typedef struct row_field {
    const char *column;
    size_t offset;
} row_field;

typedef struct row_shape {
    const row_field *numbers, *texts;
    size_t number_count, text_count;
} row_shape;

#define ROW_FIELD(column, row, field)                                                              \
    {                                                                                              \
        column, offsetof(row, field)                                                               \
    }
/* The fields of the service_key `key` of a row. */
#define ROW_KEY(row)                                                                               \
    ROW_FIELD("cluster", row, key.cluster), ROW_FIELD("namespace", row, key.namespace_name),       \
        ROW_FIELD("workload", row, key.workload)
#define ROW_SHAPE(numbers, texts)                                                                  \
    {                                                                                              \
        numbers, texts, sizeof(numbers) / sizeof((numbers)[0]), sizeof(texts) / sizeof((texts)[0]) \
    }

/* Receives each row; returns 0 to continue. */
typedef int (*row_fn)(void *context, const void *row);

/*
 * Passes each row of a block to `each`: `row`, of `size` bytes, is zeroed and gets the columns of
 * `shape` by name; its texts belong to the block. each NULL: the last row stays in `row`. Returns
 * 0, or -1 when a column is missing or has another type, or `each` has stopped the read.
 */
int read_rows(const chs_result *block, const row_shape *shape, void *row, size_t size, row_fn each,
              void *context);

#endif
