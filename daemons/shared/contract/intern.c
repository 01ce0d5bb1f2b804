/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/intern.h>

#include <base/seeded_hash.h>
#include <base/utf8.h>
#include <stdlib.h>
#include <string.h>

int array_reserve(void **items, size_t *room, size_t count, size_t item_size)
{
    if (count < *room)
        return 0;
    size_t wanted = *room < 16 ? 16 : *room * 2;
    void *grown = realloc(*items, wanted * item_size);
    if (grown == NULL)
        return -1;
    *items = grown;
    *room = wanted;
    return 0;
}

static void place(uint32_t *slots, size_t slot_count, uint64_t hash, uint32_t value)
{
    size_t at = (size_t)hash & (slot_count - 1);
    while (slots[at] != 0)
        at = (at + 1) & (slot_count - 1);
    slots[at] = value;
}

/* Copies text as clean UTF-8 of at most STRING_BYTES_MAX bytes; returns its length. */
static size_t clean(char *to, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        size_t sequence = utf8_sequence((const unsigned char *)text + at, length - at);
        size_t step = sequence != 0 ? sequence : 1;
        if (used + step > STRING_BYTES_MAX)
            break;
        if (sequence != 0)
            memcpy(to + used, text + at, sequence);
        else
            to[used] = '?';
        used += step;
        at += step;
    }
    return used;
}

static int grow_string_slots(string_table *table)
{
    if (table->count * 2 < table->slot_count)
        return 0;
    size_t wanted = table->slot_count == 0 ? 64 : table->slot_count * 2;
    uint32_t *slots = calloc(wanted, sizeof(*slots));
    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < table->count; i++)
        place(slots, wanted, seeded_hash(table->data + table->offsets[i], table->lengths[i]),
              (uint32_t)i + 1);
    free(table->slots);
    table->slots = slots;
    table->slot_count = wanted;
    return 0;
}

static bool find_string(const string_table *table, const char *text, size_t length, uint64_t hash,
                        uint32_t *index)
{
    for (size_t at = (size_t)hash & (table->slot_count - 1); table->slots[at] != 0;
         at = (at + 1) & (table->slot_count - 1)) {
        uint32_t one = table->slots[at] - 1;
        if (table->lengths[one] == length &&
            memcmp(table->data + table->offsets[one], text, length) == 0) {
            *index = one;
            return true;
        }
    }
    return false;
}

static int reserve_string(string_table *table, size_t length)
{
    while (table->data_room < table->bytes + length + 1) {
        size_t wanted = table->data_room == 0 ? 1024 : table->data_room * 2;
        char *grown = realloc(table->data, wanted);
        if (grown == NULL)
            return -1;
        table->data = grown;
        table->data_room = wanted;
    }
    size_t room = table->entry_room;
    if (array_reserve((void **)&table->offsets, &room, table->count, sizeof(uint32_t)) != 0)
        return -1;
    return array_reserve((void **)&table->lengths, &table->entry_room, table->count,
                         sizeof(uint32_t));
}

static int append(string_table *table, const char *text, size_t length)
{
    if (table->bytes + length > UINT32_MAX || table->count >= UINT32_MAX - 1 ||
        reserve_string(table, length) != 0)
        return -1;
    if (length > 0)
        memcpy(table->data + table->bytes, text, length);
    table->offsets[table->count] = (uint32_t)table->bytes;
    table->lengths[table->count++] = (uint32_t)length;
    table->bytes += length;
    return 0;
}

static int add_clean(string_table *table, const char *text, size_t length, uint32_t *index)
{
    uint64_t hash = seeded_hash(text, length);
    if (table->slot_count > 0 && find_string(table, text, length, hash, index))
        return 0;
    if (grow_string_slots(table) != 0 || append(table, text, length) != 0)
        return -1;
    *index = (uint32_t)table->count - 1;
    place(table->slots, table->slot_count, hash, *index + 1);
    return 0;
}

int string_table_add(string_table *table, const char *text, size_t length, uint32_t *index)
{
    if (table->count == 0 && add_clean(table, "", 0, index) != 0)
        return -1;
    if (length == 0) {
        *index = 0;
        return 0;
    }
    char *cleaned = malloc(length < STRING_BYTES_MAX ? length : STRING_BYTES_MAX);
    if (cleaned == NULL)
        return -1;
    int rc = add_clean(table, cleaned, clean(cleaned, text, length), index);
    free(cleaned);
    return rc;
}

const char *string_table_at(const string_table *table, uint32_t index, size_t *length)
{
    if (index >= table->count) {
        *length = 0;
        return "";
    }
    *length = table->lengths[index];
    return table->data + table->offsets[index];
}

void string_table_clear(string_table *table)
{
    free(table->data);
    free(table->lengths);
    free(table->offsets);
    free(table->slots);
    *table = (string_table){0};
}

static int grow_key_slots(key_table *table)
{
    if (table->count * 2 < table->slot_count)
        return 0;
    size_t wanted = table->slot_count == 0 ? 64 : table->slot_count * 2;
    uint32_t *slots = calloc(wanted, sizeof(*slots));
    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < table->count; i++)
        place(slots, wanted, seeded_hash(table->keys + i * table->key_size, table->key_size),
              (uint32_t)i + 1);
    free(table->slots);
    table->slots = slots;
    table->slot_count = wanted;
    return 0;
}

static bool find_key(const key_table *table, const void *key, uint64_t hash, uint32_t *index)
{
    if (table->slot_count == 0)
        return false;
    for (size_t at = (size_t)hash & (table->slot_count - 1); table->slots[at] != 0;
         at = (at + 1) & (table->slot_count - 1)) {
        *index = table->slots[at] - 1;
        if (memcmp(table->keys + *index * table->key_size, key, table->key_size) == 0)
            return true;
    }
    return false;
}

bool key_table_has(const key_table *table, const void *key)
{
    uint32_t index = 0;
    return find_key(table, key, seeded_hash(key, table->key_size), &index);
}

int key_table_add(key_table *table, const void *key, uint32_t *index, bool *is_new)
{
    uint64_t hash = seeded_hash(key, table->key_size);
    *is_new = false;
    if (find_key(table, key, hash, index))
        return 0;
    if (table->count >= UINT32_MAX - 1 ||
        array_reserve((void **)&table->keys, &table->room, table->count, table->key_size) != 0 ||
        grow_key_slots(table) != 0)
        return -1;
    memcpy(table->keys + table->count * table->key_size, key, table->key_size);
    *index = (uint32_t)table->count++;
    place(table->slots, table->slot_count, hash, *index + 1);
    *is_new = true;
    return 0;
}

void key_table_clear(key_table *table)
{
    free(table->keys);
    free(table->slots);
    *table = (key_table){.key_size = table->key_size};
}
