/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <assert.h>
#include <string.h>

int read_run(clickhouse *c, statement *s, chs_block_fn on_block, void *context, store_error *err)
{
    chs_transport *reader = clickhouse__take(c, err);
    int rc = err->code;

    if (reader != NULL) {
        rc = sql_query(s, reader, c->options.query_ms, on_block, context, err);
        clickhouse__give(c, reader);
    }
    sql_end(s);
    return rc;
}

int read_uints(chs_uints *out, const chs_result *block, const char *name)
{
    return chs_result_uints(out, block, name, NULL) == 0 ? 0 : -1;
}

int read_strings(chs_strings *out, const chs_result *block, const char *name)
{
    return chs_result_strings(out, block, name, NULL) == 0 ? 0 : -1;
}

text read_text(const chs_strings *column, uint64_t row)
{
    return (text){column->values[row].data, column->values[row].length};
}

int read_keys(key_columns *out, const chs_result *block)
{
    return read_strings(&out->cluster, block, "cluster") != 0 ||
                   read_strings(&out->namespace_name, block, "namespace") != 0 ||
                   read_strings(&out->workload, block, "workload") != 0
               ? -1
               : 0;
}

service_key read_key(const key_columns *columns, uint64_t row)
{
    return (service_key){read_text(&columns->cluster, row),
                         read_text(&columns->namespace_name, row),
                         read_text(&columns->workload, row)};
}

int read_columns(row_columns *out, const chs_result *block, const row_shape *shape)
{
    assert(shape->number_count <= ROW_NUMBERS_MAX && shape->text_count <= ROW_TEXTS_MAX);
    out->shape = shape;
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

void read_row(void *out, const row_columns *from, uint64_t row)
{
    const row_shape *shape = from->shape;

    for (size_t i = 0; i < shape->number_count; i++)
        memcpy((char *)out + shape->numbers[i].offset, &from->numbers[i].values[row],
               sizeof(uint64_t));
    for (size_t i = 0; i < shape->text_count; i++) {
        text value = read_text(&from->texts[i], row);
        memcpy((char *)out + shape->texts[i].offset, &value, sizeof(value));
    }
}
