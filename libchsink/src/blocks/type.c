/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "blocks/type_impl.h"

typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static void skip_spaces(cursor *in)
{
    while (in->at < in->end && *in->at == ' ')
        in->at++;
}

/* Takes word if it is next. */
static bool take(cursor *in, const char *word)
{
    size_t length = strlen(word);

    skip_spaces(in);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

/* Takes a decimal number of at most 7 digits; -1 when there is none. */
static int take_number(cursor *in)
{
    int value = 0, digits = 0;

    skip_spaces(in);
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9' && digits < 8; in->at++, digits++)
        value = value * 10 + (*in->at - '0');
    return digits > 0 && digits < 8 ? value : -1;
}

/* Takes a quoted literal. name (NULL to drop it) receives it unescaped, in memory that the caller
 * frees. */
static int take_quoted(cursor *in, char **name, size_t *length)
{
    char *text;
    size_t used = 0;

    if (!take(in, "'"))
        return CHS_ERR_USAGE;
    text = malloc((size_t)(in->end - in->at) + 1);
    if (!text)
        return CHS_ERR_NO_MEMORY;
    while (in->at < in->end && *in->at != '\'') {
        if (*in->at == '\\' && in->end - in->at > 1)
            in->at++;
        text[used++] = *in->at++;
    }
    text[used] = '\0';
    if (name) {
        *name = text;
        *length = used;
    } else {
        free(text);
    }
    return take(in, "'") ? 0 : CHS_ERR_USAGE;
}

static int add_enum_value(chs__type *out, cursor *in)
{
    chs__enum_value *values = realloc(out->values, (out->value_count + 1) * sizeof *values);
    chs__enum_value *value;
    bool negative;
    int rc, number;

    if (!values)
        return CHS_ERR_NO_MEMORY;
    out->values = values;
    value = &values[out->value_count++];
    memset(value, 0, sizeof *value);
    rc = take_quoted(in, &value->name, &value->length);
    if (rc)
        return rc;
    if (!take(in, "="))
        return CHS_ERR_USAGE;
    negative = take(in, "-");
    number = take_number(in);
    if (number < 0 || number > (negative ? 128 : 127))
        return CHS_ERR_USAGE;
    value->value = (int8_t)(negative ? -number : number);
    return 0;
}

static int parse_enum(chs__type *out, cursor *in)
{
    do {
        int rc = out->value_count < 256 ? add_enum_value(out, in) : CHS_ERR_USAGE;

        if (rc)
            return rc;
    } while (take(in, ","));
    out->family = CHS__INTS;
    out->width = 1;
    return take(in, ")") ? 0 : CHS_ERR_USAGE;
}

/* Parses the arguments of DateTime and DateTime64: an optional precision, an optional zone, ")". */
static int parse_time(cursor *in, bool has_precision)
{
    int rc;

    if (has_precision) {
        int precision = take_number(in);

        if (precision < 0 || precision > 9)
            return CHS_ERR_USAGE;
        if (!take(in, ","))
            return take(in, ")") ? 0 : CHS_ERR_USAGE;
    }
    skip_spaces(in);
    rc = take_quoted(in, NULL, NULL);
    if (rc)
        return rc;
    return take(in, ")") ? 0 : CHS_ERR_USAGE;
}

static int parse_fixed_string(chs__type *out, cursor *in)
{
    int width = take_number(in);

    if (width < 1 || width > CHS__MAX_FIXED_STRING || !take(in, ")"))
        return CHS_ERR_USAGE;
    out->family = CHS__STRINGS;
    out->width = (uint32_t)width;
    return 0;
}

/* Types without arguments. A name that is a prefix of another one comes after it. */
static const struct plain_type {
    const char *name;
    chs__family family;
    chs__layout layout;
    uint32_t width;
} plain_types[] = {
    {"UInt8", CHS__UINTS, CHS__FIXED_WIDTH, 1},    {"UInt16", CHS__UINTS, CHS__FIXED_WIDTH, 2},
    {"UInt32", CHS__UINTS, CHS__FIXED_WIDTH, 4},   {"UInt64", CHS__UINTS, CHS__FIXED_WIDTH, 8},
    {"Int8", CHS__INTS, CHS__FIXED_WIDTH, 1},      {"Int16", CHS__INTS, CHS__FIXED_WIDTH, 2},
    {"Int32", CHS__INTS, CHS__FIXED_WIDTH, 4},     {"Int64", CHS__INTS, CHS__FIXED_WIDTH, 8},
    {"Float32", CHS__FLOATS, CHS__FIXED_WIDTH, 4}, {"Float64", CHS__FLOATS, CHS__FIXED_WIDTH, 8},
    {"Bool", CHS__UINTS, CHS__FIXED_WIDTH, 1},     {"DateTime", CHS__UINTS, CHS__FIXED_WIDTH, 4},
    {"Date", CHS__UINTS, CHS__FIXED_WIDTH, 2},     {"String", CHS__STRINGS, CHS__STRING, 0},
};

static int parse_plain(chs__type *out, cursor *in)
{
    size_t i;

    for (i = 0; i < sizeof plain_types / sizeof *plain_types; i++) {
        if (!take(in, plain_types[i].name))
            continue;
        out->family = plain_types[i].family;
        out->layout = plain_types[i].layout;
        out->width = plain_types[i].width;
        out->is_bool = plain_types[i].name[0] == 'B';
        return 0;
    }
    return CHS_ERR_USAGE;
}

static int parse_element(chs__type *out, cursor *in)
{
    if (take(in, "LowCardinality(")) {
        out->family = CHS__STRINGS;
        out->layout = CHS__DICTIONARY;
        return take(in, "String") && take(in, ")") ? 0 : CHS_ERR_USAGE;
    }
    if (take(in, "FixedString("))
        return parse_fixed_string(out, in);
    if (take(in, "Enum8("))
        return parse_enum(out, in);
    if (take(in, "DateTime64(")) {
        out->family = CHS__INTS;
        out->width = 8;
        return parse_time(in, true);
    }
    if (take(in, "DateTime(")) {
        out->family = CHS__UINTS;
        out->width = 4;
        return parse_time(in, false);
    }
    return parse_plain(out, in);
}

int chs__type_parse(chs__type *out, const char *text, size_t length)
{
    cursor in;
    int rc;

    memset(out, 0, sizeof *out);
    if (length > CHS__MAX_TYPE_TEXT)
        return CHS_ERR_USAGE;
    out->text = malloc(length + 1);
    if (!out->text)
        return CHS_ERR_NO_MEMORY;
    memcpy(out->text, text, length);
    out->text[length] = '\0';
    in.at = out->text;
    in.end = out->text + length;
    out->is_array = take(&in, "Array(");
    rc = parse_element(out, &in);
    if (rc)
        return rc;
    if (out->is_array && !take(&in, ")"))
        return CHS_ERR_USAGE;
    skip_spaces(&in);
    return in.at == in.end ? 0 : CHS_ERR_USAGE;
}

void chs__type_free(chs__type *type)
{
    size_t i;

    for (i = 0; i < type->value_count; i++)
        free(type->values[i].name);
    free(type->values);
    free(type->text);
    memset(type, 0, sizeof *type);
}

const char *chs__family_name(chs__family family)
{
    static const char *const names[] = {"unsigned", "signed", "floating", "string"};

    return names[family];
}
