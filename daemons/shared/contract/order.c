/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts a batch into an order that depends only on its content. */
#include <contract/batch.h>

#include <stdlib.h>
#include <string.h>

/* ---- strings by their bytes ---- */

typedef struct ranked {
    const char *text;
    size_t length;
    uint32_t index;
} ranked;

static int by_bytes(const void *left, const void *right)
{
    const ranked *a = left;
    const ranked *b = right;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Returns, for each string of the table, how many strings come before it. NULL = no memory. */
static uint32_t *rank_strings(const string_table *table)
{
    ranked *all = calloc(table->count + 1, sizeof(*all));
    uint32_t *rank = calloc(table->count + 1, sizeof(*rank));
    if (all == NULL || rank == NULL) {
        free(all);
        free(rank);
        return NULL;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        all[i].text = string_table_at(table, i, &all[i].length);
        all[i].index = i;
    }
    qsort(all, table->count, sizeof(*all), by_bytes);
    for (uint32_t i = 0; i < table->count; i++)
        rank[all[i].index] = i;
    free(all);
    return rank;
}

/* ---- items by keys of integers, of which the first ones count first ---- */

enum { KEY_PARTS = 6 };

typedef struct sort_key {
    uint64_t parts[KEY_PARTS];
    uint32_t index;
} sort_key;

static int by_parts(const void *left, const void *right)
{
    const sort_key *a = left;
    const sort_key *b = right;
    for (size_t i = 0; i < KEY_PARTS; i++) {
        if (a->parts[i] != b->parts[i])
            return a->parts[i] < b->parts[i] ? -1 : 1;
    }
    return 0;
}

/* Puts `count` items into the order of their keys. */
static int apply(void *items, size_t size, size_t count, sort_key *keys)
{
    char *sorted = malloc(count * size + 1);
    if (sorted == NULL)
        return -1;
    qsort(keys, count, sizeof(*keys), by_parts);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, (const char *)items + keys[i].index * size, size);
    if (count > 0)
        memcpy(items, sorted, count * size);
    free(sorted);
    return 0;
}

static uint64_t big_endian(const uint8_t bytes[8])
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int sort_rows(batch *one, const uint32_t *rank, sort_key *keys)
{
    for (uint32_t i = 0; i < one->row_count; i++) {
        const batch_row *row = &one->rows[i];
        const uint8_t *id = one->stack_ids.keys + (size_t)row->stack * STACK_ID_SIZE;
        keys[i] = (sort_key){{row->window, big_endian(id), big_endian(id + 8), rank[row->pool_str],
                              row->facet, rank[row->object_str]},
                             i};
    }
    return apply(one->rows, sizeof(*one->rows), one->row_count, keys);
}

static int sort_seconds(batch *one, const uint32_t *rank, sort_key *keys)
{
    for (uint32_t i = 0; i < one->second_count; i++) {
        const batch_second *at = &one->seconds[i];
        keys[i] = (sort_key){{at->window, rank[at->pool_str], at->second, at->amount}, i};
    }
    return apply(one->seconds, sizeof(*one->seconds), one->second_count, keys);
}

static int sort_threads(batch *one, const uint32_t *rank, sort_key *keys)
{
    for (uint32_t i = 0; i < one->thread_count; i++) {
        const batch_thread *at = &one->threads[i];
        keys[i] = (sort_key){{at->window, at->os_tid, at->java_tid, rank[at->name_str],
                              rank[at->pool_str], at->sum.raw_count},
                             i};
    }
    return apply(one->threads, sizeof(*one->threads), one->thread_count, keys);
}

static int sort_all(batch *one)
{
    size_t most = one->row_count > one->second_count ? one->row_count : one->second_count;
    most = most > one->thread_count ? most : one->thread_count;
    uint32_t *rank = rank_strings(&one->strings);
    sort_key *keys = malloc((most + 1) * sizeof(*keys));
    int rc = rank != NULL && keys != NULL ? 0 : -1;
    if (rc == 0 && (sort_rows(one, rank, keys) != 0 || sort_seconds(one, rank, keys) != 0 ||
                    sort_threads(one, rank, keys) != 0))
        rc = -1;
    free(keys);
    free(rank);
    return rc;
}

/* ---- tables by their first use ---- */

/* Strings in the order of their first use. map[i]: the new index of string i, plus 1; 0 = not used
 * yet. */
typedef struct renaming {
    const string_table *from;
    string_table to;
    uint32_t *map;
} renaming;

static int rename_string(renaming *in, uint32_t *index)
{
    uint32_t *known = &in->map[*index];
    if (*known == 0) {
        uint32_t fresh = 0;
        if (batch_move_string(&in->to, in->from, *index, &fresh) != 0)
            return -1;
        *known = fresh + 1;
    }
    *index = *known - 1;
    return 0;
}

