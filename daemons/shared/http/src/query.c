/* SPDX-License-Identifier: Apache-2.0 */
#include <http/query.h>

#include <base/utf8.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool http__is_text(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t i = 0; i < length;) {
        size_t step = utf8_sequence(bytes + i, length - i);
        if (step == 0 || bytes[i] < 0x20 || bytes[i] == 0x7f)
            return false;
        i += step;
    }
    return true;
}

int http_percent_decode(char *out, const char *text, size_t length, http_error *err)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            out[used++] = text[i];
            continue;
        }
        bool whole = length - i > 2;
        int high = whole ? hex_value(text[i + 1]) : -1;
        int low = whole ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return http__fail(err, HTTP_ERR_FORMAT, i,
                              "A %% is not followed by two hex digits at byte %zu.", i);
        out[used++] = (char)(high * 16 + low);
        i += 2;
    }
    out[used] = '\0';
    if (!http__is_text(out, used))
        return http__fail(err, HTTP_ERR_FORMAT, 0,
                          "A value is not UTF-8 text, or holds a control character.");
    return 0;
}

/* Decodes one "name=value" of length bytes into storage; returns the bytes of storage used. */
static int add_pair(http_query *query, const char *pair, size_t length, char *storage,
                    http_error *err)
{
    const char *equals = memchr(pair, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - pair) : length;
    const char *value = equals != NULL ? equals + 1 : pair + length;
    size_t value_length = (size_t)(pair + length - value);
    char *value_storage = storage + name_length + 1;

    if (http_percent_decode(storage, pair, name_length, err) != 0 ||
        http_percent_decode(value_storage, value, value_length, err) != 0)
        return HTTP_ERR_FORMAT;
    if (storage[0] == '\0')
        return http__fail(err, HTTP_ERR_FORMAT, 0, "A query parameter has no name.");
    if (http_query_get(query, storage) != NULL)
        return http__fail(err, HTTP_ERR_FORMAT, 0, "The query parameter \"%.64s\" occurs twice.",
                          storage);
    if (query->count == HTTP_QUERY_MAX)
        return http__fail(err, HTTP_ERR_LIMIT, 0, "The query has more than %d parameters.",
                          HTTP_QUERY_MAX);
    query->names[query->count] = storage;
    query->values[query->count++] = value_storage;
    return 0;
}

int http_query_parse(http_query *out, const char *text, http_error *err)
{
    size_t length = strlen(text);

    memset(out, 0, sizeof(*out));
    /* A pair of n > 0 bytes needs at most n + 2: two NULs, and no "=" in the worst case. */
    out->storage = malloc(3 * length + 1);
    if (out->storage == NULL)
        return http__fail(err, HTTP_ERR_NO_MEMORY, 0, "No memory for the query.");
    char *storage = out->storage;
    for (const char *p = text; *p != '\0';) {
        size_t pair = strcspn(p, "&");
        int rc = pair > 0 ? add_pair(out, p, pair, storage, err) : 0;
        if (rc != 0)
            return rc;
        storage += pair > 0 ? pair + 2 : 0;
        p += pair + (p[pair] == '&' ? 1 : 0);
    }
    return 0;
}

void http_query_clear(http_query *query)
{
    free(query->storage);
    memset(query, 0, sizeof(*query));
}

const char *http_query_get(const http_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->names[i], name) == 0)
            return query->values[i];
    }
    return NULL;
}

const char *http_query_unknown(const http_query *query, const char *const *allowed)
{
    for (size_t i = 0; i < query->count; i++) {
        const char *const *name = allowed;
        while (*name != NULL && strcmp(*name, query->names[i]) != 0)
            name++;
        if (*name == NULL)
            return query->names[i];
    }
    return NULL;
}
