/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chsink/reader.h: decodes the Native blocks of a SELECT's answer, block by block.
 *
 * It is safe on hostile bytes: every length is checked against the limits before memory is
 * allocated, and memory grows only with bytes that were really received. Format source: ClickHouse
 * src/Formats/NativeReader.cpp, protocol revision 0;
 * src/DataTypes/Serializations/SerializationLowCardinality.cpp for dictionaries.
 */
#ifndef CHSINK_READER_H
#define CHSINK_READER_H

#include <stddef.h>
#include <stdint.h>

#include <chsink/bytes.h>
#include <chsink/error.h>
#include <chsink/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct chs_reader chs_reader;

/* One decoded block. Borrowed until the reader's next chs_reader_next or chs_reader_close. */
typedef struct chs_result chs_result;

typedef struct chs_reader_options {
    size_t size;              /* sizeof(chs_reader_options); an unknown tail must be zero */
    uint64_t max_bytes;       /* of the whole stream; default 1 GiB */
    uint64_t max_block_bytes; /* decoded memory of one block; default 256 MiB */
    uint64_t max_rows;        /* of one block; default 4,194,304 */
    uint32_t max_columns;     /* default 256 */
} chs_reader_options;

#define CHS_READER_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(chs_reader_options), 1u << 30, 256u << 20, 1u << 22, 256                            \
    }

/*
 * The source of bytes: fills buffer with 1..capacity bytes and sets *length; *length = 0 is the
 * end. Returns 0 or a negative code (err filled), which chs_reader_next then returns unchanged.
 */
typedef int (*chs_read_fn)(void *context, void *buffer, size_t capacity, size_t *length,
                           chs_error *err);

/*
 * Opens a reader over bytes in memory, which must outlive it, or over a source function.
 * options: NULL for the defaults; a field of 0 takes its default.
 * Errors: CHS_ERR_USAGE, CHS_ERR_NO_MEMORY. The caller frees with chs_reader_close.
 * Thread rule of this header: one thread at a time per reader and its blocks.
 */
CHS_EXPORT CHS_MUST_USE int chs_reader_open_mem(chs_reader **out, const void *data, size_t length,
                                                const chs_reader_options *options, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_reader_open(chs_reader **out, chs_read_fn read, void *context,
                                            const chs_reader_options *options, chs_error *err);

/* Frees the reader and its current block; takes NULL. */
CHS_EXPORT void chs_reader_close(chs_reader *reader);

/*
 * Decodes the next block. *out = NULL at the end of the stream.
 * A block of no rows (ClickHouse sends one to name the columns of an empty answer) is returned as
 * such. Errors: CHS_ERR_FORMAT (damaged, cut short, or a type this reader does not know: the
 * message names column and type), CHS_ERR_LIMIT, CHS_ERR_NO_MEMORY, or the source's own. After an
 * error every further call returns that error.
 */
CHS_EXPORT CHS_MUST_USE int chs_reader_next(const chs_result **out, chs_reader *reader,
                                            chs_error *err);

CHS_EXPORT uint64_t chs_result_rows(const chs_result *result);
CHS_EXPORT size_t chs_result_columns(const chs_result *result);

/* Return name and type of column index (below chs_result_columns), NULL beyond. Borrowed from the
 * block. */
CHS_EXPORT const char *chs_result_name(const chs_result *result, size_t index);
CHS_EXPORT const char *chs_result_type(const chs_result *result, size_t index);

/*
 * The values of one column as a plain C array, widened from the column's type; borrowed from the
 * block. rows: of the block. values: one per row; for an Array(T) column all rows' elements in
 * order, and ends[row] is one past the last element of that row (the row starts at ends[row - 1],
 * or 0). ends is NULL for columns that are not arrays. count: number of values.
 */
typedef struct chs_uints {
    const uint64_t *values;
    const uint64_t *ends;
    uint64_t rows;
    uint64_t count;
} chs_uints;

typedef struct chs_ints {
    const int64_t *values;
    const uint64_t *ends;
    uint64_t rows;
    uint64_t count;
} chs_ints;

typedef struct chs_floats {
    const double *values;
    const uint64_t *ends;
    uint64_t rows;
    uint64_t count;
} chs_floats;

typedef struct chs_strings {
    const chs_bytes *values;
    const uint64_t *ends;
    uint64_t rows;
    uint64_t count;
} chs_strings;

/*
 * Give the column with a name. The kinds are those of chs_append_* in block.h: uints for UInt8..64,
 * Bool, Date and DateTime; ints for Int8..64, DateTime64 and Enum8; floats for Float32 and Float64;
 * strings for String, FixedString and LowCardinality(String). Errors: CHS_ERR_FORMAT when the block
 * has no such column, or it is of another kind, or is an array and the function is not for arrays,
 * or the reverse; the message names the column's type.
 */
CHS_EXPORT CHS_MUST_USE int chs_result_uints(chs_uints *out, const chs_result *result,
                                             const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_ints(chs_ints *out, const chs_result *result,
                                            const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_floats(chs_floats *out, const chs_result *result,
                                              const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_strings(chs_strings *out, const chs_result *result,
                                               const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_uint_arrays(chs_uints *out, const chs_result *result,
                                                   const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_int_arrays(chs_ints *out, const chs_result *result,
                                                  const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_float_arrays(chs_floats *out, const chs_result *result,
                                                    const char *name, chs_error *err);
CHS_EXPORT CHS_MUST_USE int chs_result_string_arrays(chs_strings *out, const chs_result *result,
                                                     const char *name, chs_error *err);

#ifdef __cplusplus
}
#endif

#endif
