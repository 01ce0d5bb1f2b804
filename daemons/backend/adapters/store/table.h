/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/store/table.h: builds the block of one table, with columns in the schema's order. A
 * failed append is remembered and reported when the block is inserted.
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
    size_t next; /* the column of the row's next value */
} table;

/* Returns 0, or a STORE_ERR_ code. End with table_end in both cases. */
int table_begin(table *t, const char *name, const table_column *columns, size_t count,
                store_error *err);
void table_end(table *t);

/* Append the next column's value of the row; the last column ends it. */
void table_put_text(table *t, text value);
void table_put_uint(table *t, uint64_t value);
void table_put_ms(table *t, uint64_t unix_ms); /* DateTime64(3); a time beyond 2100 becomes 1970 */
void table_put_texts(table *t, const chs_bytes *values, size_t count);
void table_put_uints(table *t, const uint64_t *values, size_t count);

/* Append the next column's values of `count` rows, which all other columns must then get, too: the
 * same value for all, or one each. */
void table_put_text_times(table *t, text value, size_t count);
void table_put_uint_times(table *t, uint64_t value, size_t count);
void table_put_ms_times(table *t, uint64_t unix_ms, size_t count);
void table_put_u32_rows(table *t, const uint32_t *values, size_t count);
void table_put_u64_rows(table *t, const uint64_t *values, size_t count);

/* Returns the column of the next value, for callers that append to it directly, and moves on. */
chs_column *table_next(table *t);

/* The strings of a table in one column of LowCardinality(String): each is looked up once. */
typedef struct table_keys {
    const string_columns *strings;
    uint32_t *known; /* key + 1 by index; 0 = not looked up */
} table_keys;

/* Returns false without memory; free it in any case. */
bool table_keys_init(table_keys *keys, const string_columns *strings);
void table_keys_free(table_keys *keys);

/* Returns the key of string `index`; column must be the same in all calls. The block remembers a
 * failure. */
uint32_t table_key(table_keys *keys, chs_column *column, uint32_t index);

/* As table_put_u32_rows, for strings by index. */
void table_put_string_rows(table *t, table_keys *keys, const uint32_t *indexes, size_t count);

/*
 * The insert token of a block. key: 16 bytes, the batch's id. The token is "<key in hex>/<table>";
 * with by_content it is followed by "/<hash of the block>", and with a number above 0 by
 * "/<number>". key NULL: the hash alone distinguishes the block.
 */
typedef struct table_token {
    const uint8_t *key;
    bool by_content;
    unsigned number;
} table_token;

/* Inserts the block with its token, unless it has no row. */
int table_insert(table *t, chs_transport *to, table_token token, store_error *err);

#endif
