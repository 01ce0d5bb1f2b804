/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables that give equal contents one index: strings, and keys of a fixed size. */
#ifndef CONTRACT_INTERN_H
#define CONTRACT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRING_BYTES_MAX = 65535 };

/* Strings one after the other, as the contract's StringTable: entry 0 is "". Zero it to begin. */
typedef struct string_table {
    char *data;
    uint32_t *lengths;
    uint32_t *offsets;
    size_t bytes;
    size_t count;
    size_t data_room;
    size_t entry_room;
    uint32_t *slots; /* index + 1, 0 = free */
    size_t slot_count;
} string_table;

/*
 * Gets the index of `text`, and adds it if it is new. Bytes that are not UTF-8, and NUL, become
 * '?'; a text longer than STRING_BYTES_MAX is cut after a character. Returns 0 or -1 (no memory).
 */
int string_table_add(string_table *table, const char *text, size_t length, uint32_t *index);
const char *string_table_at(const string_table *table, uint32_t index, size_t *length);
void string_table_clear(string_table *table);

/* Keys of `key_size` bytes each, one after the other. Zero it and set key_size to begin. */
typedef struct key_table {
    size_t key_size;
    uint8_t *keys;
    size_t count;
    size_t room;
    uint32_t *slots;
    size_t slot_count;
} key_table;

/* Gets the index of a key, and adds it if it is new, which *is_new says. Returns 0 or -1 (no
 * memory). */
int key_table_add(key_table *table, const void *key, uint32_t *index, bool *is_new);
bool key_table_has(const key_table *table, const void *key);
void key_table_clear(key_table *table);

/* Grows a malloc'd array of items so that one more fits. Returns 0 or -1. */
int array_reserve(void **items, size_t *room, size_t count, size_t item_size);

#endif
