/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "statement.h"

/* The most bytes of a body in which its INSERT may end. */
enum { MAX_HEAD = 64 * 1024 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns where a quoted text that starts at text[at] ends. */
static size_t skip_quoted(const char *text, size_t length, size_t at)
{
    char quote = text[at++];

    while (at < length && text[at] != quote)
        at += text[at] == '\\' ? 2 : 1;
    return at < length ? at + 1 : length;
}

/* Returns the first FORMAT that is a word of its own, outside quotes; length when there is none. */
static size_t find_format(const char *text, size_t length)
{
    size_t at = 0;

    while (at + 6 < length) {
        if (strchr("'`\"", text[at]) && text[at]) {
            at = skip_quoted(text, length, at);
            continue;
        }
        if (strncasecmp(text + at, "FORMAT", 6) == 0 && !is_word(text[at + 6]) &&
            (!at || !is_word(text[at - 1])))
            return at;
        at++;
    }
    return length;
}

/* Splits text; *end is where the format's name ends. */
static bool split_text(insert_text *out, const char *text, size_t length, size_t *end)
{
    size_t start = 0, format, name;

    while (start < length && isspace((unsigned char)text[start]))
        start++;
    if (length - start < 6 || strncasecmp(text + start, "INSERT", 6) != 0)
        return false;
    format = find_format(text, length);
    if (format == length)
        return false;
    for (name = format + 6; name < length && isspace((unsigned char)text[name]); name++)
        ;
    for (*end = name; *end < length && is_word(text[*end]); ++*end)
        ;
    out->head = text + start;
    out->head_length = format - start;
    out->format = text + name;
    out->format_length = *end - name;
    return out->format_length > 0;
}

bool split_insert(insert_text *out, const char *query, const chs__buffer *body)
{
    const char *text = (const char *)body->data;
    size_t length = body->length < MAX_HEAD ? body->length : MAX_HEAD, end;

    if (query[0]) {
        if (!split_text(out, query, strlen(query), &end) || !body->length)
            return false;
        out->data = body->data;
        out->data_length = body->length;
        return true;
    }
    if (!text || !split_text(out, text, length, &end))
        return false;
    if (end < body->length && text[end] == '\r')
        end++;
    if (end < body->length && isspace((unsigned char)text[end]))
        end++;
    out->data = text + end;
    out->data_length = body->length - end;
    return out->data_length > 0;
}
