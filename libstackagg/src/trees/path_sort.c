/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts a few places by insertion. Paths branch into few at a time, so more places mostly have one
 * of a few keys. These keys are counted and sorted, which gives the position of every place. Places
 * with many keys are sorted digit by digit.
 */
#include "trees/path_sort_impl.h"

#include <string.h>

/* More bits per step need more counters, which is worth it for many places. */
enum { FEW = 32, MANY = 4096, DIGIT_BITS = 8, WIDE_DIGIT_BITS = 11 };

/* ---- few places ---- */

static void sort_few(sagg__path_place *places, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        sagg__path_place place = places[i];
        uint32_t at = i;
        for (; at > 0 && places[at - 1].key > place.key; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
}

/* ---- few keys ---- */

enum { KEYS = 64, SLOT_BITS = 8, SLOTS = 1 << SLOT_BITS };

typedef struct different {
    uint64_t keys[KEYS]; /* in the order of their first places */
    uint32_t sizes[KEYS];
    uint32_t count;
    uint8_t slots[SLOTS]; /* by hash: number of a key + 1; 0 = free */
} different;

/* Returns the number of a key, which is added if it is new; KEYS when there would be too many. */
static uint32_t number_of(different *d, uint64_t key)
{
    uint32_t slot = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOT_BITS));
    for (; d->slots[slot] != 0; slot = (slot + 1) % SLOTS)
        if (d->keys[d->slots[slot] - 1] == key)
            return d->slots[slot] - 1u;
    if (d->count == KEYS)
        return KEYS;
    d->keys[d->count] = key;
    d->sizes[d->count++] = 0;
    d->slots[slot] = (uint8_t)d->count;
    return d->count - 1;
}

static bool count_keys(different *d, const sagg__path_place *places, uint32_t count)
{
    d->count = 0;
    memset(d->slots, 0, sizeof(d->slots));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = number_of(d, places[i].key);
        if (number == KEYS)
            return false;
        d->sizes[number]++;
    }
    return true;
}

/* Finds where the places of each key begin, by its number. */
static void find_begins(const different *d, uint32_t begins[KEYS])
{
    uint8_t order[KEYS];
    uint32_t begin = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t at = i;
        for (; at > 0 && d->keys[order[at - 1]] > d->keys[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < d->count; i++) {
        begins[order[i]] = begin;
        begin += d->sizes[order[i]];
    }
}

/* Returns false when there are too many keys; nothing is sorted then. */
static bool sort_few_keys(sagg__path_place *places, sagg__path_place *room, uint32_t count)
{
    different d;
    uint32_t begins[KEYS];
    if (!count_keys(&d, places, count))
        return false;
    find_begins(&d, begins);
    for (uint32_t i = 0; i < count; i++)
        room[begins[number_of(&d, places[i].key)]++] = places[i];
    memcpy(places, room, count * sizeof(*places));
    return true;
}

/* ---- many places and keys ---- */

/* Sorts by the `bits` bits of the key at `shift`; equal ones keep their order. */
static void sort_digit(sagg__path_place *out, const sagg__path_place *places, uint32_t count,
                       unsigned shift, unsigned bits)
{
    uint32_t begins[(1u << WIDE_DIGIT_BITS) + 1];
    const uint32_t digits = 1u << bits;
    memset(begins, 0, (digits + 1) * sizeof(*begins));
    for (uint32_t i = 0; i < count; i++)
        begins[(places[i].key >> shift & (digits - 1)) + 1]++;
    for (uint32_t i = 1; i < digits; i++)
        begins[i] += begins[i - 1];
    for (uint32_t i = 0; i < count; i++)
        out[begins[places[i].key >> shift & (digits - 1)]++] = places[i];
}

static void sort_digits(sagg__path_place *places, sagg__path_place *room, uint32_t count)
{
    const unsigned bits = count < MANY ? DIGIT_BITS : WIDE_DIGIT_BITS;
    sagg__path_place *from = places;
    sagg__path_place *to = room;
    uint64_t differ = 0;
    for (uint32_t i = 1; i < count; i++)
        differ |= places[i].key ^ places[0].key;
    while (differ != 0) {
        unsigned shift = (unsigned)__builtin_ctzll(differ);
        sort_digit(to, from, count, shift, bits);
        sagg__path_place *swap = from;
        from = to;
        to = swap;
        differ = shift + bits < 64 ? differ >> (shift + bits) << (shift + bits) : 0;
    }
    if (from != places)
        memcpy(places, from, count * sizeof(*places));
}

void sagg__sort_by_key(sagg__path_place *places, sagg__path_place *room, uint32_t count)
{
    if (count <= FEW)
        sort_few(places, count);
    else if (!sort_few_keys(places, room, count))
        sort_digits(places, room, count);
}
