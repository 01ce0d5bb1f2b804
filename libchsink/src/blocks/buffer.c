/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "blocks/buffer_impl.h"

int chs__buffer_grow(chs__buffer *buffer, size_t extra)
{
    size_t max = buffer->max ? buffer->max : SIZE_MAX / 2;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    unsigned char *data;

    if (extra > max || buffer->length > max - extra)
        return CHS_ERR_LIMIT;
    while (capacity < buffer->length + extra)
        capacity *= 2;
    data = realloc(buffer->data, capacity);
    if (!data)
        return CHS_ERR_NO_MEMORY;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

void chs__buffer_free(chs__buffer *buffer)
{
    free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
}

int chs__buffer_varint(chs__buffer *buffer, uint64_t value)
{
    unsigned char bytes[10];
    size_t length = 0;

    do {
        unsigned char byte = value & 0x7f;

        value >>= 7;
        bytes[length++] = value ? byte | 0x80 : byte;
    } while (value);
    return chs__buffer_add(buffer, bytes, length);
}

int chs__buffer_string(chs__buffer *buffer, const void *data, size_t length)
{
    int rc = chs__buffer_varint(buffer, length);

    return rc ? rc : chs__buffer_add(buffer, data, length);
}
