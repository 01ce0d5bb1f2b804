/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/flatbuffer.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(flatbuffer *b, size_t more)
{
    if (b->failed || b->size + more <= b->room)
        return !b->failed;
    size_t room = (b->size + more) * 2 + 1024;
    unsigned char *data = calloc(1, room);
    if (data == NULL) {
        b->failed = true;
        return false;
    }
    if (b->size > 0)
        memcpy(data + room - b->size, b->data + b->room - b->size, b->size);
    free(b->data);
    b->data = data;
    b->room = room;
    return true;
}

static void put(flatbuffer *b, const void *bytes, size_t size)
{
    if (size == 0 || !reserve(b, size))
        return;
    b->size += size;
    memcpy(b->data + b->room - b->size, bytes, size);
}

/* Adds zeros, so that the next value of `size` bytes is at a multiple of `align`. */
static void pad(flatbuffer *b, size_t size, size_t align)
{
    static const unsigned char zeros[8];
    put(b, zeros, (align - (b->size + size) % align) % align);
}

/* Adds a number in this machine's byte order. All supported machines are little-endian, as the
 * format is. */
static void put_scalar(flatbuffer *b, const void *value, size_t size)
{
    pad(b, size, size);
    put(b, value, size);
}

/* Adds a reference. It points forward and is relative to its own position. */
static void put_ref(flatbuffer *b, flat_ref to)
{
    pad(b, sizeof(uint32_t), sizeof(uint32_t));
    uint32_t distance = (uint32_t)(b->size + sizeof(uint32_t)) - to;
    put(b, &distance, sizeof(distance));
}

static flat_ref put_length(flatbuffer *b, size_t count)
{
    uint32_t length = (uint32_t)count;
    put(b, &length, sizeof(length));
    return (flat_ref)b->size;
}

flat_ref flat_string(flatbuffer *b, const char *text)
{
    size_t size = strlen(text);
    pad(b, size + 1, sizeof(uint32_t));
    put(b, text, size + 1);
    return put_length(b, size);
}

flat_ref flat_vector(flatbuffer *b, const flat_ref *refs, size_t count)
{
    for (size_t i = count; i-- > 0;)
        put_ref(b, refs[i]);
    pad(b, 0, sizeof(uint32_t));
    return put_length(b, count);
}

flat_ref flat_structs(flatbuffer *b, const uint64_t *words, size_t words_each, size_t count)
{
    pad(b, 0, sizeof(uint64_t));
    put(b, words, count * words_each * sizeof(*words));
    return put_length(b, count);
}

void flat_begin(flatbuffer *b)
{
    memset(b->slots, 0, sizeof(b->slots));
    b->table = (uint32_t)b->size;
}

static void put_field(flatbuffer *b, unsigned slot, const void *value, size_t size)
{
    put_scalar(b, value, size);
    b->slots[slot] = (uint32_t)b->size;
}

void flat_u8(flatbuffer *b, unsigned slot, uint8_t value)
{
    put_field(b, slot, &value, sizeof(value));
}

void flat_i16(flatbuffer *b, unsigned slot, int16_t value)
{
    put_field(b, slot, &value, sizeof(value));
}

void flat_i32(flatbuffer *b, unsigned slot, int32_t value)
{
    put_field(b, slot, &value, sizeof(value));
}

void flat_i64(flatbuffer *b, unsigned slot, int64_t value)
{
    put_field(b, slot, &value, sizeof(value));
}

void flat_child(flatbuffer *b, unsigned slot, flat_ref child)
{
    put_ref(b, child);
    b->slots[slot] = (uint32_t)b->size;
}

/* A table begins with the distance back to its list of fields, which precedes it. */
flat_ref flat_end(flatbuffer *b)
{
    uint16_t list[FLAT_SLOTS + 2] = {sizeof(list)};
    int32_t to_list = sizeof(list);
    put_scalar(b, &to_list, sizeof(to_list));
    flat_ref table = (flat_ref)b->size;
    list[1] = (uint16_t)(table - b->table);
    for (size_t i = 0; i < FLAT_SLOTS; i++)
        list[i + 2] = b->slots[i] != 0 ? (uint16_t)(table - b->slots[i]) : 0;
    put(b, list, sizeof(list));
    return table;
}

const unsigned char *flat_finish(flatbuffer *b, flat_ref root)
{
    pad(b, sizeof(uint32_t), sizeof(uint64_t));
    put_ref(b, root);
    return b->failed ? NULL : b->data + b->room - b->size;
}

void flat_clear(flatbuffer *b)
{
    b->size = 0;
}

void flat_free(flatbuffer *b)
{
    free(b->data);
    *b = (flatbuffer){0};
}
