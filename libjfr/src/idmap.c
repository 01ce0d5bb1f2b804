#include "idmap.h"

#include "random.h"

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
    *map = (jfr__idmap){.alloc = alloc, .multiplier = jfr__random() | 1};
}

static void drop_direct(jfr__idmap *map)
{
    if (map->direct != NULL)
        map->alloc->free(map->alloc->ctx, map->direct);
    map->direct = NULL;
}

static void release(const jfr__idmap *map, void *block)
{
    if (block != NULL)
        map->alloc->free(map->alloc->ctx, block);
}

void jfr__idmap_free(jfr__idmap *map)
{
    drop_direct(map);
    release(map, map->rising);
    release(map, map->keys);
    release(map, map->values);
}

/* A map that has become a hash table stays one. */
void jfr__idmap_clear(jfr__idmap *map)
{
    drop_direct(map);
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

/* Moves the keys into a hash table of `capacity`, a power of two. */
static int rehash(jfr__idmap *map, size_t capacity)
{
    jfr__idmap next = *map;
    void *ctx = map->alloc->ctx;
    next.capacity = capacity;
    next.keys = map->alloc->alloc(ctx, capacity * sizeof(*next.keys));
    next.values = map->alloc->alloc(ctx, capacity * sizeof(*next.values));
    if (next.keys == NULL || next.values == NULL) {
        release(map, next.keys);
        release(map, next.values);
        return -1;
    }
    memset(next.values, 0, capacity * sizeof(*next.values));
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] != 0)
            insert(&next, map->keys[i], map->values[i]);
    }
    for (uint32_t i = 0; map->capacity == 0 && i < map->count; i++)
        insert(&next, map->rising[i], i + 1);
    release(map, map->rising);
    release(map, map->keys);
    release(map, map->values);
    next.rising = NULL;
    next.rising_cap = 0;
    *map = next;
    return 0;
}

/* The list becomes a table. */
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

uint32_t jfr__idmap_put(jfr__idmap *map, uint64_t key)
{
    bool is_list = map->capacity == 0;
    if (is_list && (map->count == 0 || key > map->max_key))
        return append(map, key);
    uint32_t found = jfr__idmap_search(map, key);
    if (found != JFR_NONE)
        return found;
    bool is_full = (size_t)map->count * 2 >= map->capacity;
    if (is_full && (is_list ? fold(map) : rehash(map, map->capacity * 2)) < 0)
        return JFR_NONE;
    insert(map, key, ++map->count);
    if (key > map->max_key)
        map->max_key = key;
    return map->count - 1;
}

/* A table by id may have so many places for nothing: the JDK's few event types with samples have
 * ids among some thousand. */
enum { SPARE = 4096 };

static bool make_direct(jfr__idmap *map)
{
    if (map->max_key > (uint64_t)map->count * 4 + SPARE)
        return false;
    size_t size = ((size_t)map->max_key + 1) * sizeof(*map->direct);
    map->direct = map->alloc->alloc(map->alloc->ctx, size);
    if (map->direct == NULL)
        return false;
    memset(map->direct, 0, size);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] != 0)
            map->direct[map->keys[i]] = map->values[i];
    }
    for (uint32_t i = 0; map->capacity == 0 && i < map->count; i++)
        map->direct[map->rising[i]] = i + 1;
    return true;
}

void jfr__idmap_finish(jfr__idmap *map)
{
    drop_direct(map);
    if (map->count == 0 || make_direct(map) || map->capacity > 0)
        return;
    (void)fold(map); /* without memory for it the list answers */
}
