/* SPDX-License-Identifier: Apache-2.0 */
#include "pools/idmap_impl.h"

#include "random_impl.h"

#include <jfr/sample.h>
#include <stdbool.h>
#include <string.h>

static size_t slot_of(const jfr__idmap *map, uint64_t key)
{
    uint64_t hash = (key ^ key >> 32) * map->multiplier;
    return (size_t)(hash >> 32) & (map->capacity - 1);
}

void jfr__idmap_init(jfr__idmap *map, const jfr_allocator *alloc)
{
    *map = (jfr__idmap){.alloc = alloc};
}

static void release(const jfr__idmap *map, void *block)
{
    if (block != NULL)
        map->alloc->free(map->alloc->ctx, block);
}

void jfr__idmap_free(jfr__idmap *map)
{
    release(map, map->by_id);
    release(map, map->rising);
    release(map, map->keys);
    release(map, map->values);
}

/* Empties the map. A map that has become a hash table stays a hash table. */
void jfr__idmap_clear(jfr__idmap *map)
{
    map->direct = NULL;
    if (map->capacity > 0)
        memset(map->values, 0, map->capacity * sizeof(*map->values));
    map->count = 0;
    map->max_key = 0;
}

static void insert(jfr__idmap *map, uint64_t key, uint32_t value)
{
    size_t slot = slot_of(map, key);
    while (map->values[slot] != 0)
        slot = (slot + 1) & (map->capacity - 1);
    map->keys[slot] = key;
    map->values[slot] = value;
}

/* Inserts all entries of `from`, from its hash table, its table by id or its list. */
static void insert_all(jfr__idmap *to, const jfr__idmap *from)
{
    if (from->capacity > 0) {
        for (size_t i = 0; i < from->capacity; i++) {
            if (from->values[i] != 0)
                insert(to, from->keys[i], from->values[i]);
        }
    } else if (from->direct != NULL) {
        for (uint64_t key = 0; key <= from->max_key; key++) {
            if (from->direct[key] != 0)
                insert(to, key, from->direct[key]);
        }
    } else {
        for (uint32_t i = 0; i < from->count; i++)
            insert(to, from->rising[i], i + 1);
    }
}

/* Moves the keys into a hash table of `capacity`, a power of two. */
static int rehash(jfr__idmap *map, size_t capacity)
{
    jfr__idmap next = *map;
    void *ctx = map->alloc->ctx;
    next.capacity = capacity;
    if (map->multiplier == 0)
        next.multiplier = jfr__random() | 1;
    next.keys = map->alloc->alloc(ctx, capacity * sizeof(*next.keys));
    next.values = map->alloc->alloc(ctx, capacity * sizeof(*next.values));
    if (next.keys == NULL || next.values == NULL) {
        release(map, next.keys);
        release(map, next.values);
        return -1;
    }
    memset(next.values, 0, capacity * sizeof(*next.values));
    insert_all(&next, map);
    release(map, map->rising);
    release(map, map->keys);
    release(map, map->values);
    next.rising = NULL;
    next.rising_cap = 0;
    next.direct = NULL;
    *map = next;
    return 0;
}

/* Turns the list or the table by id into a hash table. */
static int fold(jfr__idmap *map)
{
    size_t capacity = 64;
    while (capacity <= (size_t)map->count * 2)
        capacity *= 2;
    return rehash(map, capacity);
}

static uint32_t append(jfr__idmap *map, uint64_t key)
{
    void *list = map->rising;
    if (jfr__grow(map->alloc, &list, &map->rising_cap, (size_t)map->count + 1, sizeof(key)) < 0)
        return JFR_NONE;
    map->rising = list;
    map->rising[map->count] = key;
    map->max_key = key;
    return map->count++;
}

static uint32_t find_rising(const jfr__idmap *map, uint64_t key)
{
    uint32_t low = 0;
    uint32_t high = map->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->rising[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->rising[low] == key ? low : JFR_NONE;
}

static uint32_t find_hashed(const jfr__idmap *map, uint64_t key)
{
    size_t slot = slot_of(map, key);
    while (map->values[slot] != 0) {
        if (map->keys[slot] == key)
            return map->values[slot] - 1;
        slot = (slot + 1) & (map->capacity - 1);
    }
    return JFR_NONE;
}

uint32_t jfr__idmap_search(const jfr__idmap *map, uint64_t key)
{
    return map->capacity > 0 ? find_hashed(map, key) : find_rising(map, key);
}

/* A table by id may have this many unused entries: the JDK's few event types with samples have ids
 * up to some thousand. */
enum { SPARE = 4096 };

/* Extends the table by id to hold `key`, and clears the new entries. */
static bool reserve_by_id(jfr__idmap *map, uint64_t key)
{
    void *table = map->by_id;
    size_t used = map->direct != NULL ? (size_t)map->max_key + 1 : 0;
    if (key > ((uint64_t)map->count + 1) * 4 + SPARE ||
        jfr__grow(map->alloc, &table, &map->by_id_cap, (size_t)key + 1, sizeof(*map->by_id)) < 0)
        return false;
    map->by_id = table;
    memset(map->by_id + used, 0, ((size_t)key + 1 - used) * sizeof(*map->by_id));
    return true;
}

/* Turns the list or the hash table into a table by id, unless the ids are too far apart. */
static bool make_direct(jfr__idmap *map)
{
    if (!reserve_by_id(map, map->max_key))
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] != 0)
            map->by_id[map->keys[i]] = map->values[i];
    }
    for (uint32_t i = 0; map->capacity == 0 && i < map->count; i++)
        map->by_id[map->rising[i]] = i + 1;
    map->direct = map->by_id;
    return true;
}

static bool put_direct(jfr__idmap *map, uint64_t key)
{
    if (key > map->max_key) {
        if (!reserve_by_id(map, key))
            return false;
        map->max_key = key;
        map->direct = map->by_id;
    }
    map->direct[key] = ++map->count;
    return true;
}

static uint32_t put_hashed(jfr__idmap *map, uint64_t key)
{
    bool is_full = (size_t)map->count * 2 >= map->capacity;
    bool is_first = map->capacity == 0;
    if (is_full && (is_first ? fold(map) : rehash(map, map->capacity * 2)) < 0)
        return JFR_NONE;
    map->direct = NULL; /* outdated: from before the hash table, or from jfr__idmap_finish */
    insert(map, key, ++map->count);
    if (key > map->max_key)
        map->max_key = key;
    return map->count - 1;
}

uint32_t jfr__idmap_put(jfr__idmap *map, uint64_t key)
{
    bool is_list = map->capacity == 0 && map->direct == NULL;
    if (is_list && (map->count == 0 || key > map->max_key))
        return append(map, key);
    uint32_t found = jfr__idmap_find(map, key);
    if (found != JFR_NONE)
        return found;
    bool is_direct = map->capacity == 0 && (map->direct != NULL || make_direct(map));
    if (is_direct && put_direct(map, key))
        return map->count - 1;
    return put_hashed(map, key);
}

void jfr__idmap_finish(jfr__idmap *map)
{
    if (map->count == 0 || map->direct != NULL || make_direct(map) || map->capacity > 0)
        return;
    (void)fold(map); /* without memory for it, the list is searched */
}
