/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/store/sql.h: statements with parameters, and the mapping of the store's errors to the
 * core's. */
#ifndef BACKEND_SQL_H
#define BACKEND_SQL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <chsink/chsink.h>

#include "store.h"

enum { SQL_TEXT_MAX = 16384, SQL_PARAMS_MAX = 32, SQL_NUMBERS_MAX = 16 };

/* A statement under construction. Values from outside are parameters, never text. */
typedef struct statement {
    char text[SQL_TEXT_MAX];
    size_t length;
    chs_param params[SQL_PARAMS_MAX];
    chs_bytes items[SQL_PARAMS_MAX]; /* of scalar parameters */
    size_t param_count;
    char numbers[SQL_NUMBERS_MAX][24];
    size_t number_count;
    chs_bytes *lists[3]; /* owned: items of array parameters */
    size_t list_count;
    int failed; /* something was too long */
} statement;

void sql_begin(statement *s);
void sql_end(statement *s); /* frees lists */
void sql_add(statement *s, const char *text);
/* name: static. value: borrowed until the statement has run. */
void sql_text(statement *s, const char *name, text value);
void sql_number(statement *s, const char *name, uint64_t value);
void sql_list(statement *s, const char *name, const char *const *values, size_t count);
void sql_ids(statement *s, const char *name, const uint8_t *const *ids, size_t count);

/*
 * Adds " WHERE ..." for a filter over a table whose time column is `column`. sql_where_days does
 * the same for a Date column: all days of the range. sql_filter_params adds the parameters, once,
 * even if the conditions occur several times in the statement.
 */
void sql_where(statement *s, const store_filter *filter, const char *column);
/* Add conditions with the parts of a service, too: over tables with pod, container, app_version and
 * target_id; and over samples and their hourly sums, which also have a pool. */
void sql_where_windows(statement *s, const store_filter *filter);
void sql_where_samples(statement *s, const store_filter *filter);
void sql_where_rollups(statement *s, const store_filter *filter);
void sql_where_days(statement *s, const store_filter *filter, const char *column);
void sql_filter_params(statement *s, const store_filter *filter);
/* For tables whose rows belong to collectors: add " WHERE ..." for the time, and " AND ..." for the
 * clusters with its parameters. */
void sql_where_time(statement *s, const char *column);
void sql_where_cluster(statement *s, const store_filter *filter);
void sql_cluster_params(statement *s, const store_filter *filter);

/* Fills err from a chs_error and returns its code. */
int sql_error(store_error *err, const chs_error *from);
int sql_fail(store_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells the analyser, which sees one file at a time, that a failure is never 0. */
#ifdef __clang_analyzer__
#define sql_fail(err, code, ...) (sql_fail(err, code, __VA_ARGS__), (code))
#endif

/* Adds a number of the program's own, such as an hour, as text. */
void sql_add_number(statement *s, uint64_t value);

/* Runs a statement that returns no rows. timeout_ms, here and below: 0 = store.timeout. */
int sql_exec(statement *s, chs_transport *transport, uint32_t timeout_ms, store_error *err);

/* Runs a statement that was built without an error; each block goes to on_block. */
int sql_query(statement *s, chs_transport *transport, uint32_t timeout_ms, chs_block_fn on_block,
              void *context, store_error *err);

#endif
