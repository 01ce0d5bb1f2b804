/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chsink/block.h: build one block of ClickHouse's Native format, column by column.
 *
 * A block is the unit of insert: a chs_block becomes exactly one Native block, so one deduplication
 * token covers all of its rows or none. Format source: ClickHouse src/Formats/NativeWriter.cpp,
 * protocol revision 0, which HTTP and chDB read.
 */
#ifndef CHSINK_BLOCK_H
#define CHSINK_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <chsink/bytes.h>
#include <chsink/error.h>
#include <chsink/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Types that the block builder and the reader know, in ClickHouse's own spelling:
 *   UInt8 UInt16 UInt32 UInt64  Int8 Int16 Int32 Int64  Float32 Float64  Bool
 *   Date  DateTime  DateTime('tz')  DateTime64(p)  DateTime64(p, 'tz')
 *   Enum8('a' = 1, ...)  String  FixedString(n)  LowCardinality(String)
 *   Array(T) of any of the above (one level).
 */
typedef struct chs_block chs_block;

/* One column of a block. Borrowed from its block until chs_block_free. */
typedef struct chs_column chs_column;

typedef struct chs_block_options {
    size_t size;          /* sizeof(chs_block_options); an unknown tail must be zero */
    uint64_t max_rows;    /* default 1,000,000, which ClickHouse does not split */
    uint64_t max_bytes;   /* of column data and of the encoded block; default 256 MiB */
    uint32_t max_columns; /* default 256 */
} chs_block_options;

#define CHS_BLOCK_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(chs_block_options), 1000000, 256u << 20, 256                                        \
    }

/*
 * Makes an empty block without columns.
 * options: NULL for the defaults; a field of 0 takes its default.
 * Errors: CHS_ERR_USAGE (options), CHS_ERR_NO_MEMORY. The caller frees with chs_block_free.
 * Thread rule of this header: one thread at a time per block.
 */
CHS_EXPORT CHS_MUST_USE int chs_block_new(chs_block **out, const chs_block_options *options,
                                          chs_error *err);

/* Frees the block and its columns; takes NULL. */
CHS_EXPORT void chs_block_free(chs_block *block);

/*
 * Adds a column while the block has no rows.
 * name: any non-empty UTF-8 text, copied. type: from the list above, copied; one token of spaces is
 * allowed where ClickHouse allows it.
 * *out: the column to append to, borrowed until chs_block_free.
 * Errors: CHS_ERR_USAGE (a name twice, an unknown type, rows present), CHS_ERR_LIMIT,
 * CHS_ERR_NO_MEMORY.
 */
CHS_EXPORT CHS_MUST_USE int chs_block_add_column(chs_column **out, chs_block *block,
                                                 const char *name, const char *type,
                                                 chs_error *err);

/*
 * Append one row's value to a column. Each returns 0, CHS_ERR_USAGE (the column has another type),
 * CHS_ERR_FORMAT (the value does not fit the type), CHS_ERR_LIMIT or CHS_ERR_NO_MEMORY.
 * The block keeps its first failure: later appends return the same code and do nothing, and
 * chs_block_encode reports it with the column's name. A loop may therefore check only at its end.
 * Values are copied.
 *   uint   UInt8..UInt64, Bool (0, 1), Date (days since 1970-01-01), DateTime (seconds since then)
 *   int    Int8..Int64, DateTime64 (ticks of 10^-p seconds since 1970), Enum8 (by value)
 *   float  Float32, Float64
 *   bytes  String, FixedString(n) (exactly n bytes), LowCardinality(String), Enum8 (by name)
 */
CHS_EXPORT int chs_append_uint(chs_column *column, uint64_t value);
CHS_EXPORT int chs_append_int(chs_column *column, int64_t value);
CHS_EXPORT int chs_append_float(chs_column *column, double value);
CHS_EXPORT int chs_append_bytes(chs_column *column, const void *data, size_t length);

/*
 * Append `count` rows of one value each, faster than as many calls of the functions above. Errors
 * are the same; after an error the rows of the block are undefined. values may be NULL when count
 * is 0.
 */
CHS_EXPORT int chs_append_uint_rows(chs_column *column, const uint64_t *values, size_t count);
CHS_EXPORT int chs_append_int_rows(chs_column *column, const int64_t *values, size_t count);
CHS_EXPORT int chs_append_float_rows(chs_column *column, const double *values, size_t count);
CHS_EXPORT int chs_append_bytes_rows(chs_column *column, const chs_bytes *values, size_t count);

/* The same for `count` rows of the same value. */
CHS_EXPORT int chs_append_uint_times(chs_column *column, uint64_t value, size_t count);
CHS_EXPORT int chs_append_int_times(chs_column *column, int64_t value, size_t count);
CHS_EXPORT int chs_append_float_times(chs_column *column, double value, size_t count);
CHS_EXPORT int chs_append_bytes_times(chs_column *column, const void *data, size_t length,
                                      size_t count);

/*
 * Append one row of an Array(T) column: `count` values of the kind listed above for T.
 * values may be NULL when count is 0. Each of the four functions accepts an empty array.
 */
CHS_EXPORT int chs_append_uint_array(chs_column *column, const uint64_t *values, size_t count);
CHS_EXPORT int chs_append_int_array(chs_column *column, const int64_t *values, size_t count);
CHS_EXPORT int chs_append_float_array(chs_column *column, const double *values, size_t count);
CHS_EXPORT int chs_append_bytes_array(chs_column *column, const chs_bytes *values, size_t count);

/*
 * Returns the key of a string in a column of LowCardinality(String), or of arrays of it, so that a
 * frequent value is looked up once. *key is valid until the block is cleared or freed. Keys are
 * numbered in the order of first use, by this function or by a row, and all of them are encoded,
 * used by a row or not. The string is copied. Errors, which the block keeps: CHS_ERR_USAGE (a
 * column of another type), CHS_ERR_LIMIT, CHS_ERR_NO_MEMORY.
 */
CHS_EXPORT int chs_column_key(chs_column *column, const void *data, size_t length, uint32_t *key);

/*
 * Append `count` rows, each the string of a key, or one row with an array of `count` such strings.
 * Errors as chs_column_key; CHS_ERR_USAGE for a key that chs_column_key did not return.
 */
CHS_EXPORT int chs_append_key_rows(chs_column *column, const uint32_t *keys, size_t count);
CHS_EXPORT int chs_append_key_array(chs_column *column, const uint32_t *keys, size_t count);

/* Returns the rows of the column that has the most. */
CHS_EXPORT uint64_t chs_block_rows(const chs_block *block);

/* Returns the bytes that the columns hold now, which is close to the encoded size: a measure for
 * cutting blocks. */
CHS_EXPORT uint64_t chs_block_bytes(const chs_block *block);

/*
 * Encodes the block. *out: the bytes, borrowed until the block is next changed, encoded or freed.
 * Errors: the first failed append; CHS_ERR_USAGE when there is no column or no row, or the columns'
 * row counts differ (the message names the column); CHS_ERR_LIMIT; CHS_ERR_NO_MEMORY.
 */
CHS_EXPORT CHS_MUST_USE int chs_block_encode(chs_bytes *out, chs_block *block, chs_error *err);

/* Drops all rows, dictionaries and a kept failure; the columns and their memory stay for the next
 * block. */
CHS_EXPORT void chs_block_clear(chs_block *block);

#ifdef __cplusplus
}
#endif

#endif