static int order_targets(batch *one)
{
    batch_target *sorted = calloc(one->target_count + 1, sizeof(*sorted));
    uint32_t *map = calloc(one->target_count + 1, sizeof(*map));
    size_t count = 0;
    if (sorted == NULL || map == NULL) {
        free(sorted);
        free(map);
        return -1;
    }
    for (size_t i = 0; i < one->window_count + one->snapshot_count; i++) {
        uint32_t *target = i < one->window_count ? &one->windows[i].target
                                                 : &one->snapshots[i - one->window_count].target;
        if (map[*target] == 0) {
            sorted[count++] = one->targets[*target];
            map[*target] = (uint32_t)count;
        }
        *target = map[*target] - 1;
    }
    free(map);
    free(one->targets);
    one->targets = sorted;
    one->target_room = one->target_count + 1;
    one->target_count = count;
    return 0;
}

/* Sorts the frames into the order of the stacks, which the contract's dictionary requires. */
static int order_frames(batch *one)
{
    uint32_t *sorted = calloc(one->stack_frame_count + 1, sizeof(*sorted));
    size_t count = 0;
    if (sorted == NULL)
        return -1;
    for (size_t i = 0; i < one->stack_ids.count; i++) {
        profile_stack *stack = &one->stacks[i];
        if (stack->depth > 0)
            memcpy(sorted + count, one->stack_frames + stack->first,
                   stack->depth * sizeof(*sorted));
        stack->first = (uint32_t)count;
        count += stack->depth;
    }
    free(one->stack_frames);
    one->stack_frames = sorted;
    one->stack_frame_room = one->stack_frame_count + 1;
    one->stack_frame_count = count;
    return 0;
}

/* Sets *stack to its index among the stacks in the order of their first use. Returns 0 or -1. */
static int order_stack(const batch *one, key_table *ids, profile_stack *sorted, uint32_t *stack)
{
    uint32_t index = 0;
    bool is_new = false;
    if (key_table_add(ids, one->stack_ids.keys + (size_t)*stack * STACK_ID_SIZE, &index, &is_new) !=
        0)
        return -1;
    if (is_new && one->stacks != NULL)
        sorted[index] = one->stacks[*stack];
    *stack = index;
    return 0;
}

static int order_stacks(batch *one)
{
    key_table ids = {.key_size = STACK_ID_SIZE};
    profile_stack *sorted = calloc(one->stack_ids.count + 1, sizeof(*sorted));
    int rc = sorted != NULL ? 0 : -1;
    for (size_t i = 0; i < one->row_count && rc == 0; i++)
        rc = order_stack(one, &ids, sorted, &one->rows[i].stack);
    for (size_t i = 0; i < one->state_count && rc == 0; i++) {
        uint32_t stack = one->states[i].stack - 1;
        if (one->states[i].stack == 0)
            continue;
        rc = order_stack(one, &ids, sorted, &stack);
        one->states[i].stack = stack + 1;
    }
    if (rc != 0) {
        free(sorted);
        key_table_clear(&ids);
        return -1;
    }
    free(one->stacks);
    one->stacks = sorted;
    one->stack_room = one->stack_ids.count + 1;
    key_table_clear(&one->stack_ids);
    one->stack_ids = ids;
    return order_frames(one);
}

static int rename_strings(batch *one, renaming *in)
{
    uint32_t empty = 0;
    int rc = string_table_add(&in->to, "", 0, &empty);
    for (size_t i = 0; i < one->target_count && rc == 0; i++) {
        for (size_t k = 0; k < TARGET_TEXTS && rc == 0; k++)
            rc = rename_string(in, batch_target_text(&one->targets[i], k));
    }
    for (size_t i = 0; i < one->window_count && rc == 0; i++)
        rc = rename_string(in, &one->windows[i].engine_str);
    for (size_t i = 0; i < one->row_count && rc == 0; i++)
        rc = rename_string(in, &one->rows[i].pool_str) != 0 ||
                     rename_string(in, &one->rows[i].object_str) != 0
                 ? -1
                 : 0;
    for (size_t i = 0; i < one->second_count && rc == 0; i++)
        rc = rename_string(in, &one->seconds[i].pool_str);
    for (size_t i = 0; i < one->thread_count && rc == 0; i++)
        rc = rename_string(in, &one->threads[i].name_str) != 0 ||
                     rename_string(in, &one->threads[i].pool_str) != 0
                 ? -1
                 : 0;
    return rc;
}

static int rename_snapshot_strings(batch *one, renaming *in)
{
    for (size_t i = 0; i < one->state_count; i++) {
        batch_state *state = &one->states[i];
        if (rename_string(in, &state->name_str) != 0 || rename_string(in, &state->pool_str) != 0 ||
            rename_string(in, &state->owner_str) != 0 ||
            rename_string(in, &state->carries_str) != 0)
            return -1;
    }
    for (size_t i = 0; i < one->lock_count; i++) {
        if (rename_string(in, &one->locks[i].class_str) != 0)
            return -1;
    }
    return 0;
}

int batch_order(batch *one)
{
    if (sort_all(one) != 0 || order_targets(one) != 0 || order_stacks(one) != 0)
        return -1;
    renaming in = {.from = &one->strings, .map = calloc(one->strings.count + 1, sizeof(*in.map))};
    int rc = in.map != NULL ? rename_strings(one, &in) : -1;
    if (rc == 0)
        rc = rename_snapshot_strings(one, &in);
    free(in.map);
    string_table_clear(rc == 0 ? &one->strings : &in.to);
    if (rc == 0)
        one->strings = in.to;
    return rc;
}
