/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sql_impl.h"

static bool is_identifier(const char *name)
{
    size_t i;

    if (!name || !name[0] || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (i = 0; name[i]; i++) {
        char c = name[i];

        if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z')))
            return false;
    }
    return true;
}

static bool has_control_bytes(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

int chs__check_settings(const chs_setting *settings, size_t count, chs_error *err)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (!is_identifier(settings[i].name))
            return CHS__FAIL(err, CHS_ERR_USAGE,
                             "Setting %zu has no plain name: use letters, digits and _", i);
        if (!settings[i].value || has_control_bytes(settings[i].value))
            return CHS__FAIL(err, CHS_ERR_USAGE,
                             "Setting %s has no value, or one with control bytes",
                             settings[i].name);
    }
    return 0;
}

static bool is_number(const chs_bytes *item)
{
    static const char allowed[] = "0123456789+-.eE";
    size_t i;

    for (i = 0; i < item->length; i++)
        if (!memchr(allowed, item->data[i], sizeof allowed - 1))
            return false;
    return item->length > 0;
}

static int check_param(const chs_param *param, chs_error *err)
{
    size_t i;

    switch (param->kind) {
    case CHS_PARAM_SCALAR:
        if (param->items ? param->item_count == 1 : param->text != NULL)
            return 0;
        return CHS__FAIL(err, CHS_ERR_USAGE, "Parameter %s needs text or exactly one item",
                         param->name);
    case CHS_PARAM_STRINGS:
    case CHS_PARAM_NUMBERS:
        if (param->item_count && !param->items)
            return CHS__FAIL(err, CHS_ERR_USAGE, "Parameter %s has a count but no items",
                             param->name);
        for (i = 0; param->kind == CHS_PARAM_NUMBERS && i < param->item_count; i++)
            if (!is_number(&param->items[i]))
                return CHS__FAIL(err, CHS_ERR_USAGE,
                                 "Item %zu of parameter %s is not a decimal number", i,
                                 param->name);
        return 0;
    }
    return CHS__FAIL(err, CHS_ERR_USAGE, "Parameter %s has no known kind", param->name);
}

int chs__check_params(const chs_param *params, size_t count, chs_error *err)
{
    size_t i;

    for (i = 0; i < count; i++) {
        int rc;

        if (!is_identifier(params[i].name))
            return CHS__FAIL(err, CHS_ERR_USAGE,
                             "Parameter %zu has no plain name: use letters, digits and _", i);
        rc = check_param(&params[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

int chs__check_insert(const chs_insert_request *request, chs_error *err)
{
    size_t i;

    if (!request->table || !request->table[0])
        return CHS__FAIL(err, CHS_ERR_USAGE, "An insert needs a table");
    if (!request->columns || !request->column_count)
        return CHS__FAIL(err, CHS_ERR_USAGE, "An insert into %s needs its columns by name",
                         request->table);
    for (i = 0; i < request->column_count; i++)
        if (!request->columns[i] || !request->columns[i][0])
            return CHS__FAIL(err, CHS_ERR_USAGE, "Column %zu of an insert into %s has no name", i,
                             request->table);
    if (!request->block.data || !request->block.length)
        return CHS__FAIL(err, CHS_ERR_USAGE, "An insert into %s needs an encoded block",
                         request->table);
    if (request->token && (!request->token[0] || has_control_bytes(request->token)))
        return CHS__FAIL(err, CHS_ERR_USAGE,
                         "The deduplication token of an insert into %s is empty or has control "
                         "bytes",
                         request->table);
    return 0;
}

void chs__token_settings(chs_setting out[CHS__TOKEN_SETTINGS], const char *token)
{
    out[0].name = "insert_deduplication_token";
    out[0].value = token;
    out[1].name = "deduplicate_blocks_in_dependent_materialized_views";
    out[1].value = "1";
}

/* Appends a value inside quotes or TSV. Bytes that could end it or be read as an escape are
 * escaped. */
static int add_escaped(chs__buffer *out, const chs_bytes *value)
{
    enum { LONGEST = 4 }; /* bytes of the longest escape */
    static const char digits[] = "0123456789ABCDEF";
    int rc = value->length > SIZE_MAX / LONGEST ? CHS_ERR_LIMIT
                                                : chs__buffer_reserve(out, LONGEST * value->length);
    unsigned char *to;
    size_t i;

    if (rc)
        return rc;
    to = out->data + out->length;
    for (i = 0; i < value->length; i++) {
        unsigned char c = (unsigned char)value->data[i];
        bool is_control = c < 0x20 || c == 0x7f;

        if (is_control || c == '\\' || c == '\'' || c == '`')
            *to++ = '\\';
        if (is_control) {
            *to++ = 'x';
            *to++ = (unsigned char)digits[c >> 4];
            *to++ = (unsigned char)digits[c & 15];
        } else {
            *to++ = c;
        }
    }
    out->length = (size_t)(to - out->data);
    return 0;
}

static int add_quoted(chs__buffer *out, const chs_bytes *value, const char *quote)
{
    int rc = chs__buffer_text(out, quote);

    if (!rc)
        rc = add_escaped(out, value);
    return rc ? rc : chs__buffer_text(out, quote);
}

static int add_name(chs__buffer *out, const char *name)
{
    chs_bytes bytes = {name, strlen(name)};

    return add_quoted(out, &bytes, "`");
}

int chs__insert_sql(chs__buffer *out, const chs_insert_request *request, const char *database,
                    chs_error *err)
{
    const char *into = request->database ? request->database : database;
    int rc = chs__buffer_text(out, "INSERT INTO ");
    size_t i;

    if (!rc && into)
        rc = add_name(out, into);
    if (!rc && into)
        rc = chs__buffer_text(out, ".");
    if (!rc)
        rc = add_name(out, request->table);
    for (i = 0; i < request->column_count && !rc; i++) {
        rc = chs__buffer_text(out, i ? ", " : " (");
        if (!rc)
            rc = add_name(out, request->columns[i]);
    }
    if (!rc)
        rc = chs__buffer_text(out, ")");
    return rc ? CHS__FAIL(err, rc, "No memory for the INSERT into %s", request->table) : 0;
}

int chs__use_sql(chs__buffer *out, const char *database, chs_error *err)
{
    int rc = chs__buffer_text(out, "USE ");

    if (!rc)
        rc = add_name(out, database);
    if (!rc)
        rc = chs__buffer_add(out, "", 1);
    return rc ? CHS__FAIL(err, rc, "No memory to choose the database %s", database) : 0;
}

static int add_list(chs__buffer *out, const chs_param *param)
{
    int rc = chs__buffer_text(out, "[");
    size_t i;

    for (i = 0; i < param->item_count && !rc; i++) {
        if (i)
            rc = chs__buffer_text(out, ",");
        if (rc)
            break;
        if (param->kind == CHS_PARAM_NUMBERS)
            rc = chs__buffer_add(out, param->items[i].data, param->items[i].length);
        else
            rc = add_quoted(out, &param->items[i], "'");
    }
    return rc ? rc : chs__buffer_text(out, "]");
}

int chs__param_text(chs__buffer *out, const chs_param *param, chs_error *err)
{
    int rc;

    if (param->kind != CHS_PARAM_SCALAR) {
        rc = add_list(out, param);
    } else if (param->items) {
        rc = add_escaped(out, &param->items[0]);
    } else {
        chs_bytes text = {param->text, strlen(param->text)};

        rc = add_escaped(out, &text);
    }
    return rc ? CHS__FAIL(err, rc, "No memory for the value of parameter %s", param->name) : 0;
}
