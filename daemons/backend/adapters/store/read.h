/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/store/read.h: reads share this: a statement, a reader, and rows out of blocks. */
#ifndef BACKEND_READ_H
#define BACKEND_READ_H

#include <stddef.h>

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

/* A time as milliseconds since 1970. */
#define READ_MS(column) "toUInt64(toUnixTimestamp64Milli(" column "))"

/* A column of a block and the field of a row, a uint64_t or a text, that takes its values. */
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
/* The fields of a row's service_key `key`. */
#define ROW_KEY(row)                                                                               \
    ROW_FIELD("cluster", row, key.cluster), ROW_FIELD("namespace", row, key.namespace_name),       \
        ROW_FIELD("workload", row, key.workload)
#define ROW_SHAPE(numbers, texts)                                                                  \
    {                                                                                              \
        numbers, texts, sizeof(numbers) / sizeof((numbers)[0]), sizeof(texts) / sizeof((texts)[0]) \
    }

enum { ROW_NUMBERS_MAX = 24, ROW_TEXTS_MAX = 9 };

/* The columns of one block. */
typedef struct row_columns {
    const row_shape *shape;
    chs_uints numbers[ROW_NUMBERS_MAX];
    chs_strings texts[ROW_TEXTS_MAX];
} row_columns;

/* Finds the columns of `shape` by name; -1 when one is not there or of another kind. */
int read_columns(row_columns *out, const chs_result *block, const row_shape *shape);
/* Fills the fields of `shape` in a row; its texts are the block's. */
void read_row(void *out, const row_columns *from, uint64_t row);

#endif
