/* SPDX-License-Identifier: Apache-2.0 */
/* Gives access to a decoded block. */
#include <stdlib.h>
#include <string.h>

#include "blocks/result_impl.h"

void chs__result_reset(chs_result *result)
{
    size_t i;

    for (i = 0; i < result->column_count; i++) {
        chs__values *column = &result->columns[i];

        free(column->name);
        chs__type_free(&column->type);
        chs__buffer_free(&column->values);
        chs__buffer_free(&column->ends);
        chs__buffer_free(&column->text);
        chs__buffer_free(&column->keys);
    }
    free(result->columns);
    result->columns = NULL;
    result->column_count = 0;
    result->rows = 0;
    result->bytes = 0;
}

uint64_t chs_result_rows(const chs_result *result)
{
    return result->rows;
}

size_t chs_result_columns(const chs_result *result)
{
    return result->column_count;
}

const char *chs_result_name(const chs_result *result, size_t index)
{
    return index < result->column_count ? result->columns[index].name : NULL;
}

const char *chs_result_type(const chs_result *result, size_t index)
{
    return index < result->column_count ? result->columns[index].type.text : NULL;
}

/* Finds the column with this name; checks its family and whether it is an array. */
static int find(const chs__values **out, const chs_result *result, const char *name,
                chs__family family, bool is_array, chs_error *err)
{
    const chs__values *column;
    size_t i;

    for (i = 0; i < result->column_count; i++)
        if (strcmp(result->columns[i].name, name) == 0)
            break;
    if (i == result->column_count)
        return CHS__FAIL(err, CHS_ERR_FORMAT, "The answer has no column %s among its %zu", name,
                         result->column_count);
    column = &result->columns[i];
    if (column->type.family != family || column->type.is_array != is_array)
        return CHS__FAIL(
            err, CHS_ERR_FORMAT, "Column %s has the type %s where %s of %s values is wanted", name,
            column->type.text, is_array ? "an array" : "a column", chs__family_name(family));
    *out = column;
    return 0;
}

/* The body of every accessor: they differ in the type that values points to. */
#define VIEW(family, as_array)                                                                     \
    const chs__values *column;                                                                     \
    int rc = find(&column, result, name, (family), (as_array), err);                               \
                                                                                                   \
    memset(out, 0, sizeof *out);                                                                   \
    if (rc)                                                                                        \
        return rc;                                                                                 \
    out->values = (const void *)column->values.data;                                               \
    out->ends = (const void *)column->ends.data;                                                   \
    out->rows = result->rows;                                                                      \
    out->count = column->count;                                                                    \
    return 0

int chs_result_uints(chs_uints *out, const chs_result *result, const char *name, chs_error *err)
{
    VIEW(CHS__UINTS, false);
}

int chs_result_ints(chs_ints *out, const chs_result *result, const char *name, chs_error *err)
{
    VIEW(CHS__INTS, false);
}

int chs_result_floats(chs_floats *out, const chs_result *result, const char *name, chs_error *err)
{
    VIEW(CHS__FLOATS, false);
}

int chs_result_strings(chs_strings *out, const chs_result *result, const char *name, chs_error *err)
{
    VIEW(CHS__STRINGS, false);
}

int chs_result_uint_arrays(chs_uints *out, const chs_result *result, const char *name,
                           chs_error *err)
{
    VIEW(CHS__UINTS, true);
}

int chs_result_int_arrays(chs_ints *out, const chs_result *result, const char *name, chs_error *err)
{
    VIEW(CHS__INTS, true);
}

int chs_result_float_arrays(chs_floats *out, const chs_result *result, const char *name,
                            chs_error *err)
{
    VIEW(CHS__FLOATS, true);
}

int chs_result_string_arrays(chs_strings *out, const chs_result *result, const char *name,
                             chs_error *err)
{
    VIEW(CHS__STRINGS, true);
}
