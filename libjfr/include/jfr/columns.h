/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_COLUMNS_H
#define JFR_COLUMNS_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/settings.h>
#include <jfr/type.h>
#include <jfr/variant.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * Paths into one type, compiled to read many values of it. They are the columns of a table with a
 * row for each event.
 *
 *     const char *paths[] = {"startTime", "sampledThread.javaName", "state"};
 *     jfr_variant row[3];
 *     jfr_columns_open(&columns, chunk, type->index, paths, 3, &err);
 *     while (jfr_events_next(events, &event, &err) == 1)
 *         if (event.type == type && jfr_columns_read(columns, &event.value, row, &err) == 0) ...
 *
 * Each constant of a constant pool is decoded once. To build a dictionary column, use the path up
 * to the constant ("sampledThread"): the value's `constant` is then a dense index, and
 * jfr_chunk_constant_count, jfr_chunk_constant and columns of the constant's type give the
 * dictionary.
 */
typedef struct jfr_columns jfr_columns;

/*
 * Compiles `count` paths, in the form of jfr_variant_path, into the type with index `type`.
 *   out   receives the columns, usable until the chunk ends; free with jfr_columns_close, before
 *         jfr_close
 * A path that the type does not have is no error: its values are NULL.
 * Errors: JFR_ERR_USAGE (no such type, not a path), JFR_ERR_FORMAT (a type of the metadata cannot
 * be read), JFR_ERR_LIMIT (max_metadata_depth, max_pool_entries, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_columns_open(jfr_columns **out, jfr_chunk *chunk, uint32_t type,
                                             const char *const *paths, size_t count,
                                             jfr_error *err);

/*
 * Returns the field at the end of column `index`, with its name, kind, unit and labels, borrowed
 * until the chunk ends. NULL when the type does not have the path or there is no such column.
 */
JFR_EXPORT const jfr_field *jfr_columns_field(const jfr_columns *columns, size_t index);

/*
 * Reads one row.
 *   value   a struct of the type that was given to jfr_columns_open
 *   row     receives one value for each column. A field with a unit gives TIME or SPAN in
 *           nanoseconds, or NULL where the recording says "none"
 * Errors: JFR_ERR_FORMAT (the value's bytes do not fit its type), JFR_ERR_USAGE (another type, or
 * the chunk has ended), JFR_ERR_LIMIT (max_string_bytes, max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_columns_read(jfr_columns *columns, const jfr_variant *value,
                                             jfr_variant *row, jfr_error *err);

/* Frees the columns. NULL is allowed. */
JFR_EXPORT void jfr_columns_close(jfr_columns *columns);

JFR_END_DECLS

#endif
