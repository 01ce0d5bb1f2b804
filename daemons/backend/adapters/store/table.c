/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <base/hex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "sql.h"

static const uint64_t LATEST_MS = 4102444800000; /* 2100-01-01 */

enum { ROWS_AT_ONCE = 256 };

int table_begin(table *t, const char *name, const table_column *columns, size_t count,
                store_error *err)
{
    chs_error failure = {0};

    memset(t, 0, sizeof(*t));
    t->name = name;
    t->columns = columns;
    t->count = count;
    int rc = chs_block_new(&t->block, NULL, &failure);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = chs_block_add_column(&t->at[i], t->block, columns[i].name, columns[i].type, &failure);
    if (rc == 0)
        return 0;
    failure.code = rc;
    return sql_error(err, &failure);
}

void table_end(table *t)
{
    chs_block_free(t->block);
    t->block = NULL;
}

chs_column *table_next(table *t)
{
    chs_column *column = t->at[t->next];

    t->next = (t->next + 1) % t->count;
    return column;
}

void table_put_text(table *t, text value)
{
    chs_append_bytes(table_next(t), value.data, value.length);
}

void table_put_uint(table *t, uint64_t value)
{
    chs_append_uint(table_next(t), value);
}

static int64_t known_time(uint64_t unix_ms)
{
    return unix_ms < LATEST_MS ? (int64_t)unix_ms : 0;
}

void table_put_ms(table *t, uint64_t unix_ms)
{
    chs_append_int(table_next(t), known_time(unix_ms));
}

void table_put_texts(table *t, const chs_bytes *values, size_t count)
{
    chs_append_bytes_array(table_next(t), values, count);
}

void table_put_uints(table *t, const uint64_t *values, size_t count)
{
    chs_append_uint_array(table_next(t), values, count);
}

/* ---- rows ---- */

void table_put_text_times(table *t, text value, size_t count)
{
    chs_append_bytes_times(table_next(t), value.data, value.length, count);
}

void table_put_uint_times(table *t, uint64_t value, size_t count)
{
    chs_append_uint_times(table_next(t), value, count);
}

void table_put_ms_times(table *t, uint64_t unix_ms, size_t count)
{
    chs_append_int_times(table_next(t), known_time(unix_ms), count);
}

void table_put_u64_rows(table *t, const uint64_t *values, size_t count)
{
    chs_append_uint_rows(table_next(t), values, count);
}

void table_put_u32_rows(table *t, const uint32_t *values, size_t count)
{
    chs_column *column = table_next(t);
    uint64_t wide[ROWS_AT_ONCE];

    for (size_t at = 0; at < count; at += ROWS_AT_ONCE) {
        size_t some = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        for (size_t i = 0; i < some; i++)
            wide[i] = values[at + i];
        chs_append_uint_rows(column, wide, some);
    }
}

bool table_keys_init(table_keys *keys, const string_columns *strings)
{
    keys->strings = strings;
    keys->known = calloc(strings->length.count + 1, sizeof(*keys->known));
    return keys->known != NULL;
}

void table_keys_free(table_keys *keys)
{
    free(keys->known);
    keys->known = NULL;
}

uint32_t table_key(table_keys *keys, chs_column *column, uint32_t index)
{
    uint32_t key;

    if (keys->known[index] != 0)
        return keys->known[index] - 1;
    text value = string_at(keys->strings, index);
    if (chs_column_key(column, value.data, value.length, &key) == 0)
        keys->known[index] = key + 1;
    return key;
}

void table_put_string_rows(table *t, table_keys *keys, const uint32_t *indexes, size_t count)
{
    chs_column *column = table_next(t);
    uint32_t found[ROWS_AT_ONCE];

    for (size_t at = 0; at < count; at += ROWS_AT_ONCE) {
        size_t some = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        for (size_t i = 0; i < some; i++)
            found[i] = table_key(keys, column, indexes[at + i]);
        chs_append_key_rows(column, found, some);
    }
}

/* ---- inserting ---- */

static void make_token(char *out, size_t capacity, const table *t, table_token of, chs_bytes block)
{
    XXH128_canonical_t hash;
    size_t used = of.key != NULL ? hex_write(out, of.key, 16) : 0;

    used += (size_t)snprintf(out + used, capacity - used, "/%s", t->name);
    if (of.by_content) {
        XXH128_canonicalFromHash(&hash, XXH3_128bits(block.data, block.length));
        out[used++] = '/';
        used += hex_write(out + used, hash.digest, sizeof(hash.digest));
    }
    if (of.number > 0)
        snprintf(out + used, capacity - used, "/%u", of.number);
}

int table_insert(table *t, chs_transport *to, table_token of, store_error *err)
{
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    const char *names[TABLE_COLUMNS_MAX];
    chs_error failure = {0};
    char token[160];

    if (chs_block_rows(t->block) == 0)
        return 0;
    for (size_t i = 0; i < t->count; i++)
        names[i] = t->columns[i].name;
    request.table = t->name;
    request.columns = names;
    request.column_count = t->count;
    int rc = chs_block_encode(&request.block, t->block, &failure);
    if (rc == 0) {
        make_token(token, sizeof(token), t, of, request.block);
        request.token = token;
        rc = chs_insert(to, &request, NULL, &failure);
    }
    if (rc == 0)
        return 0;
    failure.code = rc;
    return sql_error(err, &failure);
}
