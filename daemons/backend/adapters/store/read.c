/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <base/clock.h>

#include <assert.h>
#include <string.h>

static const char *result_name(int rc)
{
    switch (rc) {
    case STORE_OK:
        return "ok";
    case STORE_ERR_TIMEOUT:
        return "timeout";
    case STORE_ERR_FAILED:
        return "failed";
    default:
        return "unavailable";
    }
}

/* Whether the store answers a query that costs it nothing. */
static bool answers(chs_transport *reader)
{
    enum { PATIENCE_MS = 1000 };
    uint64_t found = 0;
    store_error err = {0};
    statement s;

    sql_begin(&s);
    sql_add(&s, "SELECT 1 AS found");
    int rc = sql_query(&s, reader, PATIENCE_MS, read_found, &found, &err);
    sql_end(&s);
    return rc == 0;
}

int read_run(clickhouse *c, statement *s, chs_block_fn on_block, void *context, store_error *err)
{
    chs_transport *reader = clickhouse__take(c, &c->readers, err);
    int rc = err->code;

    if (reader != NULL) {
        uint64_t began_ns = clock_monotonic_ns();
        rc = sql_query(s, reader, c->options.query_ms, on_block, context, err);
        if (rc == STORE_ERR_TIMEOUT && !answers(reader)) /* then a shorter range would not help */
            rc = sql_fail(err, STORE_ERR_UNAVAILABLE, "The store does not answer.");
        clickhouse__give(c, &c->readers, reader);
        metrics_observe(c->options.metrics, METRIC_STORE_READ_SECONDS, result_name(rc),
                        clock_monotonic_ns() - began_ns);
    }
    sql_end(s);
    return rc;
}

int read_found(void *context, const chs_result *block)
{
    chs_uints found;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_uints(&found, block, "found") != 0)
        return -1;
    *(uint64_t *)context = found.values[0];
    return 0;
}

int read_uints(chs_uints *out, const chs_result *block, const char *name)
{
    return chs_result_uints(out, block, name, NULL) == 0 ? 0 : -1;
}

int read_strings(chs_strings *out, const chs_result *block, const char *name)
{
    return chs_result_strings(out, block, name, NULL) == 0 ? 0 : -1;
}

enum { ROW_NUMBERS_MAX = 24, ROW_TEXTS_MAX = 10 };

/* The columns of one block. */
typedef struct row_columns {
    chs_uints numbers[ROW_NUMBERS_MAX];
    chs_strings texts[ROW_TEXTS_MAX];
} row_columns;

static int read_columns(row_columns *out, const chs_result *block, const row_shape *shape)
{
    assert(shape->number_count <= ROW_NUMBERS_MAX && shape->text_count <= ROW_TEXTS_MAX);
    for (size_t i = 0; i < shape->number_count; i++) {
        if (read_uints(&out->numbers[i], block, shape->numbers[i].column) != 0)
            return -1;
    }
    for (size_t i = 0; i < shape->text_count; i++) {
        if (read_strings(&out->texts[i], block, shape->texts[i].column) != 0)
            return -1;
    }
    return 0;
}

static void read_row(void *out, const row_columns *from, const row_shape *shape, uint64_t row)
{
    for (size_t i = 0; i < shape->number_count; i++)
        memcpy((char *)out + shape->numbers[i].offset, &from->numbers[i].values[row],
               sizeof(uint64_t));
    for (size_t i = 0; i < shape->text_count; i++) {
        const chs_bytes *bytes = &from->texts[i].values[row];
        text value = {bytes->data, bytes->length};
        memcpy((char *)out + shape->texts[i].offset, &value, sizeof(value));
    }
}

int read_rows(const chs_result *block, const row_shape *shape, void *row, size_t size, row_fn each,
              void *context)
{
    row_columns columns;

    if (chs_result_rows(block) == 0)
        return 0;
    if (read_columns(&columns, block, shape) != 0)
        return -1;
    for (uint64_t i = 0; i < chs_result_rows(block); i++) {
        memset(row, 0, size);
        read_row(row, &columns, shape, i);
        if (each != NULL && each(context, row) != 0)
            return -1;
    }
    return 0;
}
