/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees blocks and their columns. */
#include <stdlib.h>
#include <string.h>

#include "blocks/column_impl.h"

int chs_block_new(chs_block **out, const chs_block_options *options, chs_error *err)
{
    static const chs_block_options defaults = CHS_BLOCK_OPTIONS_INIT;
    chs_block_options settled = CHS_BLOCK_OPTIONS_INIT;
    chs_block *block;
    int rc = chs__options(&settled, sizeof settled, options, "chs_block_options", err);

    *out = NULL;
    if (rc)
        return rc;
    block = calloc(1, sizeof *block);
    if (!block)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a block");
    block->options = settled;
    if (!settled.max_rows)
        block->options.max_rows = defaults.max_rows;
    if (!settled.max_bytes)
        block->options.max_bytes = defaults.max_bytes;
    if (!settled.max_columns)
        block->options.max_columns = defaults.max_columns;
    block->encoded.max = block->options.max_bytes;
    *out = block;
    return 0;
}

static void free_column(chs_column *column)
{
    if (!column)
        return;
    free(column->name);
    chs__type_free(&column->type);
    chs__buffer_free(&column->data);
    chs__buffer_free(&column->ends);
    chs__dictionary_free(&column->dictionary);
    free(column);
}

void chs_block_free(chs_block *block)
{
    uint32_t i;

    if (!block)
        return;
    for (i = 0; i < block->column_count; i++)
        free_column(block->columns[i]);
    free(block->columns);
    chs__buffer_free(&block->encoded);
    free(block);
}

static int check_new_column(const chs_block *block, const char *name, chs_error *err)
{
    uint32_t i;

    if (!name || !name[0])
        return CHS__FAIL(err, CHS_ERR_USAGE, "A column needs a name");
    if (chs_block_rows(block))
        return CHS__FAIL(err, CHS_ERR_USAGE, "Column %s comes too late: the block has rows", name);
    if (block->column_count == block->options.max_columns)
        return CHS__FAIL(err, CHS_ERR_LIMIT, "Column %s is one more than the limit of %u", name,
                         block->options.max_columns);
    for (i = 0; i < block->column_count; i++)
        if (strcmp(block->columns[i]->name, name) == 0)
            return CHS__FAIL(err, CHS_ERR_USAGE, "Column %s is in the block already", name);
    return 0;
}

static int make_column(chs_column **out, chs_block *block, const char *name, const char *type,
                       chs_error *err)
{
    chs_column *column = calloc(1, sizeof *column);
    int rc = column ? 0 : CHS_ERR_NO_MEMORY;

    if (!rc) {
        column->block = block;
        column->name = strdup(name);
        rc = column->name ? chs__type_parse(&column->type, type, strlen(type)) : CHS_ERR_NO_MEMORY;
    }
    if (rc) {
        free_column(column);
        if (rc == CHS_ERR_USAGE)
            return CHS__FAIL(err, rc, "Column %s: the block builder does not know the type %s",
                             name, type);
        return CHS__FAIL(err, rc, "No memory for column %s", name);
    }
    *out = column;
    return 0;
}

int chs_block_add_column(chs_column **out, chs_block *block, const char *name, const char *type,
                         chs_error *err)
{
    chs_column **columns;
    int rc = check_new_column(block, name, err);

    *out = NULL;
    if (rc)
        return rc;
    if (!type)
        return CHS__FAIL(err, CHS_ERR_USAGE, "Column %s needs a type", name);
    columns = realloc(block->columns, (block->column_count + 1) * sizeof(chs_column *));
    if (!columns)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for column %s", name);
    block->columns = columns;
    rc = make_column(out, block, name, type, err);
    if (rc)
        return rc;
    columns[block->column_count++] = *out;
    return 0;
}

uint64_t chs_block_rows(const chs_block *block)
{
    uint64_t rows = 0;
    uint32_t i;

    for (i = 0; i < block->column_count; i++)
        if (block->columns[i]->rows > rows)
            rows = block->columns[i]->rows;
    return rows;
}

uint64_t chs_block_bytes(const chs_block *block)
{
    return block->bytes;
}

void chs_block_clear(chs_block *block)
{
    uint32_t i;

    for (i = 0; i < block->column_count; i++) {
        chs_column *column = block->columns[i];

        column->rows = 0;
        column->values = 0;
        column->data.length = 0;
        column->ends.length = 0;
        chs__dictionary_clear(&column->dictionary);
    }
    block->bytes = 0;
    block->encoded.length = 0;
    memset(&block->failure, 0, sizeof block->failure);
}
