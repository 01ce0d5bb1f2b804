/* SPDX-License-Identifier: Apache-2.0 */
/* Reads streams of Native blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blocks/result_impl.h"

struct chs_reader {
    chs_reader_options options;
    chs__input input;
    chs_result result;
    chs_error failure; /* of an earlier chs_reader_next; code 0 = none */
};

static void settle(chs_reader_options *options)
{
    static const chs_reader_options defaults = CHS_READER_OPTIONS_INIT;

    if (!options->max_bytes)
        options->max_bytes = defaults.max_bytes;
    if (!options->max_block_bytes)
        options->max_block_bytes = defaults.max_block_bytes;
    if (!options->max_rows)
        options->max_rows = defaults.max_rows;
    if (!options->max_columns)
        options->max_columns = defaults.max_columns;
}

static int make_reader(chs_reader **out, const chs_reader_options *options, chs_error *err)
{
    chs_reader_options settled = CHS_READER_OPTIONS_INIT;
    chs_reader *reader;
    int rc = chs__options(&settled, sizeof settled, options, "chs_reader_options", err);

    *out = NULL;
    if (rc)
        return rc;
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a reader");
    settle(&settled);
    reader->options = settled;
    reader->input.max_bytes = settled.max_bytes;
    reader->result.max_bytes = settled.max_block_bytes;
    *out = reader;
    return 0;
}

int chs_reader_open_mem(chs_reader **out, const void *data, size_t length,
                        const chs_reader_options *options, chs_error *err)
{
    int rc = make_reader(out, options, err);

    if (rc)
        return rc;
    if (length > (*out)->options.max_bytes) {
        rc = CHS__FAIL(err, CHS_ERR_LIMIT, "The answer passes the limit of %" PRIu64 " bytes",
                       (*out)->options.max_bytes);
        chs_reader_close(*out);
        *out = NULL;
        return rc;
    }
    (*out)->input.at = data;
    (*out)->input.end = length ? (*out)->input.at + length : data;
    return 0;
}

int chs_reader_open(chs_reader **out, chs_read_fn read, void *context,
                    const chs_reader_options *options, chs_error *err)
{
    int rc = make_reader(out, options, err);

    if (rc)
        return rc;
    (*out)->input.window = malloc(CHS__INPUT_WINDOW);
    if (!(*out)->input.window) {
        chs_reader_close(*out);
        *out = NULL;
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a reader");
    }
    (*out)->input.at = (*out)->input.end = (*out)->input.window;
    (*out)->input.read = read;
    (*out)->input.context = context;
    return 0;
}

void chs_reader_close(chs_reader *reader)
{
    if (!reader)
        return;
    chs__result_reset(&reader->result);
    free(reader->input.window);
    free(reader);
}

/* Reads a name or the text of a type, of bounded length, into memory that the caller frees. */
static int read_text(chs__input *input, char **out, size_t *length, const char *what)
{
    uint64_t wanted;
    int rc = chs__input_varint(input, &wanted);

    if (rc)
        return rc;
    if (wanted > CHS__MAX_TYPE_TEXT)
        return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                               "A column's %s of %" PRIu64 " bytes is longer than %d", what, wanted,
                               CHS__MAX_TYPE_TEXT);
    *out = malloc((size_t)wanted + 1);
    if (!*out)
        return CHS__INPUT_FAIL(input, CHS_ERR_NO_MEMORY, "No memory for a column's %s", what);
    (*out)[wanted] = '\0';
    *length = (size_t)wanted;
    return chs__input_bytes(input, *out, *length);
}

static int read_type(chs__input *input, chs__values *column)
{
    char *text = NULL;
    size_t length = 0;
    int rc = read_text(input, &text, &length, "type");

    if (!rc) {
        rc = chs__type_parse(&column->type, text, length);
        if (rc == CHS_ERR_USAGE)
            rc = CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                                 "Column %s has the type %s, which this reader does not know: "
                                 "convert it in the query",
                                 column->name, text);
        else if (rc)
            rc = CHS__INPUT_FAIL(input, rc, "No memory for the type of column %s", column->name);
    }
    free(text);
    return rc;
}

static int read_column(chs_reader *reader)
{
    chs_result *result = &reader->result;
    chs__values *column = &result->columns[result->column_count];
    size_t length = 0;
    int rc;

    memset(column, 0, sizeof *column);
    result->column_count++;
    rc = read_text(&reader->input, &column->name, &length, "name");
    if (!rc)
        rc = read_type(&reader->input, column);
    if (rc || !result->rows) /* a column without rows has no bytes, not even a prefix */
        return rc;
    return chs__decode_column(&reader->input, result, column);
}

static int read_block(chs_reader *reader)
{
    chs__input *input = &reader->input;
    uint64_t columns, i;
    int rc = chs__input_varint(input, &columns);

    if (!rc)
        rc = chs__input_varint(input, &reader->result.rows);
    if (rc)
        return rc;
    if (columns > reader->options.max_columns || reader->result.rows > reader->options.max_rows)
        return CHS__INPUT_FAIL(input, CHS_ERR_LIMIT,
                               "A block of %" PRIu64 " columns and %" PRIu64
                               " rows passes the limits of %u and %" PRIu64,
                               columns, reader->result.rows, reader->options.max_columns,
                               reader->options.max_rows);
    reader->result.columns = calloc(columns ? (size_t)columns : 1, sizeof(chs__values));
    if (!reader->result.columns)
        return CHS__INPUT_FAIL(input, CHS_ERR_NO_MEMORY, "No memory for the columns of a block");
    for (i = 0; i < columns; i++) {
        rc = read_column(reader);
        if (rc)
            return rc;
    }
    return 0;
}

int chs_reader_next(const chs_result **out, chs_reader *reader, chs_error *err)
{
    bool more;
    int rc = reader->failure.code;

    *out = NULL;
    chs__result_reset(&reader->result);
    if (!rc) {
        reader->input.err = &reader->failure;
        rc = chs__input_more(&reader->input, &more);
        if (!rc && !more)
            return 0;
        if (!rc)
            rc = read_block(reader);
        reader->failure.code = rc;
    }
    if (!rc) {
        *out = &reader->result;
        return 0;
    }
    chs__result_reset(&reader->result);
    if (err)
        *err = reader->failure;
    return rc;
}

int chs__each_block(chs_reader *reader, chs_block_fn on_block, void *context, chs_error *err)
{
    for (;;) {
        const chs_result *block;
        int rc = chs_reader_next(&block, reader, err);

        if (rc || !block)
            return rc;
        rc = on_block(context, block);
        if (rc)
            return CHS__FAIL(err, rc < 0 ? rc : CHS_ERR_CANCELLED,
                             "The caller ended the query at one of its blocks");
    }
}
