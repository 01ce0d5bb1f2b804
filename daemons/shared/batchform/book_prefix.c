/* SPDX-License-Identifier: Apache-2.0 */
#include "book_impl.h"

#include <stdlib.h>
#include <string.h>

static size_t tail(size_t length)
{
    return length < BOOK_PREFIX_MAX ? length : BOOK_PREFIX_MAX;
}

char *book__prefix(const string_table *strings, size_t bytes, const book_content *before,
                   size_t *length)
{
    size_t text = tail(bytes);
    size_t page = tail(before->length);
    char *prefix = malloc(text + page + 1);
    if (prefix == NULL)
        return NULL;
    if (text > 0)
        memcpy(prefix, strings->data + (bytes - text), text);
    if (page > 0)
        memcpy(prefix + text, before->data + (before->length - page), page);
    *length = text + page;
    return prefix;
}

void book__trim(book_content *content)
{
    size_t kept = tail(content->length);
    if (kept == content->length)
        return;
    memmove(content->data, content->data + (content->length - kept), kept);
    uint8_t *smaller = realloc(content->data, kept);
    content->data = smaller != NULL ? smaller : content->data;
    content->length = kept;
}
