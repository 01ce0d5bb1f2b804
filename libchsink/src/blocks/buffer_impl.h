/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a limit: the only place in which the library's writers allocate
 * memory. */
#ifndef CHSINK_SRC_BUFFER_H
#define CHSINK_SRC_BUFFER_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "chsink_impl.h"

/* A buffer. data is owned; max of 0 means no limit. Zero-initialise, free with chs__buffer_free. */
typedef struct chs__buffer {
    unsigned char *data;
    size_t length;
    size_t capacity;
    size_t max;
} chs__buffer;

/*
 * Makes room for extra more bytes. Returns 0, CHS_ERR_NO_MEMORY or CHS_ERR_LIMIT (err not filled).
 */
int chs__buffer_grow(chs__buffer *buffer, size_t extra);

void chs__buffer_free(chs__buffer *buffer);

static inline int chs__buffer_reserve(chs__buffer *buffer, size_t extra)
{
    if (buffer->data && extra <= buffer->capacity - buffer->length)
        return 0;
    return chs__buffer_grow(buffer, extra);
}

static inline int chs__buffer_add(chs__buffer *buffer, const void *data, size_t length)
{
    int rc = chs__buffer_reserve(buffer, length);

    if (rc)
        return rc;
    if (length)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    return 0;
}

static inline int chs__buffer_text(chs__buffer *buffer, const char *text)
{
    return chs__buffer_add(buffer, text, strlen(text));
}

/* Appends a little-endian number of width 1..8 bytes. */
static inline int chs__buffer_le(chs__buffer *buffer, uint64_t value, size_t width)
{
    uint64_t little = htole64(value);
    int rc = chs__buffer_reserve(buffer, sizeof little);

    if (rc)
        return rc;
    memcpy(buffer->data + buffer->length, &little, sizeof little); /* overwritten past width */
    buffer->length += width;
    return 0;
}

/* Appends LEB128, ClickHouse's VarUInt. */
int chs__buffer_varint(chs__buffer *buffer, uint64_t value);

/* Appends a varint length, then the bytes: a String in every ClickHouse binary format. */
int chs__buffer_string(chs__buffer *buffer, const void *data, size_t length);

#endif
