/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/store/table.h: one table's block under construction, its columns in the schema's order.
 * Appends that fail stay with the block and show when it is inserted.
 */
#ifndef BACKEND_TABLE_H
#define BACKEND_TABLE_H

#include <chsink/chsink.h>

#include "clickhouse_impl.h"

enum { TABLE_COLUMNS_MAX = 40 };

typedef struct table_column {
    const char *name;
    const char *type;
} table_column;

typedef struct table {
    const char *name;
    const table_column *columns;
    size_t count;
    chs_block *block;
    chs_column *at[TABLE_COLUMNS_MAX];
    size_t next; /* the column that the next value of this row goes to */
} table;

/* 0, or a STORE_ERR_ code. End with table_end either way. */
int table_begin(table *t, const char *name, const table_column *columns, size_t count,
                store_error *err);
void table_end(table *t);

/* The next column's value of the row; the last column ends it. */
void table_put_text(table *t, text value);
void table_put_uint(table *t, uint64_t value);
void table_put_ms(table *t, uint64_t unix_ms); /* DateTime64(3); a time beyond 2100 becomes 1970 */
void table_put_texts(table *t, const chs_bytes *values, size_t count);
void table_put_uints(table *t, const uint64_t *values, size_t count);

/* The next column's values of `count` rows, which all columns must then get: one value for all, or
 * one each. */
void table_put_text_times(table *t, text value, size_t count);
void table_put_uint_times(table *t, uint64_t value, size_t count);
void table_put_ms_times(table *t, uint64_t unix_ms, size_t count);
void table_put_u32_rows(table *t, const uint32_t *values, size_t count);
void table_put_u64_rows(table *t, const uint64_t *values, size_t count);

/* Where a table's next value goes, for who appends it; the one behind it is next then. */
chs_column *table_next(table *t);

/* The strings of a table in one column of LowCardinality(String): each is looked up once. */
typedef struct table_keys {
    const string_columns *strings;
    uint32_t *known; /* key + 1 by index; 0 = not looked up */
} table_keys;

/* False without memory; free it in any case. */
bool table_keys_init(table_keys *keys, const string_columns *strings);
void table_keys_free(table_keys *keys);

/* The key of string `index`, the same column each time; a failure stays with the block. */
uint32_t table_key(table_keys *keys, chs_column *column, uint32_t index);

/* As table_put_u32_rows, of strings by index. */
void table_put_string_rows(table *t, table_keys *keys, const uint32_t *indexes, size_t count);

/*
 * Which insert token a block carries. key: 16 bytes, the batch's id. The token is
 * "<key in hex>/<table>", with by_content "/<the block's hash>" follows, and with a number above 0
 * "/<number>". key NULL: the hash alone tells the block from others.
 */
typedef struct table_token {
    const uint8_t *key;
    bool by_content;
    unsigned number;
} table_token;

/* Inserts the block with its token; nothing when it has no row. */
int table_insert(table *t, chs_transport *to, table_token token, store_error *err);

#endif
