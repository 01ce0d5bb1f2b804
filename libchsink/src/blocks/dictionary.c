/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include <xxhash.h>

#include "blocks/dictionary_impl.h"

typedef struct chs__place {
    uint64_t hash;
    size_t offset; /* of the bytes in keys, after their length */
    size_t length;
} chs__place;

static const chs__place *place_at(const chs__dictionary *dictionary, uint32_t number)
{
    return (const chs__place *)(const void *)dictionary->places.data + number;
}

/* Returns a seed. Strings often come from outside, and a sender that knew the hash could choose
 * strings for few slots. The seed does not affect any number that is visible outside. */
static uint64_t draw_seed(const chs__dictionary *dictionary)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        return seed;
    return (uint64_t)(uintptr_t)dictionary; /* early at boot */
}

/* Doubles the slots when half of them are used. */
static int make_slots(chs__dictionary *dictionary)
{
    size_t slot_count = dictionary->slot_count ? dictionary->slot_count * 2 : 64;
    uint32_t *slots;
    uint32_t number;

    if (((size_t)dictionary->count + 1) * 2 <= dictionary->slot_count)
        return 0;
    slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return CHS_ERR_NO_MEMORY;
    for (number = 0; number < dictionary->count; number++) {
        size_t slot = place_at(dictionary, number)->hash & (slot_count - 1);

        while (slots[slot])
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = number + 1;
    }
    if (!dictionary->slots)
        dictionary->seed = draw_seed(dictionary);
    free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = slot_count;
    return 0;
}

static int add_key(chs__dictionary *dictionary, const void *data, size_t length, uint64_t hash)
{
    chs__place place = {hash, 0, length};
    size_t before = dictionary->keys.length;
    int rc = chs__buffer_string(&dictionary->keys, data, length);

    place.offset = dictionary->keys.length - length;
    if (!rc)
        rc = chs__buffer_add(&dictionary->places, &place, sizeof place);
    if (rc) {
        dictionary->keys.length = before;
        return rc;
    }
    dictionary->count++;
    return 0;
}

static bool is_key(const chs__dictionary *dictionary, uint32_t number, const void *data,
                   size_t length)
{
    const chs__place *place = place_at(dictionary, number);

    return place->length == length &&
           (!length || memcmp(dictionary->keys.data + place->offset, data, length) == 0);
}

static int find_or_add(chs__dictionary *dictionary, const void *data, size_t length,
                       uint32_t *number)
{
    uint64_t hash;
    size_t slot;
    int rc = make_slots(dictionary);

    if (rc)
        return rc;
    hash = XXH3_64bits_withSeed(data, length, dictionary->seed);
    for (slot = hash & (dictionary->slot_count - 1); dictionary->slots[slot];
         slot = (slot + 1) & (dictionary->slot_count - 1)) {
        *number = dictionary->slots[slot] - 1;
        if (place_at(dictionary, *number)->hash == hash &&
            is_key(dictionary, *number, data, length))
            return 0;
    }
    rc = add_key(dictionary, data, length, hash);
    if (rc)
        return rc;
    *number = dictionary->count - 1;
    dictionary->slots[slot] = dictionary->count;
    return 0;
}

/* Gives the number of a string. Adjacent rows mostly repeat a value, so the last one is compared
 * before any hashing. */
int chs__dictionary_number(chs__dictionary *dictionary, const void *data, size_t length,
                           uint32_t *number)
{
    int rc;

    if (dictionary->count && is_key(dictionary, dictionary->last, data, length)) {
        *number = dictionary->last;
        return 0;
    }
    rc = find_or_add(dictionary, data, length, number);
    if (!rc)
        dictionary->last = *number;
    return rc;
}

void chs__dictionary_clear(chs__dictionary *dictionary)
{
    dictionary->keys.length = 0;
    dictionary->places.length = 0;
    dictionary->count = 0;
    dictionary->last = 0;
    if (dictionary->slots)
        memset(dictionary->slots, 0, dictionary->slot_count * sizeof *dictionary->slots);
}

void chs__dictionary_free(chs__dictionary *dictionary)
{
    chs__buffer_free(&dictionary->keys);
    chs__buffer_free(&dictionary->places);
    free(dictionary->slots);
    memset(dictionary, 0, sizeof *dictionary);
}
