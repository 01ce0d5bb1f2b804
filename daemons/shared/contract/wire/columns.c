/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/wire/columns.h>

#include <stdlib.h>
#include <string.h>

void *arena_take(arena *in, size_t bytes)
{
    if (array_reserve((void **)&in->blocks, &in->room, in->count, sizeof(*in->blocks)) != 0)
        return NULL;
    void *block = calloc(1, bytes + 1);
    if (block != NULL)
        in->blocks[in->count++] = block;
    return block;
}

void arena_free(arena *in)
{
    for (size_t i = 0; i < in->count; i++)
        free(in->blocks[i]);
    free(in->blocks);
    *in = (arena){0};
}

int columns_out(arena *in, void *message, const void *items, size_t item_size, size_t count,
                const column *table, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        const column *one = &table[c];
        char *values = arena_take(in, count * one->width);
        if (values == NULL)
            return -1;
        for (size_t i = 0; i < count; i++)
            memcpy(values + i * one->width, (const char *)items + i * item_size + one->plain,
                   one->width);
        memcpy((char *)message + one->wire_count, &count, sizeof(count));
        memcpy((char *)message + one->wire_array, &values, sizeof(values));
    }
    return 0;
}

int columns_in(void **items, size_t item_size, size_t *count, const void *message,
               const column *table, size_t columns)
{
    memcpy(count, (const char *)message + table[0].wire_count, sizeof(*count));
    char *to = calloc(*count + 1, item_size);
    if (to == NULL)
        return -1;
    for (size_t c = 0; c < columns; c++) {
        const column *one = &table[c];
        size_t length = 0;
        const char *values = NULL;
        memcpy(&length, (const char *)message + one->wire_count, sizeof(length));
        memcpy(&values, (const char *)message + one->wire_array, sizeof(values));
        if (length != *count) {
            free(to);
            return -1;
        }
        for (size_t i = 0; i < *count; i++)
            memcpy(to + i * item_size + one->plain, values + i * one->width, one->width);
    }
    *items = to;
    return 0;
}

Hotstack__V1__StringTable *strings_out(arena *in, const string_table *from)
{
    Hotstack__V1__StringTable *to = arena_take(in, sizeof(*to));
    uint32_t *lengths = arena_take(in, (from->count + 1) * sizeof(*lengths));
    if (to == NULL || lengths == NULL)
        return NULL;
    hotstack__v1__string_table__init(to);
    if (from->count > 0)
        memcpy(lengths, from->lengths, from->count * sizeof(*lengths));
    to->length = lengths;
    to->n_length = from->count > 0 ? from->count : 1; /* entry 0 always exists */
    to->data = (ProtobufCBinaryData){.len = from->bytes, .data = (uint8_t *)from->data};
    return to;
}

int strings_in(string_table *to, const Hotstack__V1__StringTable *from)
{
    size_t at = 0;
    if (from == NULL)
        return -1;
    for (size_t i = 0; i < from->n_length; i++) {
        uint32_t index = 0;
        if (from->length[i] > from->data.len - at ||
            string_table_add(to, (const char *)from->data.data + at, from->length[i], &index) != 0)
            return -1;
        if (index != i)
            return -1;
        at += from->length[i];
    }
    return at == from->data.len ? 0 : -1;
}

int message_pack(const ProtobufCMessage *message, uint8_t **out, size_t *length)
{
    *length = protobuf_c_message_get_packed_size(message);
    *out = malloc(*length + 1);
    if (*out == NULL)
        return -1;
    protobuf_c_message_pack(message, *out);
    return 0;
}
