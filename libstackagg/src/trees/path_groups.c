/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/path_groups_impl.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST_GROUPS = 2048 };

sagg__path_groups *sagg__path_groups_new(sagg__mem *mem, uint32_t place_count)
{
    sagg__path_groups *groups = sagg__alloc_zero(mem, 1, sizeof(*groups));
    if (groups == NULL)
        return NULL;
    sagg__paths *begins = &groups->begins;
    groups->mem = mem;
    groups->place_count = place_count;
    groups->of_place = sagg__alloc(mem, place_count * sizeof(*groups->of_place));
    groups->sizes = sagg__alloc(mem, MOST_GROUPS * sizeof(*groups->sizes));
    begins->count = MOST_GROUPS;
    begins->places = sagg__alloc(mem, MOST_GROUPS * sizeof(*begins->places));
    begins->shared = sagg__alloc(mem, MOST_GROUPS * sizeof(*begins->shared));
    begins->room = sagg__alloc(mem, MOST_GROUPS * sizeof(*begins->room));
    sagg__index_expect(mem, &groups->index, MOST_GROUPS);
    bool tables = groups->of_place != NULL && groups->sizes != NULL &&
                  groups->index.capacity / 4 * 3 >= MOST_GROUPS;
    if (tables && begins->places != NULL && begins->shared != NULL && begins->room != NULL)
        return groups;
    sagg__path_groups_free(groups);
    return NULL;
}

void sagg__path_groups_free(sagg__path_groups *groups)
{
    if (groups == NULL)
        return;
    sagg__mem *mem = groups->mem;
    groups->begins.count = MOST_GROUPS;
    sagg__paths_free(&groups->begins, mem);
    sagg__release(mem, groups->of_place, groups->place_count * sizeof(*groups->of_place));
    sagg__release(mem, groups->sizes, MOST_GROUPS * sizeof(*groups->sizes));
    sagg__index_free(mem, &groups->index);
    sagg__release(mem, groups, sizeof(*groups));
}

/* ---- finding ---- */

/* The beginning of a path: the numbers of its frames after those that all paths share. They are in
 * memory from the last one to the first. */
struct wanted_begin {
    const sagg__path_groups *groups;
    sagg__path_place place; /* cut to the frames of the beginning */
    size_t bytes;
};

static const uint16_t *frames_of(const sagg__path_place *place)
{
    return place->end - ((size_t)place->count << place->wide);
}

static bool is_begin(const void *context, uint32_t value)
{
    const struct wanted_begin *wanted = context;
    const sagg__path_place *place = &wanted->groups->begins.places[value];
    return place->count == wanted->place.count && place->wide == wanted->place.wide &&
           memcmp(frames_of(place), frames_of(&wanted->place), wanted->bytes) == 0;
}

/* Reads the first frames of a path after `skip` ones. */
static void read_begin(struct wanted_begin *wanted, const sagg__path_place *place, uint32_t skip)
{
    const uint32_t most = skip + SAGG__GROUP_FRAMES;
    wanted->place = *place;
    wanted->place.count = (place->count < most ? place->count : most) & INT32_MAX;
    wanted->bytes = (wanted->place.count - skip) * sizeof(uint16_t) << place->wide;
}

/* Returns the group of a beginning, which is added when it is new; MOST_GROUPS when there would be
 * too many. */
static uint32_t group_of(sagg__path_groups *groups, const struct wanted_begin *wanted)
{
    uint64_t hash =
        XXH3_64bits_withSeed(frames_of(&wanted->place), wanted->bytes, groups->index.seed);
    uint32_t group;
    if (sagg__index_find(&groups->index, hash, is_begin, wanted, &group))
        return group;
    if (groups->begins.count == MOST_GROUPS)
        return MOST_GROUPS;
    group = groups->begins.count++;
    groups->sizes[group] = 0;
    groups->begins.places[group] = wanted->place;
    groups->begins.places[group].item = group;
    sagg__index_put(&groups->index, hash, group);
    return group;
}

bool sagg__path_groups_find(sagg__path_groups *groups, const sagg__paths *paths, uint32_t from,
                            uint32_t end, uint32_t shared)
{
    const uint32_t threads = paths->has_threads ? 1 : 0;
    sagg__paths *begins = &groups->begins;
    if (shared < threads)
        return false;
    begins->count = 0;
    begins->has_threads = paths->has_threads;
    begins->rank_of = paths->rank_of;
    begins->rank_bits = paths->rank_bits;
    sagg__index_clear(&groups->index);
    struct wanted_begin wanted = {.groups = groups};
    for (uint32_t i = from; i < end; i++) {
        sagg__path_prefetch(paths, i + SAGG__PATHS_AHEAD, shared, SAGG__GROUP_FRAMES);
        sagg__path_place *place = &paths->places[i];
        read_begin(&wanted, place, shared - threads);
        uint32_t group = group_of(groups, &wanted);
        if (group == MOST_GROUPS)
            return false;
        groups->of_place[i - from] = group;
        groups->sizes[group]++;
        sagg__path_make_keys(paths, place, shared + SAGG__GROUP_FRAMES);
    }
    return true;
}

/* ---- placing ---- */

void sagg__path_groups_place(sagg__path_groups *groups, sagg__paths *paths, uint32_t from,
                             uint32_t end)
{
    sagg__path_place *places = &paths->places[from];
    uint32_t *next = groups->sizes; /* reused: the place of a group's next path */
    uint32_t at = 0;
    for (uint32_t i = 0; i < groups->begins.count; i++) {
        uint32_t group = groups->begins.places[i].item;
        uint32_t size = groups->sizes[group];
        next[group] = at;
        at += size;
    }
    for (uint32_t i = 0; i < end - from; i++)
        paths->room[next[groups->of_place[i]]++] = places[i];
    memcpy(places, paths->room, (size_t)(end - from) * sizeof(*places));
}
