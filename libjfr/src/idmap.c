#include "idmap.h"

#include "random.h"

#include <jfr/sample.h>
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

void jfr__idmap_free(jfr__idmap *map)
{
    drop_direct(map);
    if (map->keys != NULL)
        map->alloc->free(map->alloc->ctx, map->keys);
    if (map->values != NULL)
        map->alloc->free(map->alloc->ctx, map->values);
    jfr__idmap_init(map, map->alloc);
}

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

static int enlarge(jfr__idmap *map)
{
    jfr__idmap next = *map;
    next.capacity = map->capacity ? map->capacity * 2 : 64;
    next.direct = NULL;
    void *ctx = map->alloc->ctx;
    next.keys = map->alloc->alloc(ctx, next.capacity * sizeof(*next.keys));
    next.values = map->alloc->alloc(ctx, next.capacity * sizeof(*next.values));
    if (next.keys == NULL || next.values == NULL) {
        jfr__idmap_free(&next);
        return -1;
    }
    memset(next.values, 0, next.capacity * sizeof(*next.values));
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] != 0)
            insert(&next, map->keys[i], map->values[i]);
    }
    jfr__idmap_free(map);
    *map = next;
    return 0;
}

uint32_t jfr__idmap_put(jfr__idmap *map, uint64_t key)
{
    uint32_t found = jfr__idmap_find_hashed(map, key);
    if (found != JFR_NONE)
        return found;
    if ((size_t)map->count * 2 >= map->capacity && enlarge(map) < 0)
        return JFR_NONE;
    insert(map, key, ++map->count);
    if (key > map->max_key)
        map->max_key = key;
    return map->count - 1;
}

uint32_t jfr__idmap_find_hashed(const jfr__idmap *map, uint64_t key)
{
    if (map->capacity == 0)
        return JFR_NONE;
    size_t slot = slot_of(map, key);
    while (map->values[slot] != 0) {
        if (map->keys[slot] == key)
            return map->values[slot] - 1;
        slot = (slot + 1) & (map->capacity - 1);
    }
    return JFR_NONE;
}

void jfr__idmap_finish(jfr__idmap *map)
{
    drop_direct(map);
    if (map->count == 0 || map->max_key > (uint64_t)map->count * 4 + 1024)
        return;
    size_t size = ((size_t)map->max_key + 1) * sizeof(*map->direct);
    map->direct = map->alloc->alloc(map->alloc->ctx, size);
    if (map->direct == NULL)
        return; /* the hash table answers too */
    memset(map->direct, 0, size);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->values[i] != 0)
            map->direct[map->keys[i]] = map->values[i];
    }
}
